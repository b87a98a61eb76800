import { homedir } from 'node:os'
import { UsageError, UserError } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import { vouchedFor } from '../../engine/replication/vouched.ts'
import { cardOf } from '../../find/recall/card.ts'
import type { Json } from '../../model/field.ts'
import { hereOf } from '../../project/open.ts'
import { askLibrary, libraryRoot, openLibrary, writePages } from '../../project/tiers/library.ts'
import { keepProposed, type Promotion, promote, promotionOf, proposedIn } from '../../project/tiers/promote.ts'
import { many } from '../../session/briefing/format.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { findOne, oneLine } from './format.ts'
import { askPerson } from './person.ts'
import { defineTool, type Output, type ToolContext } from './tool.ts'

/** Ids of what a store knows, without what it keeps for itself. */
function idsIn(memory: Memory): string[] {
  const registry = memory.registry()
  return memory.reader
    .counts()
    .filter(({ kind }) => registry.kind(kind)?.internal !== true)
    .flatMap(({ kind }) => memory.reader.list(kind).map((e) => e.id))
}

const short = (path: string): string => {
  const home = process.env.HOME ?? homedir()
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

async function list(context: ToolContext): Promise<Output> {
  const { memory, project } = context
  const ids = idsIn(memory)
  const vouched = vouchedFor(memory, ids)
  const team = new Set(ids.filter((id) => !vouched.has(id)))
  const sessions = sessionsOf(memory)
  const told = new Set(sessions.list({ all: true }).flatMap((s) => sessions.toldOf(s.id).flatMap((t) => t.ids)))
  const toldOf = (all: Iterable<string>, tier = '') => [...all].filter((id) => told.has(tier + id)).length
  // `told`: what of it sessions of this project were told
  const rows = [
    { tier: 'project', entries: ids.length - team.size, at: short(project.storePath), told: toldOf(vouched) },
    { tier: 'user', entries: 0, at: `${short(libraryRoot())}: empty until something is promoted`, told: 0 },
    {
      tier: 'team',
      entries: team.size,
      at: 'in the store of the project: from others, and nobody here has confirmed it',
      told: toldOf(team),
    },
  ]
  const notes = await askLibrary((library) => {
    writePages(library)
    const all = idsIn(library)
    const waiting = library.reader.list('fact', { standing: 'proposed' }).length
    const at = `${short(libraryRoot())} (library.md, profile.md)${waiting > 0 ? `; ${waiting} to confirm there` : ''}`
    rows[1] = { tier: 'user', entries: all.length, told: toldOf(all, 'user/'), at }
  })
  const lines = rows.map(({ tier, entries, at, told: n }) => {
    const given = n > 0 ? `; ${n} told to sessions here` : ''
    return `${tier.padEnd(9)}  ${many(entries, 'entry', 'entries').padStart(11)}  ${at}${given}`
  })
  const waits = proposedIn(memory).map(
    ({ id, by }) => `waits    ${id}, proposed by ${oneLine(by, 40)}: \`tidemark tiers promote ${id}\``,
  )
  return {
    text: [...lines, ...waits, ...notes].join('\n'),
    json: { tiers: rows, proposed: proposedIn(memory), notes } as unknown as Json,
  }
}

/** What goes up, as whoever agrees to it sees it. */
function shownOf({ memory }: ToolContext, { entity, args, source, verified }: Promotion): string {
  const { id, kind, name } = entity
  const trust = verified
    ? ''
    : '\n  unverified: nobody here has confirmed it, so that it waits for your yes in the library too'
  return `${cardOf({ id, kind, name, fields: args }, memory.registry())}\n  ${source}${trust}`
}

async function up(context: ToolContext, ref: string | undefined): Promise<Output> {
  const { memory, project } = context
  if (ref === undefined) throw new UsageError('what is to be promoted is missing', '`tidemark tiers promote REF`')
  const what = promotionOf(memory, project, findOne(memory.reader, ref))
  const { id } = what.entity
  const others = proposedIn(memory).filter((p) => p.id !== id)
  const ask = askPerson(context)
  if (!ask) {
    keepProposed(memory, [
      ...others,
      { id, by: context.by === 'agent' ? 'an agent' : (hereOf(project).user ?? 'somebody'), at: memory.env.now() },
    ])
    return {
      text: `proposed for the user\u2019s library, and nothing has left this project: ${id}\na person agrees on a terminal: tidemark tiers promote ${id}`,
      json: { promoted: false, proposed: id },
    }
  }
  const agreed = await ask(`${shownOf(context, what)}\nTake it into your library, which all your projects see?`)
  keepProposed(memory, others)
  if (!agreed) return { text: 'nothing was promoted', json: { promoted: false } }
  using library = openLibrary()
  const report = promote(library, project, what)
  writePages(library)
  const [refused] = report.unplaced
  if (refused) throw new UserError('not-promoted', `${id} is not promoted: ${refused.why}`, 'nothing was written')
  const done =
    report.batches.length === 0
      ? 'was in your library already'
      : `is in your library${what.verified ? '' : ', as a proposal'}`
  const kept = report.kept.map((k) => `kept as your library has it: ${oneLine(k.what, 100)} (${oneLine(k.why, 100)})`)
  return {
    text: [`${id} ${done}`, ...kept].join('\n'),
    json: { promoted: true, id, batches: report.batches, verified: what.verified },
  }
}

export const tiers = defineTool({
  name: 'tiers',
  title: 'Tiers of knowledge',
  about:
    'what this project, your library and the team know: where each lies, how much it holds, and what sessions here were told of it. promote takes something into your library, after a yes of a person on a terminal',
  example: 'tidemark tiers',
  params: {
    step: { type: 'text', about: 'what to do (list)', place: 0, choices: ['list', 'promote'] },
    ref: { type: 'text', about: 'promote: what', place: 1 },
  },
  local: true,
  run: (context, { step = 'list', ref }) => (step === 'promote' ? up(context, ref) : list(context)),
})
