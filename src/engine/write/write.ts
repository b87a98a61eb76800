/**
 * write: a batch on its way into the store.
 * 1. `parseBatch` (batch.ts) reads what the caller gave.
 * 2. `writeBatch` (here), under the store's lock, opens a `View` (planning-view.ts) of the store.
 * 3. `planBatch` (batch.ts) screens and runs each action; verbs collect events in a `Planning` (plan.ts). Nothing is stored
 *    yet, and every problem is refused at once. What binds later sessions needs a person (authority-watch.ts).
 * 4. `keepPresence` stores claims and the current work.
 * 5. The events are sealed as one line of the log, and `applyLine` brings rows and indexes up to date.
 * 6. `applyPurges` erases; `Memory.act` then cleans the files.
 */

import type { Env } from '../../base/env.ts'
import { KIND_KIND, kindOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { withProjectKinds } from '../../model/project-registry.ts'
import type { Registry } from '../../model/registry.ts'
import { isLive, keepLeaseClock, leaseTime, stateOf } from '../claims/lease.ts'
import { tick } from '../log/clock.ts'
import type { Event } from '../log/events.ts'
import { applyLine, entitiesIn, reprojectKinds, States } from '../materialize/apply.ts'
import { type Ends, travelsFrom } from '../read/travels.ts'
import { placeOn } from '../read/work-tree.ts'
import { sayInFrozen } from '../replication/held.ts'
import { applyPurges, HEADER } from '../replication/purge.ts'
import { releaseAnchors } from '../store/code-anchors.ts'
import { dropOldWork, keepWork, workOf } from '../store/current-work.ts'
import { type Db, stored } from '../store/db.ts'
import { dropAsked, dropHeld } from '../store/held.ts'
import { type Author, PROVENANCE, type PurgeMark, seal } from '../store/line.ts'
import * as log from '../store/log.ts'
import * as presence from '../store/presence.ts'
import { followingShared, keepShared, newSalt, replicaFor, saveClock } from '../store/replica.ts'
import { getRow } from '../store/rows.ts'
import { type Action, type Planned, planBatch } from './batch.ts'
import type { PlanContext, Result } from './plan.ts'
import { View } from './planning-view.ts'
import type { Verb } from './verb.ts'

export interface ActResult {
  /** `replica:seq`, what `undo` takes; null if nothing changed. */
  batch: string | null
  results: Result[]
  notes: string[]
}

interface WriteHost {
  readonly db: Db
  readonly env: Env
  readonly verbs: ReadonlyMap<string, Verb>
  /** The kinds and relations that come with Tidemark. */
  readonly core: Registry
  registry(): Registry
  rowRegistry(): Registry
  filesHold(text: string): boolean
}

/** Who writes a batch, and by what right. */
type Who = Pick<PlanContext, 'by' | 'settles' | 'evidence'> & { readonly author: Author }

interface Written {
  readonly result: ActResult
  /** Something was erased: the files of the store are to be cleaned. */
  readonly purged: boolean
  readonly touched: ReadonlySet<string>
  /** Listeners have claims to hear of, even without a batch. */
  readonly claimsChanged: boolean
}

/** A session that has started no work for this long has ended. A process that dies tells nobody. */
const WORK_KEPT_MS = 90 * 86_400_000

/** The note of a batch that had nothing to write. */
export const NOTHING_CHANGED = 'nothing changed: all of it was there already'

export function writeBatch(host: WriteHost, actions: readonly Action[], who: Who, redacting: boolean): Written {
  const { author: said, ...rest } = who
  const { db, env } = host
  const now = env.now()
  const { tag, clock } = replicaFor(db, env)
  const head = log.head(db, tag)
  const ms = tick(clock, now)
  const batch = `${tag}:${head.seq + 1}`
  const states = new States(db)
  const view = new View(host, states, leaseTime(db, env), said.session)
  const work = said.session === undefined ? undefined : workOf(db, said.session)
  const ofCurrentTask = work !== undefined && said.task === undefined
  const task = ofCurrentTask ? placeOn(work, view.entity).task : said.task
  const author: Author = task === undefined ? said : { ...said, task }
  const provenance: { [key: string]: Json } = {}
  for (const field of PROVENANCE) if (author[field] !== undefined) provenance[field] = author[field]

  const planned = planBatch(
    view,
    {
      ...rest,
      ...{ replica: tag, ms, batch, ctr: clock.ctr, provenance, work, ofCurrentTask },
      author: JSON.stringify(author),
      random: (n) => env.random(n),
    },
    actions,
    {
      verbs: host.verbs,
      redact: redacting,
      makeRegistry: (base, entities) => withProjectKinds(base, host.core, entities),
    },
  )
  const { events, notes, results } = planned
  const purges = planned.purges.map((p) => log.asWritten(db, p))
  const isCoordinating = keepPresence(host, said.session, planned, view.claims.now)
  const claimsChanged = planned.claims.events.length > 0
  const checked = results.filter((r) => r.verb === 're-anchor' || (r.kind === 'file' && r.verb.startsWith('record-')))
  const released = checked.filter(({ id }) => releaseAnchors(db, id))
  for (const id of planned.decided) {
    dropAsked(db, id)
    dropHeld(db, id)
  }
  if (events.length === 0 && purges.length === 0) {
    for (const { id, verb } of results)
      if (verb.startsWith('record-') && id !== undefined && view.entity(id)?.fields.retired !== undefined)
        notes.push(`${id} stays retired: ["restore", {"ref": "${id}"}] brings it back`)
    if (!isCoordinating && !planned.scrub && released.length === 0 && planned.decided.length === 0)
      notes.push(NOTHING_CHANGED)
    const result = { batch: null, results, notes }
    return { claimsChanged, result, purged: planned.scrub, touched: new Set(planned.decided) }
  }

  const travels = travelsFrom(db, host.registry(), endsAmong(db, events))
  const isLocal = !events.some((e) => travels(e.entity)) && !purges.some((p) => mayLeave(travels, p))
  const line = seal({
    replica: tag,
    seq: head.seq + 1,
    ...followingShared(db),
    at: ms,
    author: { ...author, actor: who.by, ...(planned.undone.length > 0 ? { undoes: planned.undone } : {}) },
    events,
    ctr: clock.ctr + 1,
    purges,
    local: isLocal,
    salt: (id) => (travels(id) ? undefined : newSalt(env)),
  })
  applyLine(db, states, host.rowRegistry(), line, now)
  sayInFrozen(db, host.registry(), events)
  if (!isLocal) keepShared(db, line)
  log.packDue(db)
  saveClock(db, { ms, ctr: clock.ctr + events.length })
  if (purges.length > 0) applyPurges(db, host.rowRegistry(), purges)
  const touched = new Set([...entitiesIn(line), ...planned.decided, ...purges.map((p) => p.entity)])
  if (events.some((e) => kindOf(e.entity) === KIND_KIND)) reprojectKinds(db, host.rowRegistry(), touched)
  return { claimsChanged, result: { batch, results, notes }, purged: purges.length > 0, touched }
}

function endsAmong(db: Db, events: readonly Event[]): Ends {
  const said = new Map<string, { [end: string]: Json }>()
  for (const { entity, field, value } of events)
    if ((field === 'from' || field === 'to') && value !== undefined)
      said.set(entity, { ...said.get(entity), [field]: value })
  return (link) => ({ ...stored<{ from?: Json; to?: Json }>(getRow(db, link)?.body ?? '{}'), ...said.get(link) })
}

/** Whether what a purge says may leave this machine. */
export const mayLeave = (travels: (id: string) => boolean, { entity }: PurgeMark): boolean =>
  entity === HEADER || travels(entity)

/** Stores what is no knowledge: where the session stands now, and its claims. Says whether there was anything of that. */
function keepPresence(
  { db, env }: WriteHost,
  session: string | undefined,
  { work, claims }: Planned,
  now: number,
): boolean {
  if (work !== undefined && session !== undefined) {
    keepWork(db, session, work, now)
    dropOldWork(db, now - WORK_KEPT_MS)
  }
  if (session !== undefined && claims.rows.length > 0) {
    keepLeaseClock(db, env)
    const row = presence.ensureSession(db, session, now)
    // who claims is there: nothing that was acknowledged is held by nobody
    if (!isLive(stateOf(row, now, env))) presence.reviveSession(db, row, now)
  }
  presence.keepClaims(db, claims, now)
  return work !== undefined || claims.rows.length > 0
}
