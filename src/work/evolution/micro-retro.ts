import { isLive } from '../../engine/claims/lease.ts'
import type { Memory } from '../../engine/memory.ts'
import { parentOf } from '../../engine/read/work-tree.ts'
import { MAX_ACTIONS } from '../../engine/write/batch.ts'
import { type Entity, provenanceOf } from '../../model/entity.ts'
import { AGENT_RETRO } from '../../model/kinds/observation.ts'
import { foldText } from '../../model/names.ts'
import { cut } from '../../model/text.ts'
import { claimsOf } from '../coordination/claims.ts'
import { sessionsOf } from '../coordination/sessions.ts'
import { observationLine, RUN } from '../handoff/views/observations.ts'
import { addAmounts, amountsText, noAmounts } from './amounts.ts'
import { LONGEST, remedyIn } from './remedy.ts'

/** By this category an insight is known as what an operation of several agents came to. */
const CATEGORY = 'micro-retro'
/** Observations of an operation that are looked at, the newest. */
const MOST = 100
const NAMED = 3
const AUTHOR = { agent: 'tidemark', by: 'agent', source: 'observed', redact: true } as const

const has = (e: Entity, tag: string): boolean => Array.isArray(e.fields.tags) && e.fields.tags.includes(tag)

/** `implementer skipped error handling (2 times); npm test failed 3 times, then passed; cost 12 min` */
function summaryOf(all: readonly Entity[]): { summary: string; implications: string[] } {
  // what one agent found in the work of another comes first
  const found = [...Map.groupBy(all, (e) => foldText(String(e.fields.what))).values()].sort(
    (a, b) => Number(has(b[0]!, AGENT_RETRO)) - Number(has(a[0]!, AGENT_RETRO)) || b.length - a.length,
  )
  const cost = amountsText(all.reduce((sum, e) => addAmounts(sum, String(e.fields.cost ?? '')), noAmounts()))
  const times = (n: number) => (n > 1 ? ` (${n} times)` : '')
  const said = found.slice(0, NAMED).map((all) => cut(String(all[0]!.fields.what), LONGEST) + times(all.length))
  const more = found.length > NAMED ? [`${found.length - NAMED} more`] : []
  return {
    summary: [...said, ...more, ...(cost === '' ? [] : [`cost ${cost}`])].join('; '),
    implications: [...new Set(found.flatMap(([e]) => remedyIn(String(e!.fields.what))?.step ?? []))],
  }
}

/** Records one insight from the agents' observations of an operation, and updates it later. Silent without trouble. */
function retro(memory: Memory, since: number, isOurs: (e: Entity) => boolean, goal?: string): void {
  const { reader } = memory
  const isGain = (e: Entity) => /^(?:saved|benefit|gain)/i.test(String(e.fields.cost ?? ''))
  const isTrouble = (e: Entity) => e.fields.succeeded !== true && !has(e, RUN) && !isGain(e)
  const observed = reader.list('observation', { since, limit: MOST }).toReversed()
  const all = observed.filter((e) => isOurs(e) && isTrouble(e))
  if (all.length < 2 && !all.some((e) => has(e, AGENT_RETRO))) return
  const linked = (id: string) => reader.links('to', id).flatMap((l) => (l.type === 'based-on' ? l.from : []))
  const there = reader
    .entities([...new Set(all.flatMap((e) => linked(e.id)))])
    .find((e) => e.live && e.fields.category === CATEGORY)
  const detail = all.map(observationLine).join('\n')
  if (there?.fields.detail === detail) return
  const known = there === undefined ? { category: CATEGORY } : { ref: there.id }
  const done = memory.act([['record-insight', { ...known, ...summaryOf(all), detail }]], AUTHOR)
  const from = String(done.results[0]!.id)
  const links = [
    ...all.filter((e) => !linked(e.id).includes(from)).map((e) => ['link-entities', { from, to: e.id, type: 'based-on' }]),
    ...(goal === undefined ? [] : [['link-entities', { from, to: goal, type: 'about' }]]),
  ] // biome-ignore format: a list
  if (links.length > 0) memory.act(links.slice(-MAX_ACTIONS), AUTHOR)
}

/** The last of the subagents that a session had since its user asked has ended. */
export function retroOfAgents(memory: Memory, session: string): void {
  const sessions = sessionsOf(memory)
  const parent = sessions.get(session)
  if (!parent) return
  const asked = Number(parent.data.askedAt ?? parent.started)
  const agents = sessions
    .list({ all: true })
    .filter((s) => s.parent !== undefined && sessions.resolve(s.parent) === parent.id && (s.ended ?? s.seen) >= asked)
  if (agents.length === 0 || agents.some((s) => isLive(s.state))) return
  const ids = new Set([parent.id, ...agents.map((s) => s.id)])
  const since = Math.min(asked, ...agents.map((s) => s.started))
  const goal = memory.place(parent.id).goal
  memory.db.write(() => retro(memory, since, (e) => provenanceOf(e).some((p) => ids.has(String(p.session))), goal))
}

/** Tasks were completed: where that was the last one of a goal that anybody holds, and several sessions were at it. */
export function retroOfGoals(memory: Memory, since: number): void {
  const { reader } = memory
  const events = memory.newsSince(since).flatMap((n) => n.events.map(({ event }) => event))
  const tasks = events.filter((e) => e.entity.startsWith('task:') && e.field === 'state').map((e) => e.entity)
  if (tasks.length === 0) return
  const goalOf = (e: Entity): string | undefined => (e.kind === 'goal' ? e.id : goalAbove(e))
  const goalAbove = (e: Entity): string | undefined => {
    const above = parentOf(e, (ref) => reader.entity(ref))
    return above && goalOf(above)
  }
  const complete = reader.entities([...new Set(tasks)]).filter((e) => e.fields.state === 'complete')
  for (const goal of new Set(complete.map(goalOf))) {
    const there = goal === undefined ? undefined : reader.entity(goal)
    if (!there) continue
    const own = reader.list('task', { all: true }).filter((e) => goalOf(e) === goal)
    const ids = new Set([goal, ...own.flatMap((e) => [e.id, String(e.fields.activity ?? '')])])
    const by = new Set(
      own.flatMap((e) => provenanceOf(e).flatMap((p) => (p.session === undefined ? [] : [String(p.session)]))),
    )
    const held = claimsOf(memory).held()
    if (by.size < 2 || held.some((c) => c.what === 'task' && ids.has(c.on))) continue
    const isOurs = (e: Entity) =>
      provenanceOf(e).some((p) => {
        const place = p.task ?? p.activity ?? p.goal
        return place === undefined ? by.has(String(p.session)) : ids.has(String(place))
      })
    memory.db.write(() => retro(memory, there.created, isOurs, goal))
  }
}
