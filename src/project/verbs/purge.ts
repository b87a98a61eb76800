import { keptIn } from '../../base/lookup.ts'
import { STATE, type StampRef } from '../../engine/log/cells.ts'
import { HEADER } from '../../engine/replication/purge.ts'
import { tombstoneOf } from '../../engine/store/line.ts'
import type { LoggedEvent } from '../../engine/store/log.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { type Entity, LINK_KIND } from '../../model/entity.ts'
import { text } from '../../model/field.ts'
import type { Report } from '../../model/validate.ts'

/** Erases an entity whole. It goes on as a tombstone without a name, so that late edits of it find their place. */
export function eraseEntity(p: Planning, id: string): number {
  const tombstone = tombstoneOf(id)
  const batches = p.view.batchesOf(id)
  p.move(id, tombstone)
  for (const { replica, seq } of batches)
    p.purge({ replica, seq, hash: p.view.batchHash(replica, seq) ?? '', entity: tombstone })
  p.wipe(tombstone, true)
  p.remove(tombstone, undefined, true)
  return batches.length
}

/** Links at the entity, those that were taken away too: their ends hold its id. */
function linksOf(p: Planning, id: string): string[] {
  const held = p.view.eventsHolding(id).map((e) => e.event)
  return [...new Set(held.filter((e) => e.entity.startsWith(`${LINK_KIND}:`) && e.value === id).map((e) => e.entity))]
}

/** Erases from one entity the writes that hold a text, and what lines of 0.1.0 tell of them; `told`: those that do. */
function eraseText(p: Planning, id: string, secret: string, held: readonly LoggedEvent[], told: readonly Told[]) {
  for (const field of new Set(held.map((h) => h.event.field))) p.wipeText(id, field, secret)
  const known = new Set(p.view.eventsOf(id).map(({ event: { stamp } }) => `${stamp.replica}:${stamp.ctr}`))
  const batches = new Map<string, { writes: number[]; was: number[]; before: StampRef[] }>()
  const of = (batch: string) => keptIn(batches, batch, () => ({ writes: [], was: [], before: [] }))
  for (const { batch, event } of held) {
    const { writes, before } = of(batch)
    writes.push(event.stamp.ctr)
    // folded away here by a compaction; others may hold it still
    before.push(...event.over.filter(([r, c]) => !known.has(`${r}:${c}`)))
  }
  for (const { line, ctr } of told) of(`${line.replica}:${line.seq}`).was.push(ctr)
  for (const [batch, { writes, was, before }] of batches) {
    const [replica = '', seq = '0'] = batch.split(':')
    p.purge({
      ...{ replica, seq: Number(seq), hash: p.view.batchHash(replica, Number(seq)) ?? '', entity: id, writes },
      ...(was.length > 0 ? { was } : {}),
      ...(before.length > 0 ? { before } : {}),
    })
  }
  return batches.size
}

type Told = ReturnType<Planning['view']['toldBefore']>[number]

/** Erases an entity, or a text wherever it was recorded, from rows, log, indexes and snapshots (K15). */
export const purge = defineVerb({
  name: 'purge',
  about:
    'erases an entity, or a secret text wherever it was recorded, from everything that is stored; cannot be undone',
  args: {
    ref: ref('what to erase', { deleted: true, also: ['id'] }),
    secret: text('the exact text to erase, instead of ref'),
    reason: text('why', { required: true, also: ['why'] }),
  },
  example: { ref: 'use-json-files', reason: 'held a customer name' },
  unscreened: true,
  plan(p, { ref: target, secret, reason }, report) {
    if (secret === undefined && !target) report({ field: 'ref', message: 'missing', accepted: 'a reference' })
    const done = secret !== undefined ? bySecret(p, secret, reason, report) : target && byRef(p, target)
    if (!done) return undefined
    p.note(
      'erased here; run `tidemark sync`: other machines follow at their next one, and a hub once each machine that wrote of it did. Exports and commits are not reached: if it was a secret, change it',
    )
    return done
  },
})

function byRef(p: Planning, found: Entity) {
  const ids = [...linksOf(p, found.id), found.id]
  return { id: tombstoneOf(found.id), erased: ids.length, batches: ids.reduce((n, id) => n + eraseEntity(p, id), 0) }
}

function bySecret(p: Planning, secret: string, reason: string, report: Report) {
  if (secret.trim().length < 4)
    return report({
      field: 'secret',
      message: 'not a text of at least four characters',
      received: null,
      accepted: 'the exact text to erase',
    })
  if (reason.includes(secret))
    return report({
      field: 'reason',
      message: 'holds the secret itself',
      received: '(not shown)',
      accepted: 'a reason without it',
    })
  const inJson = JSON.stringify(secret).slice(1, -1)
  if (p.ctx.author.includes(inJson) || p.draft.events.some((e) => JSON.stringify(e).includes(inJson)))
    return report({
      field: 'secret',
      message: 'this very batch says it',
      received: '(not shown)',
      accepted: 'a batch that does not hold it: not in its intent, its session or its other actions',
    })
  const byEntity = Map.groupBy(p.view.eventsHolding(secret), (e) => e.event.entity)
  const told = Map.groupBy(p.view.toldBefore(secret), (t) => t.entity)
  for (const id of told.keys()) if (!byEntity.has(id)) byEntity.set(id, [])
  const headers = p.view.headersHolding(secret)
  if (byEntity.size === 0 && headers.length === 0 && p.view.keptHolds(secret)) {
    p.scrub() // only a session's definition or a file says it: those are cleaned with every erasure
    return { id: 'definitions', erased: 0, batches: 0 }
  }
  if (byEntity.size === 0 && headers.length === 0)
    return report({
      field: 'secret',
      message: 'this text stands nowhere in the knowledge',
      received: '(not shown)',
      accepted: 'a text that was recorded',
    })
  let batches = 0
  for (const [id, events] of byEntity) {
    // a link is known by its ends and its relation
    const key: readonly string[] = id.startsWith(`${LINK_KIND}:`)
      ? ['from', 'to', 'type']
      : (p.registry().kind(id.slice(0, id.indexOf(':')))?.key ?? [])
    const whole = events.some((e) => e.event.field === STATE || key.includes(e.event.field))
    if (whole) for (const link of linksOf(p, id)) batches += eraseEntity(p, link)
    batches += whole ? eraseEntity(p, id) : eraseText(p, id, secret, events, told.get(id) ?? [])
  }
  for (const { replica, seq, hash } of headers) p.purge({ replica, seq, hash, entity: HEADER, writes: [] })
  // an erased entity is named by its tombstone: its id may hold the secret
  const [first = ''] = byEntity.keys()
  return {
    id: p.entity(tombstoneOf(first)) ? tombstoneOf(first) : first,
    erased: byEntity.size,
    batches: batches + headers.length,
  }
}
