import { markOf } from '../../engine/read/stale.ts'
import { momentSaid } from '../../find/recall/moment.ts'
import { stalenessOf } from '../../find/recall/told.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { shellWord } from '../../model/shell.ts'
import { findOverlaps, overlapSummary } from '../../project/ownership/overlaps.ts'
import { shown } from '../../scheme/invisible.ts'
import { many } from '../../session/briefing/format.ts'
import { type Amounts, amountsText } from '../../work/evolution/amounts.ts'
import { type Archived, archiveOld, dueForArchive } from '../../work/evolution/archive.ts'
import { measure, outcomeText } from '../../work/evolution/outcome.ts'
import { ENOUGH } from '../../work/evolution/pattern.ts'
import { costOf, learningsDue, type Period, periodSince } from '../../work/evolution/period.ts'
import { dayOf, keepReport, periodStart } from '../../work/evolution/report.ts'
import { aloneIn, named, sameAs } from '../../work/evolution/same-trouble.ts'
import { observationsOf, synthesize } from '../../work/evolution/synthesis.ts'
import { numberOf, proposalText, statusOf, waitingIn as waitingChanges } from '../../work/handoff/views/mutations.ts'
import { countedKinds, entityJson, oneLine, undoLine } from './format.ts'
import { promotionDue } from './maturity.ts'
import { defineTool, type Output } from './tool.ts'

/** Of a list so many are shown. */
const MOST = 8

/** A part of the report; an empty one is left out. A line that begins with two blanks belongs to the one before. */
type Section = { readonly title: string; readonly lines: readonly string[] }

const NOTHING: Section = {
  title: 'The period',
  lines: [
    'nothing happened: no session, no knowledge, no observation',
    'tidemark observe deploy "skipped the smoke test" --cost "2 h" notes how an operation went',
  ],
}

/** The first of a list, and how many more there are. */
const first = <T>(all: readonly T[], line: (one: T) => string, see: string): string[] => [
  ...all.slice(0, MOST).map(line),
  ...(all.length > MOST ? [`and ${all.length - MOST} more: ${see}`] : []),
]

const amounts = (cost: Amounts, saved: Amounts): string[] => [
  ...[amountsText(cost)].filter(Boolean).map((c) => `cost ${c}`),
  ...[amountsText(saved)].filter(Boolean).map((s) => `saved ${s}`),
]

/** What happened, in at most one line for each sort; what did not happen is not told. */
function numbers(p: Period): string[] {
  const observations = p.operations.reduce((n, o) => n + o.observations, 0)
  return [
    p.sessions > 0 &&
      `${many(p.sessions, 'session')}${p.agents > 0 ? `, ${many(p.agents, 'subagent')} among them` : ''}`,
    p.recorded.length > 0 && `recorded: ${countedKinds(p.recorded)}`,
    p.confirmed > 0 && `${many(p.confirmed, 'rule')} confirmed`,
    p.claims > 0 && `${many(p.claims, 'claim')}${p.lapsed > 0 ? `, ${p.lapsed} ran out` : ''}`,
    p.conflicts > 0 && `${many(p.conflicts, 'entity', 'entities')} in conflict: tidemark conflicts`,
    observations > 0 && `${many(observations, 'observation')} of ${many(p.operations.length, 'operation')}`,
    ...p.operations.map((o) => `  ${[`${o.operation}: ${o.observations}`, ...amounts(o.cost, o.saved)].join(', ')}`),
  ].filter((line) => line !== false)
}

/** What recurred, and what became of it. */
function recurrences({ recurred, operations }: Period, mutations: readonly Entity[]): string[] {
  if (recurred.length === 0) return operations.length > 0 ? ['nothing, three times or more'] : []
  const line = (group: Period['recurred'][number]): string => {
    const what = group.map((s) => s.what).toSorted((a, b) => a.length - b.length)[0]!
    const ids = new Set(group.map((s) => s.entity.id))
    const about = mutations.find(
      (m) => Array.isArray(m.fields.evidence) && m.fields.evidence.some((id) => ids.has(String(id))),
    )
    const [cost] = amounts(costOf(group), { minutes: 0, tokens: 0, money: {} })
    const said = [
      `${group[0]!.operation}: "${oneLine(what, 100)}" ${group.length} times`,
      cost,
      about && `${numberOf(about)} (${statusOf(about)})`,
    ]
    return said.filter(Boolean).join(', ')
  }
  return first(recurred, line, 'tidemark retro --json')
}

function archiveLines({ observations, batches, pages }: Archived): string[] {
  if (observations.length === 0) return []
  const one = observations.length === 1
  const what = `${many(observations.length, 'observation')} older than 30 days led to nothing`
  if (batches.length === 0) return [`${what}, and would be archived`]
  return [
    `${what}, and ${one ? 'is' : 'are'} archived: ${pages.join(', ')}`,
    undoLine(batches[0]!, `brings ${one ? 'it' : 'them'} back${batches.length > 1 ? ', the first 50' : ''}`),
    ...first(batches.slice(1), (batch) => undoLine(batch, 'brings back the next 50'), 'tidemark retro --json'),
  ]
}

const flat = (line: string): string => shown(line).replaceAll(/[\r\n]+/g, ' ')

const asText = (title: string, sections: readonly Section[]): string =>
  [title, ...sections.map((s) => [`${s.title}:`, ...s.lines.map((l) => `  ${flat(l)}`)].join('\n'))].join('\n\n')

