import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as Y from 'yjs'
import { Memory } from '../../src/engine/memory.ts'
import { vouchedFor } from '../../src/engine/replication/vouched.ts'
import type { YjsOptions, YjsReport } from '../../src/index.ts'
import { KINDS } from '../../src/model/kinds/index.ts'
import { RELATIONS } from '../../src/model/relations.ts'
import { VERBS } from '../../src/project/verbs/index.ts'
import { documentOf } from '../../src/travel/formats/export/json.ts'
import { openTestMemory, rowsOf, seededBytes, type TestMemory } from '../helpers.ts'

const SRC = join(import.meta.dirname, '../../src')

/** A peer's copy of the document: what either side writes comes to the other while they are connected. */
function peerOf(doc: Y.Doc, client: number) {
  const peer = new Y.Doc()
  peer.clientID = client
  const pass = (to: Y.Doc) => (update: Uint8Array, origin: unknown) => {
    if (origin !== 'wire') Y.applyUpdate(to, update, 'wire')
  }
  const [out, back] = [pass(doc), pass(peer)]
  const connect = () => {
    Y.applyUpdate(peer, Y.encodeStateAsUpdate(doc), 'wire')
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(peer), 'wire')
    Y.applyUpdate(peer, Y.encodeStateAsUpdate(doc), 'wire')
    peer.on('update', out)
    doc.on('update', back)
  }
  const cut = () => {
    peer.off('update', out)
    doc.off('update', back)
  }
  connect()
  return { doc: peer, connect, cut, ...mapsOf(peer) }
}

type Entry = Y.Map<unknown>
const mapsOf = (doc: Y.Doc) => ({
  entities: doc.getMap<Entry>('entities'),
  links: doc.getMap<Entry>('links'),
  fields: (id: string) => doc.getMap<Entry>('entities').get(id)!.get('fields') as Y.Map<unknown>,
})

/** A peer writes an entry as a map. */
const entryOf = ({ fields, ...rest }: { fields: object; [key: string]: unknown }): Entry =>
  new Y.Map<unknown>([...Object.entries(rest), ['fields', new Y.Map(Object.entries(fields))]])

/** What the document is to say. */
function saidBy(t: TestMemory) {
  const { entities, links } = documentOf(t.memory, {})
  const byId = (all: readonly { id: string }[]) => Object.fromEntries(all.map((e) => [e.id, e]))
  return { entities: byId(entities), links: byId(links) }
}
const heldBy = (doc: Y.Doc) => ({
  entities: doc.getMap('entities').toJSON(),
  links: doc.getMap('links').toJSON(),
})

async function live(options: YjsOptions & { doc?: Y.Doc; t?: TestMemory; client?: number } = {}) {
  const { doc, t = openTestMemory(), client = 1001, ...more } = options
  const reports: YjsReport[] = []
  const handle = await t.library.yjs(doc, { onReport: (r) => reports.push(r), ...more })
  const peer = peerOf(handle.doc, client)
  const agree = () => {
    expect(heldBy(handle.doc)).toEqual(saidBy(t))
    expect(heldBy(peer.doc)).toEqual(saidBy(t))
  }
  return { t, handle, reports, peer, agree }
}

