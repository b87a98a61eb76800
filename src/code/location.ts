/** A place in the code, as somebody wrote it down. */
export interface Location {
  readonly path: string
  readonly line?: number
  readonly symbol?: string
}

/** `src/a.ts`, `src/a.ts:12`, `src/a.ts:12-20`, `src/a.ts#Model.open` or `src/a.ts:12#Model.open`. */
export function locationOf(text: string): Location {
  const tidy = text.replace(/^\.\//, '')
  const [, lined, line] = /^(.*?):(\d{1,9})(?:[-:]\d{1,9}){0,3}$/.exec(tidy) ?? []
  if (lined !== undefined) return { path: lined, line: Number(line) }
  const hash = tidy.indexOf('#', tidy.lastIndexOf('/') + 1)
  return hash > 0 && hash < tidy.length - 1
    ? { ...locationOf(tidy.slice(0, hash)), symbol: tidy.slice(hash + 1) }
    : { path: tidy }
}
