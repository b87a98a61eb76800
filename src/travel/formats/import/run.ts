/**
 * formats: what comes in from other tools and goes out to them, one file per format. `import/` reads, compares with
 * what is known and writes in batches; `export/` prints.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { screen } from '../../../base/secrets/screen.ts'
import { SHARED_FIELD, SHARED_KIND } from '../../../engine/log/context-value.ts'
import type { Memory } from '../../../engine/memory.ts'
import type { Action } from '../../../engine/write/batch.ts'
import { sharedAt } from '../../../engine/write/context-key.ts'
import { canonical } from '../../../model/canonical.ts'
import { identityOf, importedFrom, KIND_KIND, RELATION_KIND } from '../../../model/entity.ts'
import type { Json } from '../../../model/field.ts'
import { defined, type JsonObject } from '../../../model/object.ts'
import { beforeOf, difference } from './compare.ts'
import { type ImportOptions, ImportRun } from './import-run.ts'
import { asList, asStrings, mapStrings, withoutEmpty } from './json-values.ts'
import { link } from './link.ts'
import type { Unit } from './queue.ts'
import { check, record } from './record.ts'
import { emptyReport, type ImportReport, shown } from './report.ts'
import { shorten } from './shorten.ts'
import { scrubPairs, wellFormed } from './text.ts'
import type { Item, Reading } from './types.ts'

/**
 * Writes what a source says into the memory, in as many batches as it takes. Each item is compared with what is there,
 * and only the difference is queued. So a second run of the same source writes nothing. `report`: what it is added to.
 */
export function runImport(
  memory: Memory,
  reading: Reading,
  options: ImportOptions,
  report = emptyReport(options.source),
): ImportReport {
  const state = new ImportRun(memory, reading, options, report)
  for (const [i, item] of reading.items.entries()) {
    for (const part of shorten(clean(state, item), state.registry)) step(state, part)
    if ((i + 1) % 250 === 0) options.progress?.(`${options.source}: ${i + 1} of ${reading.items.length}`)
  }
  state.queue.flush()
  for (const item of state.deferred) step(state, item)
  state.queue.flush()
  if (!reading.partial) settleGone(state)
  state.queue.flush()
  return report
}

/** The item without secrets, private parts and characters that no gate lets through. */
function clean({ report }: ImportRun, item: Item): Item {
  const redact = (category: string) => void report.redacted.push({ where: item.where, category })
  const { attrs, ...args } = wellFormed(defined(item.args) as JsonObject)
  const scrubbed = attrs === undefined ? {} : { attrs: scrubPairs(attrs, redact) }
  const screened = screen({ ...args, ...scrubbed }, true)
  for (const s of screened.secrets) redact(s.category)
  const cleaned = screened.value as JsonObject
  if (!screened.privateLeftOut) return { ...item, args: cleaned }
  report.privateLeftOut++
  return { ...item, args: withoutEmpty(cleaned) }
}

function step(state: ImportRun, item: Item): void {
  const { queue } = state
  if ((queue.definesSomething && !item.verb.startsWith('define-')) || waitsForQueue(state, item)) queue.flush()
  const unit = unitOf(state, item)
  if (item.as !== undefined) state.announced.delete(item.as)
  if (unit) queue.add(unit)
}

/** Whether the item looks at something that waits to be written. */
function waitsForQueue({ queue, registry }: ImportRun, { verb, args }: Item): boolean {
  if (queue.isEmpty) return false
  const kind = registry.recordedBy(verb)
  const id = kind && identityOf(kind, args)
  return [id, ...Object.values(args).flatMap(asStrings)].some((s) => s !== undefined && queue.holds(s))
}

const OTHERS: Readonly<Record<string, (state: ImportRun, item: Item) => Unit | undefined>> = {
  'link-entities': link,
  supersede: link,
  'define-kind': define,
  'define-relation': define,
  'share-set': share,
  propose,
  retire,
}

function unitOf(state: ImportRun, item: Item): Unit | undefined {
  const kind = state.registry.recordedBy(item.verb)
  if (kind) return record(state, item, kind)
  const other = OTHERS[item.verb]
  if (other) return other(state, item)
  return state.leaveOut(item, item.verb, `this project knows no ${item.verb.replace(/^record-/, 'kind ')}`)
}

