import { attempt, UsageError, UserError } from '../../base/errors.ts'
import { inspect, readInside } from '../../base/files.ts'
import { keepSetting, type Project } from '../../engine/store/project.ts'
import type { Json } from '../../model/field.ts'
import { type Assessment, assess } from '../../work/evolution/maturity.ts'
import { type Declared, declaredOf, LEVELS, type Level, RULES_DIR, rank } from '../../work/evolution/rules.ts'
import { oneLine } from './format.ts'
import { needsPerson } from './person.ts'
import { actingAs, defineTool, type Output, type ToolContext } from './tool.ts'

const OVERRIDE = 'tidemark maturity override'
const MIN_REASON = 10
const DECIDES = 'a person on a terminal decides on the level'

/** The first line: what is declared beside what is assessed. */
function head({ level, because, problem }: Declared, assessed: Level): string {
  if (problem !== undefined) return `assessed ${assessed}; ${problem}`
  if (level === undefined) return `assessed ${assessed}; no level is set: \`tidemark maturity adopt\` sets it`
  if (level === assessed) return `declared ${level}, assessed ${assessed}`
  const next = LEVELS[rank(level) + 1]
  const why = because === undefined ? '' : ` (override: ${oneLine(because, 80)})`
  return `declared ${level}, assessed ${assessed}${why}${rank(assessed) > rank(level) ? `; \`tidemark maturity promote\` goes up to ${next}` : ''}`
}

/** Where the repository shows more than the declared level: how a person takes it up. Nothing is promoted by itself (P6). */
export async function promotionDue({ root, maturity }: Project): Promise<string | undefined> {
  const { level } = declaredOf(maturity)
  if (level === undefined) return undefined
  const assessed = (await assess(root)).level
  return rank(assessed) > rank(level)
    ? `the repository shows ${assessed}, declared is ${level}: tidemark maturity promote`
    : undefined
}

const scores = ({ dimensions }: Assessment): string[] =>
  dimensions.map(({ name, score, evidence }) => `  ${name.padEnd(8)} ${String(score).padStart(3)}  ${evidence}`)

/** What a level still needs, with what to do. */
const steps = ({ gap }: Assessment): string[] =>
  gap === undefined
    ? []
    : [
        `to ${gap.level} (${gap.met} of ${gap.of} there; a must is needed, and two thirds of the rest):`,
        ...gap.steps.map(({ dimension, must, step }) => `  ${must ? 'must' : '    '} ${dimension.padEnd(8)}  ${step}`),
      ]

/** Sets the level of a project to the assessed one, as `init --adopt` does; it raises none, and an agent changes none. */
export async function adoptLevel(project: Project, now: number, by: ToolContext['by']): Promise<Output> {
  const { level: declared } = declaredOf(project.maturity)
  const assessment = await assess(project.root)
  const { level } = assessment
  const stays = declared !== undefined && rank(level) >= rank(declared)
  if (!stays && declared !== undefined && by === 'agent') throw needsPerson(DECIDES, 'maturity adopt')
  if (!stays) keep(project, now, { level, assessed: level })
  // the level that the configuration of ADD claims
  const claimed = attempt(() => {
    const { maturity } = JSON.parse(`${readInside(project.root, '.add/config.json') ?? '{}'}`) as { maturity?: unknown }
    return declaredOf(maturity).level
  })
  const lines = [
    stays ? head({ level: declared }, level) : `the level is now ${level}: ${said(assessment)}`,
    ...(claimed === undefined || claimed === level
      ? []
      : [`.add/config.json says ${claimed}; what it says is not looked at`]),
    ...steps(assessment),
    ...(inspect(project.root, RULES_DIR).is === 'directory'
      ? []
      : ['no rules load yet: `tidemark rules init` writes some for each level']),
  ]
  return { text: lines.join('\n'), json: { level: stays ? declared : level, assessment } as unknown as Json }
}

/** The two sides that show most, in few words. */
const said = ({ dimensions }: Assessment): string =>
  dimensions.flatMap((d) => (['specs', 'tests', 'ci'].includes(d.name) ? d.evidence.split('; ')[0]! : [])).join('; ')

function keep(project: Project, now: number, value: { level: Level; assessed: Level; because?: string }): void {
  keepSetting(project.root, 'maturity', { ...value, since: new Date(now).toISOString().slice(0, 10) })
}

/** A person's yes on a terminal, to a level that the rules of the project follow from now on. */
async function raise(
  context: ToolContext,
  to: { level: Level; because?: string },
  assessment: Assessment,
  command: string,
) {
  const { memory, project, ask, by } = context
  if (ask === undefined || by === 'agent') throw needsPerson(DECIDES, command)
  const { level, because } = to
  const from = declaredOf(project.maturity).level ?? 'poc'
  const question = [
    ...scores(assessment),
    `The repository shows ${assessment.level}. ${because === undefined ? `Promote the project from ${from} to ${level}?` : `Declare ${level} all the same, because: ${because}?`}`,
  ].join('\n')
  if (!(await ask(question))) return { text: 'nothing was changed', json: { level: from } }
  const value = { level, assessed: assessment.level, ...(because === undefined ? {} : { because }) }
  keep(project, memory.env.now(), value)
  const rationale = because ?? `the repository shows it: ${said(assessment)}`
  memory.act([['record-decision', { name: `maturity level ${level}`, rationale }]], {
    ...actingAs(context),
    by: 'person',
  })
  return { text: head(to, assessment.level), json: value }
}

async function promote(context: ToolContext): Promise<Output> {
  const from = declaredOf(context.project.maturity).level ?? 'poc'
  const level = LEVELS[rank(from) + 1]
  if (level === undefined) throw new UserError('no-higher-level', `${from} is the highest level`, 'nothing was changed')
  const assessment = await assess(context.project.root)
  if (rank(assessment.level) >= rank(level)) return raise(context, { level }, assessment, 'maturity promote')
  throw new UserError(
    'no-evidence',
    [`the repository shows ${assessment.level}, not ${level}`, ...steps(assessment)].join('\n'),
    `do these first; or a person declares it with a reason: \`${OVERRIDE} ${level} --because "…"\``,
    { assessment: assessment as unknown as Json },
  )
}

