/**
 * write: a batch on its way into the store, in three steps. `batch.ts` parses it and runs its verbs; `plan.ts` judges
 * every action and collects events without touching the store; this file takes the lock and commits. What binds later
 * sessions needs a person: `approval.ts`.
 */

import { isLive, stateOf } from '../claims/lease.ts'
import type { Env } from '../env.ts'
import type { Cells } from '../log/cells.ts'
import { tick } from '../log/clock.ts'
import { applyLine, Docs, reprojectKinds, writeToDocs } from '../materialize/apply.ts'
import { type Entity, KIND_KIND, kindOf } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { withProjectKinds } from '../model/project-registry.ts'
import type { Registry } from '../model/registry.ts'
import { entityOf } from '../read/reader.ts'
import { placeOn } from '../read/work-tree.ts'
import { applyPurges } from '../replication/purge.ts'
import { vouchedFor } from '../replication/trust.ts'
import { dropOldWork, keepWork, workOf } from '../store/current-work.ts'
import type { Db } from '../store/db.ts'
import { keptHolds } from '../store/definitions.ts'
import { type Author, seal } from '../store/line.ts'
import * as log from '../store/log.ts'
import * as presence from '../store/presence.ts'
import { replicaFor, saveClock } from '../store/replica.ts'
import * as rows from '../store/rows.ts'
import { isOwnReplica } from '../store/trust.ts'
import { type Action, planBatch } from './batch.ts'
import type { Actor, Result, View } from './plan-types.ts'
import { wasTyped } from './prompt-hashes.ts'
import type { Verb } from './verb.ts'

export interface ActResult {
  /** `replica:seq`, what `undo` takes; null if nothing changed. */
  batch: string | null
  results: Result[]
  notes: string[]
}

/** What a batch is written with. */
interface WriteHost {
  readonly db: Db
  readonly env: Env
  readonly verbs: ReadonlyMap<string, Verb>
  /** The kinds and relations that come with Tidemark. */
  readonly core: Registry
  /** These and the project's own, as they are now. */
  registry(): Registry
  /** Whether a file holds a text; for purge. */
  filesHold(text: string): boolean
}

interface Written {
  readonly result: ActResult
  /** Something was erased: the files of the store are to be cleaned. */
  readonly purged: boolean
  /** Something happened with claims. */
  readonly told?: boolean
}

/** A session that has started nothing for so long has ended; nobody says so when a process dies. */
const WORK_KEPT_MS = 90 * 86_400_000

const AUTHOR_FIELDS = ['session', 'agent', 'user', 'branch', 'commit', 'task', 'source'] as const

