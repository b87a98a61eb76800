import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openProject } from '../src/project/open.ts'
import { ENOUGH, Likeness, patternsIn, seen } from '../src/work/evolution/pattern.ts'
import { tempProject } from './project.ts'
import { type Bench, timed } from './table.ts'

/** The third is by a second author, who had not read the rule; nothing is ever tuned on it. */
export const SETS = ['tuned', 'held', 'second'] as const

/** Lines `label | operation | what happened | cost`; those with the same letter within a project tell of one trouble. */
const projectsOf = (set: (typeof SETS)[number]): string[][][] =>
  readFileSync(join(import.meta.dirname, 'observations', `${set}.txt`), 'utf8')
    .split(/^# .*\n/m)
    .slice(1)
    .map((project) =>
      project
        .trim()
        .split('\n')
        .map((line) => line.split(' | ')),
    )

/** Records the observations of each project, and compares the patterns in them with the labels. */
export function judge(set: (typeof SETS)[number]) {
  const sum = { observations: 0, found: 0, right: 0, labels: 0, met: 0, ms: 0, projects: 0 }
  const wrong: string[] = []
  const missed: string[] = []
  for (const lines of projectsOf(set)) {
    const memory = openProject(tempProject())
    const labelOf = new Map<string, string>()
    for (const [label, operation, what, cost] of lines) {
      const { results } = memory.act([['record-observation', { operation, what, cost }]])
      labelOf.set(results[0]!.id, `${label}`)
    }
    const all = memory.reader.list('observation').map(seen)
    let groups: ReturnType<typeof patternsIn> = []
    sum.ms += timed(() => void (groups = patternsIn(all, new Likeness(all))))
    const of = Map.groupBy(
      lines.filter(([label]) => label !== '-'),
      ([label]) => label!,
    )
    // what was told only twice is not to be proposed
    const labels = [...of.keys()].filter((label) => of.get(label)!.length >= ENOUGH)
    const met = new Set<string>()
    for (const group of groups) {
      const [label, ...others] = new Set(group.map((s) => labelOf.get(s.entity.id)!))
      const isRight = others.length === 0 && label !== '-'
      if (isRight) met.add(label!)
      else wrong.push(group.map((s) => s.what).join(' / '))
      sum.right += Number(isRight)
    }
    sum.observations += lines.length
    sum.found += groups.length
    sum.labels += labels.length
    sum.met += met.size
    sum.projects++
    missed.push(
      ...labels
        .filter((l) => !met.has(l))
        .map((l) =>
          of
            .get(l)!
            .map(([, , what]) => what)
            .join(' / '),
        ),
    )
    memory.close()
  }
  return { ...sum, wrong, missed, precision: sum.right / sum.found, recall: sum.met / sum.labels }
}

export const bench: Bench = {
  name: 'observations',
  about: 'how many recurring troubles are proposed, and how many of the proposals are one trouble and nothing else',
  run: async () => [
    {
      title:
        'labelled observations of fourteen projects; one author wrote tuned and held, before the rule, and another second',
      columns: ['observations', 'troubles', 'proposed', 'precision', 'recall', 'ms a project'],
      rows: SETS.map((set) => {
        const { observations, labels, found, precision, recall, ms, projects } = judge(set)
        return {
          what: set === 'second' ? 'second author, never tuned on' : set,
          cells: [
            observations,
            labels,
            found,
            found ? precision.toFixed(2) : 'none',
            recall.toFixed(2),
            (ms / projects).toFixed(1),
          ],
          bound: 'precision ≥ 0.9, recall ≥ 0.8',
          ok: precision >= 0.9 && recall >= 0.8,
        }
      }),
    },
  ],
}