export const maturity = defineTool({
  name: 'maturity',
  title: 'Maturity',
  about:
    'assesses how the project is worked on by what its repository shows (specs, tests, coverage, CI, review, commits, docs), never by what it claims; with what the next level needs. adopt sets the level, promote asks a person, override declares another one with a reason',
  example: 'tidemark maturity',
  params: {
    step: { type: 'text', about: 'what to do (assess)', place: 0, choices: ['assess', 'adopt', 'promote', 'override'] },
    level: { type: 'text', about: 'the level to declare, for override', place: 1, choices: LEVELS },
    because: { type: 'text', about: 'why another level than the assessed one is declared; it is recorded' },
  },
  local: true,
  async run(context, { step = 'assess', level, because }): Promise<Output> {
    const { memory, project, by } = context
    if ((level !== undefined || because !== undefined) && step !== 'override')
      throw new UsageError(`${step} takes no level and no reason`, `\`${OVERRIDE} LEVEL --because "…"\` declares one`)
    if (step === 'adopt') return adoptLevel(project, memory.env.now(), by)
    if (step === 'promote') return promote(context)
    const assessment = await assess(project.root)
    if (step === 'override') {
      if (level === undefined || (because ?? '').trim().length < MIN_REASON)
        throw new UsageError('an override needs a level and a reason', `\`${OVERRIDE} beta --because "…"\``)
      return raise(
        context,
        { level, because: oneLine(because!, 400) },
        assessment,
        `maturity override ${level} --because "…"`,
      )
    }
    const declared = declaredOf(project.maturity)
    return {
      text: [head(declared, assessment.level), '', ...scores(assessment), '', ...steps(assessment)]
        .join('\n')
        .trimEnd(),
      json: { ...assessment, declared: { ...declared } } as unknown as Json,
    }
  },
})