const asPage = (title: string, sections: readonly Section[]): string => {
  const item = (line: string) => flat(line).replace(/^( *)/, '$1- ')
  return `${[`# ${title}`, ...sections.map((s) => [`## ${s.title}`, '', ...s.lines.map(item)].join('\n'))].join('\n\n')}\n`
}

export const retro = defineTool({
  name: 'retro',
  title: 'Look back',
  about:
    'sums up what happened since the last retro, proposes a change for what recurs three times or more, tells whether earlier changes helped, and what is stale, said twice or due; old observations go to the archive. The report lies in .tidemark/retro/. It changes no skill',
  example: 'tidemark retro',
  params: {
    since: {
      type: 'text',
      about: 'look at another period: since a day, "2 weeks ago" or a mark; keeps no report, and archives nothing',
    },
    'dry-run': { type: 'flag', about: 'only show it: no report is kept, and nothing archived' },
  },
  async run(context, { since: said, 'dry-run': isTrial = false }): Promise<Output> {
    const { memory, project } = context
    const { reader } = memory
    const now = memory.env.now()
    const since = said === undefined ? periodStart(memory) : momentSaid(said, now, 'since', reader)
    const fresh = new Set(synthesize(memory, project).map((e) => e.id))
    const health = measure(memory)
    const period = periodSince(memory, since)
    const waiting = waitingChanges(reader)
    const alone = aloneIn(memory, observationsOf(memory), ENOUGH)
    const stale = stalenessOf(memory, project.root, reader).all()
    const overlaps = findOverlaps(memory, project.root)
    const { due, quiet } = learningsDue(memory)
    const keeps = said === undefined && !isTrial
    const archived = keeps
      ? archiveOld(memory, project, since)
      : { observations: dueForArchive(memory), batches: [], pages: [] }
    const promotion = await promotionDue(project)
    const sections: Section[] = [
      { title: 'The period', lines: numbers(period) },
      { title: 'What recurred', lines: recurrences(period, reader.list('mutation', { all: true })) },
      {
        title: 'Perhaps one trouble in other words',
        lines: alone.flatMap((some) => [
          `${some[0]!.operation}: ${some.slice(0, MOST).map(named).join(', ')}`,
          `  if two are one: tidemark act ${shellWord(`[${sameAs(some[0]!, some[1]!)}]`)}`,
        ]),
      },
      {
        title: 'Waiting for a person',
        lines: [
          ...first(waiting, (e) => `${numberOf(e)}${fresh.has(e.id) ? ' (new)' : ''} ${proposalText(e)}`, 'tidemark mutation'),
          ...waiting.slice(0, 1).map((e) => `tidemark mutation approve ${numberOf(e)} shows the change and asks`),
        ], // biome-ignore format: a list
      },
      {
        title: 'Process health',
        lines: health.flatMap(({ mutation: e, outcome }) => [
          `${numberOf(e)} ${String(e.fields.change)}: ${outcomeText(outcome)}`,
          ...(outcome.verdict === 'worse' ? [`  proposed: take it back with tidemark mutation revert ${numberOf(e)}`] : []),
        ]), // biome-ignore format: a list
      },
      {
        title: 'Stale, because the code has changed',
        lines: first(stale, (s) => `${s.id} (${markOf(s)})`, 'tidemark review'),
      },
      {
        title: 'Said twice, or in the wrong place',
        lines: overlaps.length === 0 ? [] : [`${overlapSummary(overlaps)}: tidemark stores`],
      },
      {
        title: 'Learnings that nothing referred to for 90 days',
        lines: [
          ...first(due, (e) => `${oneLine(e.name, 90)} (${dayOf(e.updated)}): ${e.id}`, 'tidemark list learning'),
          ...(due[0] ? [`if one no longer holds: tidemark retire ${shellWord(due[0].id)} --reason "…"`] : []),
          ...(due.length > 0 && quiet > 0 ? [`${quiet} more for 30 days`] : []),
        ], // biome-ignore format: a list
      },
      { title: 'Archived', lines: archiveLines(archived) },
      { title: 'Maturity', lines: promotion === undefined ? [] : [promotion] },
    ].filter((s) => s.lines.length > 0)
    const title = `Retro of ${dayOf(now)}${since === 0 ? '' : `, since ${dayOf(since)}`}`
    const isEmpty = sections.length === 0
    if (isEmpty) sections.push(NOTHING)
    const file = keeps && !isEmpty ? keepReport(memory, project, since, asPage(title, sections)) : undefined
    const { recurred, operations, ...counts } = period
    const json = {
      since: since === 0 ? null : new Date(since).toISOString(),
      period: counts,
      operations,
      recurred: recurred.map((group) => group.map((s) => s.entity.id)),
      proposed: waiting.map(entityJson),
      health: health.map((h) => ({ mutation: numberOf(h.mutation)!, ...h.outcome })),
      stale: stale.map((s) => ({ id: s.id, stale: markOf(s) })),
      overlaps: overlaps.length,
      due: due.map((e) => e.id),
      archived: { ids: archived.observations.map((e) => e.id), pages: archived.pages, undo: archived.batches },
      promotion: promotion ?? null,
      report: file ?? null,
    }
    const kept = file === undefined ? [] : ['', `the report is ${file}`]
    return { text: [asText(title, sections), ...kept].join('\n'), json: json as unknown as Json }
  },
})