function define(state: ImportRun, item: Item): Unit | undefined {
  const kindName = item.verb === 'define-kind' ? KIND_KIND : RELATION_KIND
  const kind = state.registry.kind(kindName)!
  const name = String(item.args.name)
  const there = state.reader.find(`${kindName}:${name}`).find((e) => e.kind === kindName)
  const core = kindName === KIND_KIND ? state.registry.kind(name) : state.registry.relation(name)
  if (core && !there) return undefined // it has become a core one since
  const checked = check(state, item, kind, item.args as JsonObject)
  if (!checked) return undefined
  const before = beforeOf(state.memory, there?.id ?? '', state.options.source)
  const changes = checked.changes.map((c) => (c.op === 'edit' ? { ...c, replace: true } : c))
  const { args } = difference(kind, there, changes, before, new Set())
  if (there && Object.keys(args).length === 0) return state.unchanged(kindName)
  return { item, actions: [[item.verb, item.args]], kind: kindName, created: !there }
}

/** A value that sessions share here already stays: it is theirs. */
function share(state: ImportRun, item: Item): Unit | undefined {
  const key = String(item.args.key)
  const there = sharedAt(state.reader, key)
  if (!there) return { item, actions: [[item.verb, item.args]], kind: SHARED_KIND, created: true }
  state.isAbout(item, there.id)
  if (canonical(there.fields[SHARED_FIELD] ?? null) !== canonical(item.args.value ?? null))
    state.keep(item, `${SHARED_KIND} ${key}`, 'another value is shared under it here')
  return state.unchanged(SHARED_KIND)
}

function propose(state: ImportRun, item: Item): Unit | undefined {
  const [verb, inner] = item.args.action as [string, JsonObject]
  const action: Json = [verb, mapStrings(inner, (v) => state.idOf(v))]
  const id = identityOf(state.registry.kind('proposal')!, { action: canonical(action) })!
  const there = state.reader.entity(id)
  const { evidence } = item.args
  if (there && (!there.live || typeof evidence !== 'string' || asList(there.fields.evidence).includes(evidence)))
    return state.unchanged('proposal')
  return { item, actions: [['propose', { ...item.args, action }]], kind: 'proposal', created: !there, id }
}

function retire(state: ImportRun, item: Item): Unit | undefined {
  const target = state.reader.entity(state.idOf(String(item.args.ref)))
  if (!target || target.fields.retired !== undefined) return undefined
  return { item, actions: [['retire', { ...item.args, ref: target.id }]], kind: '', created: false, id: target.id }
}

/** What the source said once and says no longer: its own rules and pieces are retired, the rest is told. */
function settleGone(state: ImportRun): void {
  const { reading, report, reader, finder } = state
  const owns = reading.owns ?? []
  const { files = [] } = reading
  const place = (files.length > 3 ? importedFrom(state.options.source) : files.join(', ')) || 'the source'
  // another source may read the file that this one imported
  const standsElsewhere = (l: string) => !state.isInFiles(l) && existsSync(join(state.options.root ?? '', l.replace(/:\d+$/, ''))) // biome-ignore format: a row
  const isSuperseded = (id: string) => reader.links('to', id).some((l) => l.type === 'supersedes')
  for (const kind of new Set([...owns, ...Object.keys(report.kinds)])) {
    if (!state.registry.kind(kind) || kind === KIND_KIND || kind === RELATION_KIND) continue
    for (const e of reader.list(kind)) {
      if (state.touched.has(e.id) || !finder.isFrom(e) || isSuperseded(e.id)) continue
      const reason = `no longer in ${e.fields.sourceFile ?? place}`
      const lose = (what: string, then: string) =>
        void report.gone.push({ where: e.id, what: shown(what), why: `${reason}${then}` })
      const settle = (then: string, action: Action) => {
        lose(e.name, `: ${then}`)
        const item = { verb: action[0], args: {}, where: state.options.source }
        state.queue.add({ item, actions: [action], kind, created: false, id: e.id })
      }
      const stale = asList(e.fields.locations).filter((l) => state.isInFiles(l))
      if (!owns.includes(kind)) lose(`${kind} ${e.name}`, '; it stays')
      else if (finder.isFromAlone(e) && !asList(e.fields.locations).some(standsElsewhere)) {
        const last = state.memory.history(e.id).findLast((h) => h.event.field === 'retired')
        if (!last || last.author?.source === state.options.source) settle('retired', ['retire', { ref: e.id, reason }])
      } else if (stale.length > 0)
        settle('location taken off', [`record-${kind}`, { ref: e.id, locations: { remove: stale } }])
    }
  }
}
