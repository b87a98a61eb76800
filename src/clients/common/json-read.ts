import { UserError } from '../../errors.ts'

export const BOM = '\uFEFF'
export const bare = (text: string) => (text.startsWith(BOM) ? text.slice(1) : text)
export const blank = (text: string) => bare(text).trim() === ''

/** The text with spaces for comments and for commas before a closing bracket: as long, and JSON if it was JSON with those. */
export function withoutComments(text: string): string {
  const out = text.split('')
  const clear = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (out[i] !== '\r' && out[i] !== '\n') out[i] = ' '
  }
  /** A comma behind which nothing has come. */
  let comma: number | undefined
  for (let at = 0; at < text.length; at++) {
    const c = text[at]!
    if (text.startsWith('//', at)) {
      const from = at
      while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++
      clear(from, at--)
    } else if (text.startsWith('/*', at)) {
      const end = text.indexOf('*/', at + 2)
      if (end < 0) break
      clear(at, end + 2)
      at = end + 1
    } else if (c.trim() !== '') {
      if ((c === ']' || c === '}') && comma !== undefined) out[comma] = ' '
      comma = c === ',' ? at : undefined
      if (c === '"') for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++
    }
  }
  return out.join('')
}

const hollow = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every(hollow)

/** Whether a text holds no settings: nothing at all, or only empty objects and lists. */
export const isEmptyJson = (text: string): boolean =>
  blank(text) || (withoutComments(text) === text && hollow(JSON.parse(bare(text))))

/**
 * The root object of a settings file; `comments` says that its client reads JSON with comments and trailing commas.
 * @throws UserError `bad-json` when it is none.
 */
export function readJson(text: string, file: string, comments = false): Record<string, unknown> {
  const plain = comments ? withoutComments(text) : text
  if (blank(plain)) return {}
  let value: unknown
  try {
    value = JSON.parse(bare(plain))
  } catch (error) {
    throw new UserError(
      'bad-json',
      `${file} is not valid JSON: ${(error as Error).message}`,
      `mend it${comments ? '' : ' (comments and trailing commas are not JSON)'} and run this again; nothing was changed`,
      { file },
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UserError('bad-json', `${file} holds no JSON object`, 'its outermost value must be {…}', { file })
  return value as Record<string, unknown>
}

/** The value at a path of keys, or undefined. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    if (Array.isArray(value) !== (typeof key === 'number')) return undefined
    value = (value as Record<string | number, unknown>)[key]
  }
  return value
}
