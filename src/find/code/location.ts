import { languageOf } from './languages.ts'

/** `src/a.ts`, `src/a.ts:12`, `src/a.ts:12-20`, `src/a.ts#Model.open` or `src/a.ts:12#Model.open`. */
export function locationOf(text: string): Readonly<{ path: string; line?: number; symbol?: string }> {
  const tidy = text.replace(/^\.\//, '')
  const [, lined, line] = /^(.*?):(\d{1,9})(?:[-:]\d{1,9}){0,3}$/.exec(tidy) ?? []
  if (lined !== undefined) return { path: lined, line: Number(line) }
  const hash = tidy.indexOf('#', tidy.lastIndexOf('/') + 1)
  return hash > 0 && hash < tidy.length - 1
    ? { ...locationOf(tidy.slice(0, hash)), symbol: tidy.slice(hash + 1) }
    : { path: tidy }
}

/** A path of the project, perhaps with a line or a symbol; no site, and no framework. */
const PLACE =
  /^(?!.{0,80}(?:^|\/)\.\.?\/|[\w-]{1,80}\.(?:com|org|net|io|dev)\/|(?:node|next|vue|nuxt|react|express|three|d3)\.js$)((?:[\w@.+-]{1,80}\/){0,12}[\w@.+-]{1,80})(?::\d{1,7}(?:-\d{1,7})?|#[\w.$]{1,80})?$/i
const FILE =
  /.\.(?:md|jsonc?|ya?ml|toml|sql|s?css|html|sh|env|lock)$|^(?:Make|Docker)file$|\/[^/]{0,80}\.[a-z]\w{0,5}$|^(?:src|lib|apps?|tests?|packages|docs|scripts|web)\//

/** What looks like a file of a project, where nobody can see whether it is one. */
export const looksLikeFile = (path: string): boolean => languageOf(path) !== undefined || FILE.test(path)

const MOST_WORDS = 300
const LOOKED_AT = 400
/** A function that is called, or a name as code has them: `login()`, `SESSION_TTL in`, `lume._version in`. */
const SYMBOL =
  /(?<![\w.$])(?:([A-Za-z_$][\w.$]{0,80})\(\)|([A-Za-z_$][\w$]{0,60}(?:\.[\w$]{1,60}){1,3}|[A-Za-z_$][\w$]{0,80}[A-Z_][\w$]{0,80})(?= (?:in|of|from|at|lives)\b))/

/** Where in the code a text is about: the paths that it names, the only one with the symbol that it names. */
export function placesIn(said: string, isFile: (path: string) => boolean = looksLikeFile): string[] {
  const isPlace = (word: string) => {
    const path = PLACE.exec(word)?.[1]
    return path !== undefined && isFile(path)
  }
  const words = said.split(/[\s"'`()[\],;|]/).slice(0, MOST_WORDS)
  const found = [...new Set(words.map((word) => word.replace(/[.:!?]$/, '').replace(/^\.\//, '')).filter(isPlace))]
  const [, called, named] = SYMBOL.exec(said.slice(0, LOOKED_AT)) ?? []
  const symbol = called ?? named
  return found.length === 1 && symbol && !found[0]!.includes('#') ? [`${found[0]}#${symbol}`] : found.slice(0, 5)
}