test('[J1] what is committed appears in the document, what a peer changes is written in its name, and both are equal', async () => {
  const { t, peer, reports, agree } = await live({ peer: (client) => (client === 1001 ? 'Ben' : undefined) })
  t.act(
    [
      [
        'record-decision',
        { name: 'cents', description: 'Money in cents', topics: ['money'], attrs: { a: { b: 1, c: 2 } } },
      ],
      ['record-concept', { name: 'ledger', definition: 'What is owed' }],
      ['link-entities', { from: 'cents', to: 'ledger', type: 'informs', description: 'amounts' }],
    ],
    { by: 'agent' },
  )
  agree()
  const fields = peer.fields('decision:cents')
  peer.doc.transact(() => {
    fields.set('rationale', 'floats drift')
    fields.set('topics', ['billing', 'money'])
    fields.set('attrs', { a: { b: 1 }, d: true })
    fields.delete('description')
    peer.entities.set(
      'anything',
      entryOf({ kind: 'learning', fields: { title: 'Yen have no cents', severity: 'high' } }),
    )
    peer.links.set('new', entryOf({ from: 'anything', to: 'decision:cents', type: 'informs', fields: {} }))
  })
  agree()
  expect(reports).toEqual([])
  const { rationale, topics, attrs, description } = t.get('cents')!.fields
  expect({ rationale, topics, attrs, description }).toEqual({
    ...{ rationale: 'floats drift', topics: ['billing', 'money'], attrs: { a: { b: 1 }, d: true } },
    description: undefined,
  })
  const news = t.memory.newsSince(0).at(-1)!
  expect(news.author).toMatchObject({ user: 'Ben', source: 'yjs', actor: 'agent' })
  expect(news.author.session).toBeUndefined()
  const learning = t.get('learning:yen-have-no-cents')!
  expect(learning.fields.severity).toBe('high')
  expect(t.memory.reader.links('from', learning.id).map((l) => l.to)).toEqual(['decision:cents'])

  // links: a field, a field less, gone; an entity put away, brought back, gone, back
  const link = [...peer.links.keys()].find((id) => peer.links.get(id)!.get('to') === 'concept:ledger')!
  const linkFields = () => peer.links.get(link)!.get('fields') as Y.Map<unknown>
  linkFields().set('confidence', 0.5)
  agree()
  linkFields().delete('description')
  agree()
  expect(peer.links.get(link)!.toJSON()).toMatchObject({ type: 'informs', fields: { confidence: 0.5 } })
  peer.entities.get('concept:ledger')!.set('retired', 'nobody owes')
  agree()
  expect(t.get('ledger')!.fields.retired).toBe('nobody owes')
  peer.entities.get('concept:ledger')!.delete('retired')
  expect(t.get('ledger')!.fields.retired).toBeUndefined()
  const ledger = peer.entities.get('concept:ledger')!.toJSON()
  peer.entities.delete('concept:ledger')
  agree()
  expect(t.get('ledger')!.live).toBe(false)
  expect(peer.links.has(link)).toBe(false)
  peer.entities.set('concept:ledger', entryOf(ledger as never))
  agree()
  expect([t.get('ledger')!.live, peer.links.has(link)]).toEqual([true, true])
  peer.doc.transact(() => {
    peer.entities.delete('concept:ledger')
    peer.entities.delete('decision:cents')
  })
  agree()
  expect(peer.links.size).toBe(0)
  expect(reports).toEqual([])
})

test('[J1] what another process commits appears in the document, and what comes by sync, folded too', async () => {
  const { t, peer, agree } = await live()
  t.act([['record-decision', { name: 'cents', description: 'Money in cents' }]])
  const { root } = t.project
  const code = `import { openMemory } from ${JSON.stringify(join(SRC, 'surfaces/library.ts'))}
    const memory = openMemory({ projectPath: ${JSON.stringify(root)} })
    memory.act([['record-decision', { name: 'cents', rationale: 'floats drift' }]])
    memory.act([['record-concept', { name: 'ledger', definition: 'What is owed' }]])
    const loaded = () => globalThis['__ $YJS$ __'] === true
    const before = loaded()
    await memory.yjs()
    console.log(before, loaded())
    memory.close()`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
  expect([stdout, stderr]).toEqual(['false true\n', '']) // it is loaded by those who ask for it
  await vi.waitFor(() => expect(peer.entities.has('concept:ledger')).toBe(true))
  agree()

  const dir = join(t.dir, 'other.db')
  const { memory } = t
  const other = new Memory({
    ...{ path: dir, projectId: memory.projectId, kinds: KINDS, relations: RELATIONS, verbs: VERBS, create: true },
    env: { now: () => t.clock.now, random: seededBytes(2), log: () => {} },
  })
  onTestFinished(() => other.close())
  other.applyUpdates(memory.updatesSince().bytes)
  const { cursor } = other.updatesSince()
  other.act([['record-decision', { name: 'cents', description: 'All money in cents' }]])
  t.library.applyUpdates(other.updatesSince(cursor).bytes)
  expect(peer.fields('decision:cents').get('description')).toBe('All money in cents')
  agree()
  other.act([['record-learning', { title: 'Yen have no cents' }]])
  t.clock.days(1)
  other.compact(t.clock.now)
  t.library.applyUpdates(other.updatesSince().bytes)
  expect(peer.entities.has('learning:yen-have-no-cents')).toBe(true)
  agree()
})

