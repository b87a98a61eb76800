/** evolution: how a project works and improves: an honest level from its repository, and the rules of a level. */

import { ci } from './assess/ci.ts'
import { commits } from './assess/commits.ts'
import { coverage } from './assess/coverage.ts'
import { docs } from './assess/docs.ts'
import { type Dimension, type Finding, readRepository } from './assess/repository.ts'
import { review } from './assess/review.ts'
import { specs } from './assess/specs.ts'
import { tests } from './assess/tests.ts'
import { LEVELS, type Level } from './rules.ts'

const DIMENSIONS: readonly Dimension[] = [specs, tests, coverage, ci, review, commits, docs]
/** Of what a level asks for beside what it must have, so much has to be there. */
const MOST = 2 / 3

export interface Assessment {
  readonly level: Level
  readonly dimensions: readonly {
    readonly name: string
    /** 0 to 100: the share of what all levels ask for. */
    readonly score: number
    readonly evidence: string
  }[]
  /** The next level and what is missing for it, the musts first; nothing at ga. */
  readonly gap?: Gap
}

interface Gap {
  readonly level: Level
  readonly met: number
  readonly of: number
  readonly steps: readonly { readonly dimension: string; readonly must: boolean; readonly step: string }[]
}

/** What the repository shows; what cannot be read is not shown. */
export async function assess(root: string): Promise<Assessment> {
  const repository = await readRepository(root)
  const looked = DIMENSIONS.map((d) => ({ name: d.name, ...d.look(repository) }))
  const asked = (level: Level) =>
    looked.flatMap((d) => d.findings.filter(([of]) => of === level).map((f) => [d.name, ...f] as const))
  const missing = LEVELS.findIndex((level) => !isReached(asked(level).map(([, ...f]) => f)))
  const next = LEVELS[missing]
  return {
    level: LEVELS.at(missing < 0 ? -1 : missing - 1)!,
    dimensions: looked.map(({ name, evidence, findings }) => ({
      name,
      score: Math.round((100 * findings.filter(([, , isMet]) => isMet).length) / findings.length),
      evidence,
    })),
    ...(next === undefined ? {} : { gap: gapOf(next, asked(next)) }),
  }
}

function isReached(findings: readonly Finding[]): boolean {
  const rest = findings.filter(([, must]) => must === '')
  const isThere = findings.every(([, must, isMet]) => must === '' || isMet)
  return isThere && rest.filter(([, , isMet]) => isMet).length >= rest.length * MOST
}

function gapOf(level: Level, findings: readonly (readonly [dimension: string, ...Finding])[]): Gap {
  const missing = findings.filter(([, , , isMet]) => !isMet)
  const steps = missing.map(([dimension, , must, , step]) => ({ dimension, must: must !== '', step }))
  return {
    level,
    met: findings.length - missing.length,
    of: findings.length,
    steps: [...steps.filter((s) => s.must), ...steps.filter((s) => !s.must)],
  }
}
