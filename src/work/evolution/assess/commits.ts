import { DAY_MS } from '../../../model/times.ts'
import { type Dimension, percent } from './repository.ts'

const VAGUE =
  /^(?:wip|fix(?:e[sd])?|updated?|updates|changed?|changes|misc|stuff|tests?|minor|clean ?up|tmp|temp|commit|save|edits?|more|init|initial commit)\b[\s.:!-]*\S*$/i
const NUMBER = / ?\((?:#|!)\d+\)$/

/** Whether a subject says what was changed. */
const isClear = (subject: string): boolean => {
  const said = subject.replace(NUMBER, '').trim()
  return said.length >= 10 && said.includes(' ') && !VAGUE.test(said)
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0

export const commits: Dimension = {
  name: 'commits',
  look({ commits, history }) {
    const all = commits.length
    const sized = commits.filter((c) => c.lines > 0)
    const size = median(sized.map((c) => c.lines))
    const part = (some: number) => (all === 0 ? 0 : some / all)
    const huge = part(sized.filter((c) => c.lines > 2_000).length)
    const clear = part(commits.filter((c) => isClear(c.subject)).length)
    const reverts = part(commits.filter((c) => /^Revert\b/i.test(c.subject)).length)
    const days = all === 0 ? 0 : (commits[0]!.at - commits.at(-1)!.at) / DAY_MS
    const tags = history?.tags ?? 0
    return {
      evidence:
        all === 0
          ? 'no history that git could tell'
          : `the last ${all}: ${sized.length === 0 ? 'of unknown size' : `median ${size} lines`}, ${percent(clear)} with a clear subject, ${percent(reverts)} reverts; ${tags} tags`,
      findings: [
        ['alpha', '', all >= 10, 'commit each step: 10 and more'],
        ['beta', '', sized.length >= 10 && size <= 300 && huge <= 0.1, 'commit less at once: 300 lines and fewer'],
        ['beta', '', clear >= 0.7, 'say in each subject what was changed'],
        ['beta', '', all >= 10 && reverts <= 0.05, 'find out why changes are reverted (5 % at most)'],
        ['ga', '', days >= 90 || all >= 400, 'let it prove itself for 90 days'],
        ['ga', '', tags >= 3, 'tag releases'],
      ],
    }
  },
}
