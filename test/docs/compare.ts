/** What differs from run to run and matters to nobody: times, ids, durations, sizes. Paths are the world's to name. */
const SAME: readonly (readonly [RegExp, string])[] = [
  [/\blog\/[0-9a-z]{1,7}\/(\d+-\d+)-[0-9a-f]{16}\b/g, 'log/<replica>/$1-<id>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<id>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?: ?Z| UTC)?/g, '<time>'],
  [/\b\d\d:\d\d(?::\d\d)?(?: (?:UTC|[A-Z]{3,4}))?\b/g, '<time>'],
  [
    /\b(?:just now|now|yesterday|\d+ ?(?:s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|weeks?|months?) ago)\b/g,
    '<time>',
  ],
  [/\b\d+ min\b/g, '<time>'],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|MB|kB)\b/g, '<size>'],
  [/\b[0-9a-z]{5,16}:\d+\b/g, '<batch>'],
  [/-[0-9a-f]{8}(?:[0-9a-f]{4})?\b/g, '-<id>'],
  [/(?<=--all )[0-9a-f]{12}\b/g, '<id>'],
  [/(?<=:)0[0-9a-z]{16}\b/g, '<id>'],
  [/\b[0-9a-f]{8}(?:[0-9a-f]{12})?\b/g, '<id>'],
  [/\btmh_[\w-]{43}/g, 'tmh_<token>'],
  [/#open=[\w-]{43}/g, '#open=<key>'],
  [/#[0-9a-z]{3,8}\b/g, '#<id>'],
]

export const bare = (line: string): string =>
  SAME.reduce((text, [what, as]) => text.replaceAll(what, as), line)
    .replaceAll(/\s+/g, ' ')
    .trim()

const said = (lines: readonly string[]): string[] => lines.map(bare).filter((line) => line !== '')

/** Whether the lines are what the page prints; where the page says `…`, any lines may stand. */
export function matches(expected: readonly string[], actual: readonly string[], within = false): boolean {
  const parts = said(expected)
    .join('\n')
    .split(/^…$/m)
    .map((part) => part.split('\n').filter((line) => line !== ''))
  let rest = said(actual)
  for (const [i, part] of parts.entries()) {
    const anchored = i === 0 && !within
    const last = i === parts.length - 1 && !within
    const from = anchored ? 0 : last ? rest.length - part.length : 0
    const to = anchored ? 0 : rest.length - part.length
    let found = -1
    for (let at = Math.max(from, 0); at <= to && found < 0; at++)
      if (part.every((line, j) => (within ? rest[at + j]!.includes(line) : rest[at + j] === line))) found = at
    if (found < 0) return false
    rest = rest.slice(found + part.length)
    if (anchored && last && rest.length > 0) return false
  }
  return true
}