test('[J2] nothing echoes: a change of either side is one batch and one answer', async () => {
  const { t, handle, peer, agree } = await live()
  let updates = 0
  handle.doc.on('update', () => updates++)
  const before = t.memory.cursor
  t.act([['record-decision', { name: 'cents', description: 'Money in cents' }]])
  expect([t.memory.cursor - before, updates]).toEqual([1, 1])
  peer.fields('decision:cents').set('rationale', 'floats drift')
  expect([t.memory.cursor - before, updates]).toEqual([2, 3])
  peer.fields('decision:cents').set('rationale', 'floats drift') // the same again
  expect(t.memory.cursor - before).toBe(2)
  agree()
})

test('[J3] what a peer may not say is refused, told with code and hint, put back and never stored', async () => {
  const { t, peer, reports, agree } = await live()
  t.act([
    ['record-decision', { name: 'cents', description: 'Money in cents', impact: 5 }],
    ['record-decision', { name: 'floats', description: 'Money in floats' }],
    ['link-entities', { from: 'cents', to: 'floats', type: 'informs' }],
  ])
  const rows = rowsOf(t.memory)
  const [link] = [...peer.links.keys()]
  const deep = (n: number): unknown => (n === 0 ? 'x' : { in: deep(n - 1) })
  const token = `ghp_${'a1B2c3D4e5F6g7H8'.repeat(3).slice(0, 36)}`
  const attacks: [what: string, code: string, body: () => void][] = [
    ['a number out of range', 'refused', () => peer.fields('decision:cents').set('impact', 99)],
    ['bytes', 'refused', () => peer.fields('decision:cents').set('rationale', new Uint8Array([1, 2]))],
    ['a big integer', 'refused', () => peer.fields('decision:cents').set('impact', 10n ** 30n)],
    ['a field that is none', 'refused', () => peer.fields('decision:cents').set('colour', 'red')],
    ['deep nesting', 'refused', () => peer.fields('decision:cents').set('attrs', deep(200))],
    ['a prototype', 'malformed', () => peer.fields('decision:cents').set('__proto__', { polluted: true })],
    ['provenance', 'refused', () => peer.fields('decision:cents').set('provenance', [{ user: 'ana' }])],
    ['a name that is taken', 'refused', () => peer.fields('decision:cents').set('name', 'floats')],
    ['no name', 'refused', () => peer.fields('decision:cents').delete('name')],
    ['a secret', 'secret', () => peer.fields('decision:cents').set('rationale', `the token is ${token}`)],
    [
      'a secret in a new entry',
      'secret',
      () => peer.entities.set('x', entryOf({ kind: 'learning', fields: { title: `use ${token}` } })),
    ],
    ['another target', 'malformed', () => peer.fields('decision:cents').set('ref', 'decision:floats')],
    ['another id', 'malformed', () => peer.entities.get('decision:cents')!.set('id', 'decision:floats')],
    ['another author', 'malformed', () => peer.entities.get('decision:cents')!.set('provenance', [{ user: 'ana' }])],
    [
      'another time',
      'malformed',
      () => peer.entities.get('decision:cents')!.set('updated', '1970-01-01T00:00:00.000Z'),
    ],
    ['no fields', 'malformed', () => peer.entities.get('decision:cents')!.delete('fields')],
    ['text for an entry', 'malformed', () => peer.entities.set('decision:cents', 'gone' as never)],
    [
      'an older entry',
      'stale',
      () =>
        peer.entities.set('decision:cents', entryOf({ updated: '2020-01-01T00:00:00.000Z', fields: { impact: 1 } })),
    ],
    ['no kind', 'malformed', () => peer.entities.set('x', entryOf({ fields: { title: 'x' } }))],
    [
      'a kind that is none',
      'refused',
      () => peer.entities.set('x', entryOf({ kind: 'spell', fields: { title: 'x' } })),
    ],
    ['another verb', 'refused', () => peer.entities.set('x', entryOf({ kind: '../purge', fields: { text: 'cents' } }))],
    [
      'a settled proposal',
      'refused',
      () =>
        peer.entities.set(
          'x',
          entryOf({ kind: 'proposal', fields: { action: '["purge",{}]', standing: 'confirmed' } }),
        ),
    ],
    ['other ends', 'malformed', () => peer.links.get(link!)!.set('to', 'decision:cents')],
    [
      'a link to nothing',
      'refused',
      () => peer.links.set('x', entryOf({ from: 'decision:cents', to: 'decision:none', type: 'informs', fields: {} })),
    ],
    [
      'an entity among the links',
      'refused',
      () => peer.links.set('x', entryOf({ kind: 'decision', fields: { name: 'x' } })),
    ],
    ['the head', 'malformed', () => peer.doc.getMap('tidemark').set('project', 'another')],
  ]
  for (const [what, code, attack] of attacks) {
    attack()
    expect([what, reports.map((r) => r.code)]).toEqual([what, [code]])
    expect([what, reports[0]!.message.length > 0, JSON.stringify(reports).includes(token)]).toEqual([what, true, false])
    reports.length = 0
    agree()
    expect([what, rowsOf(t.memory)]).toEqual([what, rows])
  }
  expect(peer.doc.getMap('tidemark').get('project')).toBe(t.memory.projectId)

  // what is refused does not stop what is not
  peer.doc.transact(() => {
    peer.fields('decision:cents').set('impact', 99)
    peer.fields('decision:floats').set('impact', 1)
  })
  agree()
  expect([t.get('cents')!.fields.impact, t.get('floats')!.fields.impact]).toEqual([5, 1])
  expect(reports.map((r) => [r.code, r.id, r.peer])).toEqual([['refused', 'decision:cents', 'peer 1001']])
})