/** Plans a batch, writes its line and brings everything up to date with it; under the store's lock. */
export function writeBatch(
  host: WriteHost,
  actions: readonly Action[],
  said: Author,
  by: Actor,
  redacting: boolean,
): Written {
  const db = host.db
  const now = host.env.now()
  const replica = replicaFor(db, host.env)
  const head = log.head(db, replica.tag)
  const ms = tick(replica.clock, now)
  const docs = new Docs(db)
  const view = viewOf(host, docs, now, said.session)
  const work = said.session === undefined ? undefined : workOf(db, said.session)
  const ofCurrentTask = work !== undefined && said.task === undefined
  const task = ofCurrentTask ? placeOn(work, view.entity).task : said.task
  const author: Author = task === undefined ? said : { ...said, task }
  const provenance: { [key: string]: Json } = {}
  for (const field of AUTHOR_FIELDS) if (author[field] !== undefined) provenance[field] = author[field]
  const batchId = `${replica.tag}:${head.seq + 1}`
  const planned = planBatch(
    view,
    {
      by,
      replica: replica.tag,
      ms,
      batch: batchId,
      ctr: replica.clock.ctr,
      provenance,
      ...(work !== undefined ? { work } : {}),
      ofCurrentTask,
      author: JSON.stringify(author),
      random: (n) => host.env.random(n),
    },
    actions,
    {
      verbs: host.verbs,
      redact: redacting,
      makeRegistry: (base, entities) => withProjectKinds(base, host.core, entities),
    },
  )
  if (planned.work !== undefined && said.session !== undefined) {
    keepWork(db, said.session, planned.work, now)
    dropOldWork(db, now - WORK_KEPT_MS)
  }
  const { rows: claimed, told } = planned.claims
  if (said.session !== undefined && claimed.length > 0) {
    const row = presence.ensureSession(db, said.session, now)
    // who claims is there: nothing that was acknowledged is held by nobody
    if (!isLive(stateOf(row, now, host.env))) presence.reviveSession(db, row, now)
  }
  for (const row of claimed) presence.putClaim(db, row)
  for (const { session, type, body } of told) presence.addPresence(db, now, session, type, body)
  if (planned.events.length === 0 && planned.purges.length === 0) {
    return {
      told: told.length > 0,
      result: {
        batch: null,
        results: planned.results,
        notes:
          planned.work || planned.scrub || claimed.length > 0
            ? planned.notes
            : [...planned.notes, 'nothing changed: all of it was there already'],
      },
      purged: planned.scrub,
    }
  }
  for (const [to, from] of planned.moves) docs.move(from, to)
  const updates = writeToDocs(docs, planned.events, replica.tag)
  const line = seal({
    replica: replica.tag,
    seq: head.seq + 1,
    prev: head.hash,
    at: ms,
    author: planned.undone.length > 0 ? { ...author, undoes: [...planned.undone] } : author,
    summary: planned.summary,
    updates,
    events: planned.events,
    purges: planned.purges,
  })
  applyLine(db, docs, host.registry(), line, now, true)
  saveClock(db, { ms, ctr: replica.clock.ctr + planned.events.length })
  if (planned.purges.length > 0) applyPurges(db, host.registry(), planned.purges)
  if (planned.events.some((e) => kindOf(e.entity) === KIND_KIND))
    reprojectKinds(db, host.registry(), line.updates.keys())
  return {
    result: { batch: batchId, results: planned.results, notes: planned.notes },
    purged: planned.purges.length > 0,
  }
}

function viewOf(host: WriteHost, docs: Docs, now: number, actor: string | undefined): View {
  const db = host.db
  const entity = (id: string): Entity | undefined => {
    const row = rows.getRow(db, id)
    return row && entityOf(row)
  }
  return {
    registry: () => host.registry(),
    entity,
    cells: (id): Cells => docs.cells(id),
    byName: (key) => rows.rowsByName(db, key).map(entityOf),
    links: (end, id) => rows.linksAt(db, end, id),
    ofKind: (kind) => rows.listRows(db, kind, {}).map(entityOf),
    allIds: () => rows.allIds(db),
    someNames: (limit) => rows.someNames(db, limit),
    eventsOf: (id) => log.eventsOf(db, id),
    batch(id) {
      const header = log.headerOf(db, id)
      if (!header) return undefined
      const { line } = header
      return {
        summary: line.summary,
        ...(line.author.session !== undefined ? { session: line.author.session } : {}),
        ...(line.author.undoes ? { undoes: line.author.undoes } : {}),
        events: line.events.map((event, i) => ({ id: `${id}:${i}`, batch: id, event })),
      }
    },
    isOwn: (replica) => isOwnReplica(db, replica),
    batchHash: (replica, seq) => log.hashOf(db, replica, seq),
    recentBatches: (limit, by) => log.recentBatches(db, limit, by),
    eventsHolding: (t) => log.eventsHolding(db, t),
    idsOfKind: (kind) => rows.idsOfKind(db, kind),
    keptHolds: (t) => keptHolds(db, t) || host.filesHold(t),
    headersHolding: (t) => log.headersHolding(db, t),
    batchesOf: (id) => log.batchesOf(db, id),
    isErased: (tombstone) => log.isErased(db, tombstone),
    endorsed: (id) => vouchedFor({ db }, [id]).has(id),
    typed: (sentence, entity) => wasTyped(db, sentence, actor, entity),
    claims: {
      now,
      env: host.env,
      open: () => presence.openClaims(db),
      session: (id) => presence.getSession(db, id) ?? (id === actor ? presence.newSession(id, now) : undefined),
      sessions: () => presence.listSessions(db),
      nextFence: () => presence.nextFence(db),
      lastOfRole: (role) => presence.lastOfRole(db, role),
      leftNotes: () => presence.leftNotes(db),
      workOf: (session) => workOf(db, session),
    },
  }
}