test('[M6] a peer binds nobody: a rule that it records, changes, retires or deletes waits for a person', async () => {
  const { t, peer, reports, agree } = await live()
  t.act([['record-fact', { fact: 'Run the tests before a commit', category: 'workflow' }]])
  const id = t.get('fact:run-the-tests-before-a-commit')!.id
  const rule = () => JSON.stringify([t.get(id)!.fields, t.get(id)!.live])
  const before = rule()
  const attacks = [
    () => peer.entities.delete(id),
    () => peer.entities.get(id)!.set('retired', 'no longer'),
    () => peer.fields(id).set('fact', 'Never run the tests'),
    () => peer.fields(id).set('standing', 'rejected'),
    () => peer.entities.set('x', entryOf({ kind: 'fact', fields: { fact: 'Push to main', standing: 'confirmed' } })),
    () => peer.links.set('x', entryOf({ from: 'fact:push-to-main', to: id, type: 'supersedes', fields: {} })),
  ]
  for (const attack of attacks) {
    attack()
    expect(reports.map((r) => [r.code, r.hint.includes('tidemark confirm ')])).toEqual([['proposed', true]])
    reports.length = 0
    agree()
    expect(rule()).toBe(before)
  }
  const waits = t.memory.reader.list('fact', { standing: 'proposed' })
  expect(waits.map((e) => e.fields.fact)).toEqual(['Push to main'])
  const { instructions } = t.library.brief() as unknown as { instructions?: string }
  expect(JSON.stringify([instructions, t.library.brief()])).not.toContain('Push to main')

  // the peer cannot say the person's yes
  peer.fields('fact:push-to-main').set('standing', 'confirmed')
  agree()
  expect(t.get('fact:push-to-main')!.fields.standing).toBe('proposed')
  const [deletion] = t.memory.reader.list('proposal', { all: true }).filter((e) => e.name.includes('delete-fact'))
  peer.fields(deletion!.id)?.set('standing', 'confirmed')
  expect(rule()).toBe(before)
  // the person can
  t.act([['confirm', { ref: deletion!.id }]])
  expect(t.get(id)!.live).toBe(false)
  agree()
})

test('[Y1] [M6] a peer’s change of what a person decided waits for a person', async () => {
  const { t, peer, reports, agree } = await live()
  t.act([['record-decision', { name: 'cents', description: 'Money in cents' }]], { by: 'person' })
  const id = 'decision:cents'
  for (const change of [
    () => peer.fields(id).set('description', 'Money in floats'),
    () => peer.entities.get(id)!.set('retired', 'no longer'),
    () => peer.entities.delete(id),
  ]) {
    change()
    expect(reports.splice(0).map((r) => r.code)).toEqual(['proposed'])
    agree()
    expect(t.get(id)).toMatchObject({ live: true, fields: { description: 'Money in cents' } })
  }
  expect(t.get(id)!.fields.retired).toBeUndefined()
})

test('[M6] what a peer says is unverified until somebody here confirms it', async () => {
  const { t, peer } = await live()
  t.act([
    ['record-decision', { name: 'cents', description: 'Money in cents' }],
    ['record-decision', { name: 'queue', description: 'Jobs wait in a queue' }],
  ])
  const vouched = (ref: string) => vouchedFor(t.memory, [t.get(ref)!.id]).size === 1
  expect([vouched('cents'), vouched('queue')]).toEqual([true, true])
  peer.fields('decision:cents').set('rationale', 'floats drift')
  peer.fields('decision:queue').set('topics', ['jobs']) // said beside it
  peer.entities.set('x', entryOf({ kind: 'decision', fields: { name: 'yen', description: 'Yen too' } }))
  expect([vouched('cents'), vouched('queue'), vouched('yen')]).toEqual([false, true, false])
  t.memory.compact(t.clock.now + 1)
  expect([vouched('cents'), vouched('queue'), vouched('yen')]).toEqual([false, true, false])
  t.act([
    ['confirm', { ref: 'yen' }],
    ['record-decision', { name: 'cents', rationale: 'floats drift, always' }],
  ])
  expect([vouched('cents'), vouched('yen')]).toEqual([true, true])
})

test('[J4] both sides write while they are cut; afterwards they are equal', async () => {
  const { t, peer, reports, agree } = await live()
  t.act(
    [
      ['record-decision', { name: 'cents', description: 'Money in cents' }],
      ['record-decision', { name: 'floats', description: 'Money in floats' }],
      ['record-concept', { name: 'ledger', definition: 'What is owed' }],
    ],
    { by: 'agent' },
  )
  peer.cut()
  t.act(
    [
      ['record-decision', { name: 'cents', description: 'All money in cents' }],
      ['delete-decision', { ref: 'floats' }],
      ['record-learning', { title: 'Yen have no cents' }],
    ],
    { by: 'agent' },
  )
  peer.fields('decision:cents').set('rationale', 'floats drift')
  peer.fields('decision:cents').set('description', 'Money in whole cents')
  peer.fields('decision:floats').set('rationale', 'fast')
  peer.entities.delete('concept:ledger')
  peer.entities.set('mine', entryOf({ kind: 'learning', fields: { title: 'Round at the end' } }))
  peer.connect()
  agree()
  expect(t.get('cents')!.fields.rationale).toBe('floats drift')
  expect(['All money in cents', 'Money in whole cents']).toContain(t.get('cents')!.fields.description)
  expect([t.get('floats')!.live, t.get('ledger')!.live]).toEqual([false, false])
  expect(
    t.memory.reader
      .list('learning')
      .map((e) => e.name)
      .sort(),
  ).toEqual(['Round at the end', 'Yen have no cents'])
  expect(reports).toEqual([])
})

test('[J5] a document that was away comes back: peers’ words are taken in, older words of the memory are not', async () => {
  const { t, handle, peer, agree } = await live()
  t.act([
    ['record-decision', { name: 'cents', description: 'Money in cents' }],
    ['record-decision', { name: 'queue', description: 'Jobs wait' }],
    ['record-learning', { title: 'The key is under the mat' }],
    ['record-learning', { title: 'Yen have no cents' }],
  ])
  agree()
  handle.close()
  t.clock.days(1)
  t.act([['record-decision', { name: 'cents', description: 'All money in cents' }]])
  t.act([['delete-learning', { ref: 'learning:yen-have-no-cents' }]])
  t.act([['purge', { ref: 'learning:the-key-is-under-the-mat', reason: 'it is nobody’s business' }]])
  peer.fields('decision:queue').set('rationale', 'bursts')
  peer.fields('decision:cents').set('rationale', 'floats drift') // of what changed here too: the memory has the last word
  peer.entities.set('x', entryOf({ kind: 'learning', fields: { title: 'Round at the end' } }))
  const again = await live({ t, doc: peer.doc, client: 1002 })
  again.agree()
  const { description, rationale } = t.get('cents')!.fields
  expect([description, rationale]).toEqual(['All money in cents', undefined])
  expect(t.get('queue')!.fields.rationale).toBe('bursts')
  expect(t.memory.reader.list('learning').map((e) => e.name)).toEqual(['Round at the end'])
  // erased words come back by no route
  const { doc, entities } = again.peer
  entities.set(
    'learning:the-key-is-under-the-mat',
    entryOf({ kind: 'learning', fields: { title: 'The key is under the mat' } }),
  )
  expect(again.reports.map((r) => r.code)).toEqual(['erased'])
  again.agree()
  expect(JSON.stringify(heldBy(doc))).not.toContain('under the mat')
})

test('[J6] one memory serves a document: the earlier one lets go; a document of another project is refused', async () => {
  const first = await live()
  first.t.act([['record-decision', { name: 'cents', description: 'Money in cents' }]])
  const second = await live({ t: first.t, doc: first.peer.doc, client: 1002 })
  expect(first.reports.map((r) => r.code)).toEqual(['taken-over'])
  first.t.act([['record-decision', { name: 'queue', description: 'Jobs wait' }]])
  second.agree()
  expect(first.handle.doc.getMap('entities').has('decision:queue')).toBe(true)
  const other = openTestMemory({ name: 'other' })
  await expect(other.library.yjs(first.peer.doc)).rejects.toMatchObject({ code: 'other-project' })
})

test('[J7] closed, the document and the memory let go of each other; what stays on the machine never enters it', async () => {
  const { t, handle, peer } = await live()
  t.act([['record-decision', { name: 'cents', description: 'Money in cents' }]])
  handle.close()
  handle.close()
  peer.fields('decision:cents').set('rationale', 'floats drift')
  t.act([['record-decision', { name: 'queue', description: 'Jobs wait' }]])
  expect(t.get('cents')!.fields.rationale).toBeUndefined()
  expect(peer.entities.has('decision:queue')).toBe(false)
  const again = await live({ t })
  again.t.library.close()
  again.peer.fields('decision:cents').set('rationale', 'floats drift')
  expect(again.reports).toEqual([])
  await expect(t.library.yjs()).rejects.toMatchObject({ code: 'closed' })
})
