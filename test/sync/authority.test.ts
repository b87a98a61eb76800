import { expect, test } from 'vitest'
import { vouchedFor } from '../../src/engine/replication/vouched.ts'
import { countWaiting, waitingChanges } from '../../src/engine/replication/waiting.ts'
import { HELD_DUE, heldOf } from '../../src/engine/store/held.ts'
import { type Line, parseLine, printSigned, seal, tombstoneOf } from '../../src/engine/store/line.ts'
import { allForked, lastArrival, linesAfter } from '../../src/engine/store/log.ts'
import { setMeta } from '../../src/engine/store/meta.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { brief } from '../../src/session/briefing/brief.ts'
import { TOOLS } from '../../src/surfaces/tools/index.ts'
import { writeSegment } from '../../src/travel/sync/segments.ts'
import { act, type Clone, decision, elsewhere, give, team, travelling } from './clones.ts'

const RULE = [['record-fact', { fact: 'Never commit secrets', category: 'constraint' }]]
const RULE_ID = 'fact:never-commit-secrets'

type Way = 'git' | 'updates'
const WAYS: readonly Way[] = ['git', 'updates']

/** Ana maintains; Mallory has cloned. What one says reaches the other through git's segments, or as updates. */
function two(way: Way) {
  const { clone } = team()
  const [ana, mallory] = [clone('ana'), clone('mallory')] as const
  const giveThem = (from: Clone, to: Clone) => {
    if (way === 'git') for (const c of [from, to]) elsewhere(c, () => c.share())
    else give(from, to)
  }
  const told = (c: Clone) => brief(c.memory, findProject(c.dir), { moment: c.clock.now }).text
  return { ana, mallory, give: giveThem, told }
}
const binds = (c: Clone, id = RULE_ID) => {
  const e = c.memory.reader.entity(id)
  return e?.live === true && e.fields.retired === undefined && vouchedFor(c.memory, [id]).has(id)
}

test.each(WAYS)(
  '[Y1] [M6] [T110] a rule that a clone retires goes on binding, until somebody here agrees (%s)',
  (way) => {
    const { ana, mallory, give, told } = two(way)
    act(ana, ...RULE)
    give(ana, mallory)
    act(mallory, ['retire', { ref: RULE_ID, reason: 'no longer' }])
    give(mallory, ana)
    expect(ana.memory.db.get('SELECT retired FROM entities WHERE id=?', RULE_ID)).toEqual({ retired: 1 })
    expect(binds(ana)).toBe(true)
    expect(told(ana)).toContain('Never commit secrets')
    expect(ana.memory.reader.list('fact').map((e) => e.id)).toEqual([RULE_ID])
    expect(ana.memory.reader.search('secrets', 5).map((e) => e.id)).toEqual([RULE_ID])
    if (way === 'git') expect(travelling(ana)).toBe(travelling(mallory))
    act(ana, ['confirm', { ref: RULE_ID }])
    expect(binds(ana)).toBe(false)
    expect(heldOf(ana.memory.db, RULE_ID)).toBeUndefined()
  },
)

test.each(WAYS)('[Y1] [M6] [T110] words of a decision that a clone changed stay mine, and I read both (%s)', (way) => {
  const { ana, mallory, give } = two(way)
  act(ana, decision('use pnpm', { rationale: 'one store for all packages' }))
  give(ana, mallory)
  act(mallory, decision('use pnpm', { rationale: 'because Mallory says so' }))
  act(mallory, ['delete-decision', { ref: 'decision:use-pnpm' }])
  give(mallory, ana)
  act(mallory, ['restore', { ref: 'decision:use-pnpm' }])
  give(mallory, ana)
  expect(ana.memory.reader.entity('decision:use-pnpm')).toMatchObject({
    live: true,
    fields: { rationale: 'one store for all packages' },
  })
})

test.each(WAYS)(
  '[Y1] [T112] the no says again what holds here, everywhere; who wrote otherwise reads it there (%s)',
  (way) => {
    const { ana, mallory, give } = two(way)
    act(ana, ...RULE, decision('use pnpm', { rationale: 'one store', topics: ['tools'] }))
    give(ana, mallory)
    act(mallory, decision('use pnpm', { rationale: 'because', topics: ['evil'], alternatives: ['npm'] }))
    act(mallory, ['delete-fact', { ref: RULE_ID }], decision('yarn'), ['supersede', { old: 'use pnpm', new: 'yarn' }])
    give(mallory, ana)
    const before = JSON.stringify(ana.memory.reader.entity('decision:use-pnpm')!.fields)
    expect(
      waitingChanges(ana.memory.db)
        .all.map((w) => `${w.by} ${w.wants}: ${w.entity.id}`)
        .sort(),
    ).toEqual([
      'mallory says otherwise: rationale "because", optionsConsidered ["npm"], status "superseded": decision:use-pnpm',
      'mallory says that "yarn" (decision:yarn) takes its place: decision:use-pnpm',
      `mallory wants to delete it: ${RULE_ID}`,
    ])
    act(ana, ['reject', { ref: RULE_ID }], ['reject', { ref: 'decision:use-pnpm' }])
    expect(ana.memory.db.all('SELECT id FROM held')).toEqual([])
    expect(binds(ana)).toBe(true)
    const now = ana.memory.reader.entity('decision:use-pnpm')!
    expect({ ...now.fields, provenance: 0, topics: 0 }).toEqual({ ...JSON.parse(before), provenance: 0, topics: 0 })
    give(ana, mallory)
    if (way === 'git') expect(travelling(ana)).toBe(travelling(mallory))
    expect(mallory.memory.reader.entity('decision:use-pnpm')!.fields.rationale).toBe('because')
  },
)

test.each(WAYS)('[Y1] [T110] what a clone says takes the place of mine does not hide it (%s)', (way) => {
  const { ana, mallory, give } = two(way)
  act(ana, decision('use pnpm'))
  give(ana, mallory)
  act(mallory, decision('use yarn'), ['supersede', { old: 'decision:use-pnpm', new: 'decision:use-yarn' }])
  give(mallory, ana)
  const names = ana.memory.reader.list('decision', { current: true }).map((e) => e.name)
  expect(names.sort()).toEqual(['use pnpm', 'use yarn'])
  expect(ana.memory.reader.entity('decision:use-pnpm')!.fields.status).toBeUndefined()
  expect(ana.memory.reader.links('to', 'decision:use-pnpm')).toEqual([])
})

test('[Y1] [T111] what waits is told in review, status, show, conflicts and at the next start, with who wants it', async () => {
  const { ana, mallory, give, told } = two('updates')
  act(ana, ...RULE, decision('use pnpm'))
  give(ana, mallory)
  act(mallory, ['retire', { ref: RULE_ID, reason: 'fix typo' }], decision('use pnpm', { rationale: 'evil' }))
  give(mallory, ana)
  const context = { memory: ana.memory, project: findProject(ana.dir), cwd: ana.dir } as never
  const text = async (name: string, args = {}) =>
    ((await (await TOOLS[name]!.load()).run(context, args as never)) as { text: string }).text
  expect(await text('review')).toContain('mallory, unverified, wants to retire it: "fix typo"')
  expect(await text('review')).toContain('mallory, unverified, says otherwise: rationale "evil"')
  expect(await text('status')).toContain('others want 2 changes')
  expect(await text('show', { ref: RULE_ID })).toContain('mallory, unverified, wants to retire it: "fix typo"')
  expect(await text('conflicts')).toContain('says otherwise: rationale "evil"')
  expect(told(ana)).toContain('mallory (unverified) wants to retire it: "fix typo"')
})

test('[Y1] [Y2] what waits is agreed to with the command that review prints, and by a key on a terminal', async () => {
  const { ana, mallory, give } = two('updates')
  act(ana, ...RULE, decision('use pnpm'), decision('use node'))
  give(ana, mallory)
  act(mallory, ['retire', { ref: RULE_ID, reason: 'fix typo' }], decision('use pnpm', { rationale: 'evil' }), decision('use node', { rationale: 'fast' })) // biome-ignore format: one row
  give(mallory, ana)
  const shown: string[] = []
  const meanwhile = async () => {
    act(mallory, decision('use node', { rationale: 'slow' }), decision('use node', { rationale: 'fast' }))
    give(mallory, ana)
    return true
  }
  const person = { memory: ana.memory, project: findProject(ana.dir), cwd: ana.dir, by: 'person' }
  const run = async (name: string, args: object, more: object) => {
    const tool = await TOOLS[name]!.load()
    const before = process.env.TIDEMARK_STATE!
    process.env.TIDEMARK_STATE = `${ana.dir}-state`
    try {
      return await tool.run({ ...person, ...more } as never, args as never)
    } finally {
      process.env.TIDEMARK_STATE = before
    }
  }
  const ask = async (question: string) => shown.push(question) > 0
  await expect(run('confirm', { ref: 'decision:use-node' }, { ask: meanwhile })).rejects.toThrow('stale')
  await run('confirm', { ref: RULE_ID }, { ask })
  expect(shown).toEqual([expect.stringContaining('mallory, unverified, wants to retire it: "fix typo"')])
  expect(binds(ana)).toBe(false)
  const keys = [...'ny']
  const pages: string[] = []
  const key = async (page: string) => {
    pages.push(page)
    return keys.shift()!
  }
  const done = (await run('review', {}, { key })) as { json: unknown }
  expect(
    pages.map((page) =>
      page
        .split('\n')
        .slice(1, 5)
        .join('')
        .replace(/ \(.*?\) +/, ''),
    ),
  ).toEqual([
    '1 of 2  decision: use node  because  decision:use-node mallory, unverified, says otherwise: rationale "fast"  just now',
    '2 of 2  decision: use pnpm  because  decision:use-pnpm mallory, unverified, says otherwise: rationale "evil"  just now',
  ])
  expect(done.json).toEqual({ confirmed: ['decision:use-pnpm'], rejected: ['decision:use-node'], left: 0 })
  expect(ana.memory.reader.entity('decision:use-pnpm')!.fields.rationale).toBe('evil')
  expect(ana.memory.reader.entity('decision:use-node')!.fields.rationale).not.toBe('fast')
  expect(waitingChanges(ana.memory.db).all).toEqual([])
})

test('[Y1] [T110] an agent here changes nothing of a rule that a clone retired meanwhile', () => {
  const { ana, mallory, give } = two('updates')
  act(ana, ...RULE)
  give(ana, mallory)
  act(mallory, ['retire', { ref: RULE_ID, reason: 'no' }])
  give(mallory, ana)
  const more = ['record-fact', { fact: 'Never commit secrets', category: 'constraint', context: 'unless it hurts' }]
  elsewhere(ana, () => ana.act([more], { by: 'agent', agent: 'a', session: 's' }))
  expect(ana.memory.reader.entity(RULE_ID)!.fields.context).toBeUndefined()
  expect(binds(ana)).toBe(true)
})

test('[Y1] [T111] a burst of one author is told as a count, and slows no reader', () => {
  const { ana, mallory, give, told } = two('updates')
  const facts = Array.from({ length: 40 }, (_, i) => [
    'record-fact',
    { fact: `Rule number ${i} holds`, category: 'tool' },
  ])
  act(ana, ...facts)
  give(ana, mallory)
  act(mallory, ...facts.map((_, i) => ['retire', { ref: `fact:rule-number-${i}-holds`, reason: 'no' }]))
  give(mallory, ana)
  expect(ana.memory.reader.list('fact')).toHaveLength(40)
  expect(told(ana)).toContain('mallory, unverified, wants 35 more changes')
})

test('[Y1] [T110] what a kind of my own means stays mine', () => {
  const { ana, mallory, give } = two('updates')
  const { batch } = act(ana, ['define-kind', { name: 'recipe', key: 'title', fields: { title: 'text', cook: 'text' } }])
  act(ana, ['record-recipe', { title: 'plum cake', cook: 'ana' }])
  give(ana, mallory)
  act(mallory, ['undo', { batch, force: true }])
  give(mallory, ana)
  expect(ana.memory.registry().kind('recipe')).toBeDefined()
  act(ana, ['record-recipe', { title: 'apple pie' }])
  expect(
    ana.memory.reader
      .list('recipe')
      .map((e) => e.name)
      .sort(),
  ).toEqual(['apple pie', 'plum cake'])
})

test('[Y1] [T113] what had come before this version counts as it did, and what comes after it waits', () => {
  const { ana, mallory, give } = two('updates')
  act(ana, decision('use pnpm', { rationale: 'one store' }))
  give(ana, mallory)
  act(mallory, decision('use pnpm', { rationale: 'it is fast' }))
  give(mallory, ana)
  const { db } = ana.memory
  setMeta(db, 'held_from', String(lastArrival(db)))
  setMeta(db, HELD_DUE, '1')
  ana.memory.settleTrust()
  const rationale = () => ana.memory.reader.entity('decision:use-pnpm')!.fields.rationale
  expect(rationale()).toBe('it is fast')
  act(mallory, decision('use pnpm', { rationale: 'evil' }))
  give(mallory, ana)
  expect(rationale()).toBe('it is fast')
})

test('[Y1] [T110] a store made again from its lines holds the same', () => {
  const { ana, mallory, give } = two('updates')
  act(ana, ...RULE, decision('use pnpm', { rationale: 'one store for all packages' }))
  give(ana, mallory)
  act(mallory, ['delete-fact', { ref: RULE_ID }], decision('use pnpm', { rationale: 'evil' }))
  give(mallory, ana)
  const before = ana.memory.db.all('SELECT id, body, lines, vouched FROM held ORDER BY id')
  expect(before).toHaveLength(2)
  ana.memory.rebuild()
  expect(ana.memory.db.all('SELECT id, body, lines, vouched FROM held ORDER BY id')).toEqual(before)
  expect(ana.memory.reader.search('secrets', 5).map((e) => e.id)).toEqual([RULE_ID])
  expect(ana.memory.reader.search('evil', 5)).toEqual([])
  expect(ana.memory.faults()).toEqual([])
})

/** Ana has a rule and a decision; Ben has confirmed the rule, Cid has read both. */
function four(way: Way) {
  const { clone } = team()
  const [ana, ben, cid, mallory] = ['ana', 'ben', 'cid', 'mallory'].map((name) => clone(name)) as [Clone, Clone, Clone, Clone] // biome-ignore format: one row
  const share = () => {
    for (let round = 0; round < 2; round++)
      for (const from of [ana, ben, cid, mallory])
        if (way === 'git') elsewhere(from, () => from.share())
        else for (const to of [ana, ben, cid, mallory]) if (to !== from) give(from, to)
  }
  act(ana, ...RULE, decision('use pnpm', { rationale: 'one store for all packages' }))
  share()
  act(ben, ['confirm', { ref: RULE_ID }])
  share()
  const logs = (c: Clone) => JSON.stringify(c.memory.db.all('SELECT replica, seq, line_text(line) AS line FROM log ORDER BY replica, seq')) // biome-ignore format: one row
  return { ana, ben, cid, mallory, act, share, logs }
}
const said = (c: Clone, id = RULE_ID) => c.memory.reader.entity(id)?.fields
const asks = (c: Clone) => waitingChanges(c.memory.db).all.map((w) => `${w.by} ${w.wants}: ${w.entity.id}`).sort() // biome-ignore format: one row

test.each(WAYS)(
  '[Y1] [T114] [T116] an erasure that its author does not ask for is a request: nothing is gone anywhere (%s)',
  (way) => {
    const { ana, ben, cid, mallory, act, share, logs } = four(way)
    const before = [ana, ben, cid].map(logs)
    act(
      mallory,
      ['purge', { ref: RULE_ID, reason: 'x' }],
      ['purge', { secret: 'one store for all packages', reason: 'x' }],
    )
    share()
    for (const [i, c] of [ana, ben, cid].entries())
    for (const { line } of JSON.parse(before[i]!) as { line: string }[]) expect(logs(c)).toContain(JSON.stringify(line).slice(1, -1)) // biome-ignore format: one row
    expect(ana.memory.occurrences('one store for all packages').some((o) => o.count > 0)).toBe(true)
    for (const c of [ana, ben]) expect(binds(c)).toBe(true)
    expect(said(ana, 'decision:use-pnpm')!.rationale).toBe('one store for all packages')
    // where nobody stands by it, it is hidden until somebody decides
    expect(said(cid)).toBeUndefined()
    expect(asks(ana)).toEqual(expect.arrayContaining([`mallory asks to erase it: ${RULE_ID}`]))
    expect(asks(cid)).toContain(`mallory asks to erase it; until you decide it is hidden: ${RULE_ID}`)
    // the author's yes erases it for good, everywhere
    act(ana, ['confirm', { ref: RULE_ID }])
    expect(asks(ana).filter((a) => a.includes(RULE_ID))).toEqual([])
    expect(ana.memory.occurrences('Never commit secrets').filter((o) => /store\.db/.test(o.file)).every((o) => o.count === 0)).toBe(true) // biome-ignore format: one row
    share()
    expect(logs(cid)).not.toContain('Never commit secrets')
    // Ben stood by it: he reads it until he decides
    expect(said(ben)).toMatchObject({ fact: 'Never commit secrets' })
    expect(binds(ben)).toBe(true)
    act(ben, ['reject', { ref: RULE_ID }])
    const again = ben.memory.reader.list('fact').map((e) => [e.name, binds(ben, e.id)])
    expect(again).toEqual([['Never commit secrets', true]])
  },
)

test.each(WAYS)('[Y1] [T114] the no keeps it, and what others asked is not asked again (%s)', (way) => {
  const { ana, cid, mallory, act, share } = four(way)
  act(mallory, ['purge', { ref: RULE_ID, reason: 'x' }])
  share()
  act(ana, ['reject', { ref: RULE_ID }])
  expect(asks(ana)).toEqual([])
  expect(binds(ana)).toBe(true)
  act(cid, ['reject', { ref: RULE_ID }])
  expect(said(cid)).toMatchObject({ fact: 'Never commit secrets' })
  share()
  expect(asks(ana)).toEqual([])
})

test.each(WAYS)(
  '[Y1] [T114] one unsigned line of nobody, or of a stranger, that names everything erases nothing (%s)',
  (way) => {
    const { ana, ben, act, share, logs } = four(way)
    act(ana, decision('use yarn'))
    share()
    const marks = linesAfter(ana.memory.db, 0).flatMap(
      (l) =>
    [...new Set(l.events.map((e) => e.entity))].map((id) => ({ replica: l.replica, seq: l.seq, hash: l.hash, entity: tombstoneOf(id) })), // biome-ignore format: one row
    )
    const line = seal({ replica: 'nobody1', seq: 1, prev: '', at: ana.clock.now, author: { user: 'ana' }, events: [], ctr: 1, purges: marks }) // biome-ignore format: one row
    const before = [ana, ben].map(logs)
    for (const c of [ana, ben]) {
      if (way === 'git') {
        writeSegment(c.dir, 'nobody1', 1, 1, [printSigned(line, { key: '', sig: '' })])
        c.receive()
      } else c.memory.applyLines({ lines: [line], snapshots: [] })
    }
    for (const [i, c] of [ana, ben].entries()) {
      const now = logs(c)
      for (const row of JSON.parse(before[i]!) as { line: string }[]) expect(now).toContain(JSON.stringify(row.line).slice(1, -1)) // biome-ignore format: one row
      expect(binds(c)).toBe(true)
    }
    expect(ana.memory.reader.list('decision')).toHaveLength(2)
  },
)

test('[Y1] [T114] who adds to what is mine may not erase it by erasing what they added', () => {
  const { ana, ben, mallory, act, share, logs } = four('updates')
  act(mallory, decision('use pnpm', { tags: ['x'], topics: ['y'] }))
  const { batch } = act(mallory, ['add-evidence', { ref: 'decision:use-pnpm', evidence: 'seen' }])
  expect(batch).toBeDefined()
  share()
  const own = linesAfter(mallory.memory.db, 0).filter((l) => batch!.startsWith(l.replica))
  const head = own.at(-1)!
  const purges = own.map((l) => ({ replica: l.replica, seq: l.seq, hash: l.hash, entity: tombstoneOf('decision:use-pnpm'), before: [] })) // biome-ignore format: one row
  const mine = linesAfter(ana.memory.db, 0).find((l) => l.events.some((e) => e.field === 'rationale'))!
  const deep = { replica: head.replica, seq: head.seq, hash: head.hash, entity: 'decision:use-pnpm', writes: [head.ctr], before: mine.events.map((e) => [e.stamp.replica, e.stamp.ctr] as const) } // biome-ignore format: one row
  elsewhere(mallory, () => {
    const line = seal({ replica: head.replica, seq: head.seq + 1, prev: head.hash, at: mallory.clock.now + 5, author: {}, events: [], ctr: head.events.at(-1)!.stamp.ctr + 1, purges: [...purges, deep] }) // biome-ignore format: one row
    const text = mallory.memory.printer()(line)
    for (const c of [ana, ben]) c.memory.applyLines({ lines: [parseLine(text)], snapshots: [] })
  })
  for (const c of [ana, ben]) {
    expect(logs(c)).toContain('one store for all packages')
    expect(said(c, 'decision:use-pnpm')).toMatchObject({ name: 'use pnpm', rationale: 'one store for all packages' })
  }
})

test.each(WAYS)(
  '[Y1] [T110] [T116] what an author changes of mine and what they erase of it, told together, leave mine as it was (%s)',
  (way) => {
    const { ana, mallory, give } = two(way)
    act(ana, ...RULE, decision('use pnpm', { rationale: 'one store for all packages' }))
    give(ana, mallory)
    for (const words of ['a first thing of Mallory', 'a second thing of Mallory']) {
      act(mallory, decision('use pnpm', { rationale: words }))
      act(mallory, ['record-fact', { fact: 'Never commit secrets', context: words }])
    }
    act(mallory, ['purge', { secret: 'a first thing of Mallory', reason: 'x' }])
    give(mallory, ana)
    expect(said(ana, 'decision:use-pnpm')!.rationale).toBe('one store for all packages')
    expect(said(ana)!.context).toBeUndefined()
    expect(binds(ana)).toBe(true)
  },
)

test('[Y1] [C6] [T110] what others folded away unbinds nothing here that it does not change', () => {
  const { ana, mallory, give } = two('updates')
  act(mallory, ...RULE)
  act(ana, ...RULE)
  mallory.memory.compact(mallory.clock.now + 60_000)
  give(mallory, ana)
  expect(binds(ana)).toBe(true)
})

test('[Y1] [C6] [T110] what others say as well unbinds nothing once both have folded it away', () => {
  const { ana, mallory, give } = two('updates')
  act(mallory, ...RULE)
  act(ana, ...RULE)
  give(mallory, ana)
  for (const c of [ana, mallory]) c.memory.compact(c.clock.now + 60_000)
  act(mallory, ['retire', { ref: RULE_ID, reason: 'x' }])
  give(mallory, ana)
  expect(binds(ana)).toBe(true)
})

test('[Y1] [C6] [T110] what waited here unbinds nothing once others agreed to it and folded it away', () => {
  const { ana, mallory, give } = two('updates')
  act(mallory, ...RULE)
  act(ana, ...RULE)
  give(mallory, ana)
  give(ana, mallory)
  act(mallory, ['confirm', { ref: RULE_ID }])
  mallory.memory.compact(mallory.clock.now + 60_000)
  give(mallory, ana)
  expect(binds(ana)).toBe(true)
})

/** Mallory erases at her own store what Ana wrote, folds it away, and tells Ana. */
function foldedErasure() {
  const { ana, mallory, give } = two('updates')
  act(mallory, ...RULE)
  act(mallory, ['purge', { ref: RULE_ID, reason: 'x' }])
  act(ana, ['record-fact', { fact: 'Never commit secrets', category: 'constraint', context: 'ever' }])
  give(ana, mallory)
  mallory.memory.compact(mallory.clock.now + 60_000)
  act(mallory, decision('use yarn'))
  give(mallory, ana)
  return { ana, act }
}

test('[Y1] [C6] [T114] [T116] an erasure that its author does not ask for takes nothing out of sight when it comes folded', () => {
  const { ana, act } = foldedErasure()
  // a folded state holds all that still counts of what it covers, so the row goes
  expect(ana.memory.db.get('SELECT live FROM entities WHERE id=?', RULE_ID)).toEqual({ live: 0 })
  expect(said(ana)).toMatchObject({ fact: 'Never commit secrets', context: 'ever' })
  expect(binds(ana)).toBe(true)
  act(ana, ['reject', { ref: RULE_ID }])
  expect(ana.memory.reader.list('fact').map((e) => [e.fields.context, binds(ana, e.id)])).toEqual([['ever', true]])
})

test('[Y1] [C6] [T112] what others changed and folded away is told as a change, and a yes to it erases nothing', () => {
  const { ana, mallory, give } = two('updates')
  act(ana, decision('use pnpm', { rationale: 'one store for all packages' }))
  give(ana, mallory)
  act(mallory, decision('use pnpm', { rationale: 'it is fast' }))
  mallory.memory.compact(mallory.clock.now + 60_000)
  give(mallory, ana)
  expect(waitingChanges(ana.memory.db).all.map((w) => w.wants)).toEqual([expect.stringContaining('it is fast')])
  act(ana, ['confirm', { ref: 'decision:use-pnpm' }])
  expect(said(ana, 'decision:use-pnpm')).toMatchObject({ rationale: 'it is fast' })
})

const KIND = { name: 'recipe', key: 'title', fields: { title: 'text' } }
const SAYS: readonly (readonly [id: string, field: string, say: (words: string) => unknown[]])[] = [
  ['decision:use-pnpm', 'rationale', (rationale) => decision('use pnpm', { rationale })],
  ['fact:use-pnpm', 'context', (context) => ['record-fact', { fact: 'use pnpm', category: 'constraint', context }]],
  ['project-kind:recipe', 'about', (about) => ['define-kind', { ...KIND, about }]],
  ['project-relation:sings-with', 'about', (about) => ['define-relation', { name: 'sings-with', about }]],
]
test.each(SAYS)('[Y1] [C6] [T110] %s: what others folded over it waits, and what I say is read', (id, field, say) => {
  for (const isRejected of [false, true]) {
    const { ana, mallory, give } = two('updates')
    act(ana, say('for now'))
    for (const c of [ana, mallory]) c.clock.now += 5_000
    act(mallory, say('as Mallory says'))
    mallory.memory.compact(mallory.clock.now + 60_000)
    give(mallory, ana)
    const reads = () => ana.memory.reader.entity(id)?.fields[field]
    expect(heldOf(ana.memory.db, id)?.frozen).toBe('folded')
    expect(reads()).toBe('for now')
    if (isRejected) act(ana, ['reject', { ref: id }])
    expect(heldOf(ana.memory.db, id)?.frozen).toBe(isRejected ? undefined : 'folded')
    expect(reads()).toBe('for now')
    act(ana, say('for ever'))
    expect(reads()).toBe('for ever')
    if (isRejected) {
      give(ana, mallory)
      expect(mallory.memory.db.get('SELECT body ->> ? AS now FROM entities WHERE id=?', field, id)).toEqual({
        now: 'for ever',
      })
    }
  }
})

test.each([true, false])(
  '[Y1] [C6] [T110] what others folded takes the place of mine only with my yes (%s)',
  (isYes) => {
    const { ana, mallory, give } = two('updates')
    act(ana, ...RULE)
    give(ana, mallory)
    for (const c of [ana, mallory]) act(c, ['record-fact', { fact: 'Commit what you like', category: 'constraint' }])
    act(mallory, ['supersede', { old: RULE_ID, new: 'fact:commit-what-you-like' }])
    mallory.memory.compact(mallory.clock.now + 60_000)
    give(mallory, ana)
    expect(binds(ana)).toBe(true)
    const [waits] = waitingChanges(ana.memory.db).all
    expect(waits).toMatchObject({
      entity: { id: RULE_ID },
      wants: 'says that "Commit what you like" (fact:commit-what-you-like) takes its place',
    })
    act(ana, [isYes ? 'confirm' : 'reject', { ref: RULE_ID }])
    expect(waitingChanges(ana.memory.db).all).toEqual([])
    expect(ana.memory.reader.list('fact').map((e) => e.id)).toHaveLength(isYes ? 1 : 2)
  },
)

test('[Y1] [C6] [T110] what I add to a list that others folded over lets none of theirs in', () => {
  const { ana, mallory, give } = two('updates')
  const options = (...optionsConsidered: string[]) => decision('use pnpm', { optionsConsidered })
  act(ana, options('npm'))
  for (const c of [ana, mallory]) c.clock.now += 5_000
  act(mallory, options('a package of Mallory'))
  mallory.memory.compact(mallory.clock.now + 60_000)
  give(mallory, ana)
  const reads = () => said(ana, 'decision:use-pnpm')!.optionsConsidered
  expect(reads()).toEqual(['npm'])
  act(ana, options('yarn'))
  expect(reads()).toEqual(['npm', 'yarn'])
})

test('[C6] [T40] an agent changes nothing that a person wrote, also once its lines are folded away', () => {
  const { ana } = two('updates')
  act(ana, decision('use pnpm', { rationale: 'one store for all packages' }))
  ana.memory.compact(ana.clock.now + 60_000)
  elsewhere(ana, () =>
    ana.act([decision('use pnpm', { rationale: 'I say so' })], { by: 'agent', agent: 'a', session: 's' }),
  )
  expect(said(ana, 'decision:use-pnpm')!.rationale).toBe('one store for all packages')
})

test('[T40] an agent changes nothing that a person confirmed, also where an agent of here wrote it', () => {
  const { ana } = two('updates')
  const agent = (...actions: unknown[]) =>
    elsewhere(ana, () => ana.act(actions, { by: 'agent', agent: 'a', session: 's' }))
  agent(decision('use pnpm', { rationale: 'one store for all packages' }))
  act(ana, ['confirm', { ref: 'decision:use-pnpm' }])
  agent(decision('use pnpm', { rationale: 'I say so' }))
  expect(said(ana, 'decision:use-pnpm')!.rationale).toBe('one store for all packages')
})

test('[Y1] [T111] [T114] a yes to what nobody is told of erases nothing', () => {
  const { clone } = team()
  const [ana, ben, mallory] = ['ana', 'ben', 'mallory'].map((name) => clone(name)) as [Clone, Clone, Clone]
  act(ben, ...RULE)
  give(ben, mallory)
  act(mallory, ['purge', { ref: RULE_ID, reason: 'x' }])
  act(ana, ...RULE)
  give(mallory, ana) // of Ben's line she has what Mallory left of it
  expect(asks(ana)).toEqual([])
  act(ana, ['confirm', { ref: RULE_ID }])
  expect(binds(ana)).toBe(true)
})

test('[Y1] [T110] [T112] what was left out of a line when I agreed waits when it comes', () => {
  const { clone } = team()
  const [ana, ben, mallory] = ['ana', 'ben', 'mallory'].map((name) => clone(name)) as [Clone, Clone, Clone]
  act(ben, ['record-fact', { fact: 'Never commit secrets', category: 'constraint', context: 'unless Ben says so' }])
  give(ben, mallory)
  act(mallory, ['purge', { ref: RULE_ID, reason: 'x' }])
  give(mallory, ana)
  act(ana, ...RULE)
  give(ben, ana)
  expect(said(ana)!.context).toBeUndefined()
  expect(binds(ana)).toBe(true)
  expect(asks(ana)).toEqual(expect.arrayContaining([expect.stringContaining('unless Ben says so')]))
  expect(ana.memory.faults()).toEqual([])
})

test('[Y1] [T110] a rule that I replaced with one of others stays replaced when they delete theirs', () => {
  const { ana, mallory, give } = two('updates')
  act(ana, ...RULE)
  act(mallory, ['record-fact', { fact: 'Commit no keys', category: 'constraint' }])
  give(mallory, ana)
  act(ana, ['supersede', { old: RULE_ID, new: 'fact:commit-no-keys' }])
  const told = () => ana.memory.reader.ids('fact', { current: true })
  expect(told()).not.toContain(RULE_ID)
  act(mallory, ['delete-fact', { ref: 'fact:commit-no-keys' }])
  give(mallory, ana)
  expect(told()).not.toContain(RULE_ID)
})

test('[Y1] [T115] where our own detector finds a secret it is hidden at once everywhere, and comes back with a no', () => {
  const { ana, cid, mallory, act, share, logs } = four('updates')
  const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}`
  // written before the detector knew it
  const { replica, seq, prev, ctr } = { replica: own(ana), ...headOf(ana) }
  const line = seal({ replica, seq: seq + 1, prev, at: ana.clock.now + 1, author: { user: 'ana' }, ctr: ctr + 1, events: eventsOf(replica, ana.clock.now + 1, ctr + 1, token) }) // biome-ignore format: one row
  const text = elsewhere(ana, () => ana.memory.printer()(line))
  for (const c of [ana, cid, mallory]) c.memory.applyLines({ lines: [parseLine(text)], snapshots: [] }, { own: c === ana }) // biome-ignore format: one row
  expect(said(ana, 'decision:token')!.rationale).toBe(token)
  act(mallory, ['purge', { ref: 'decision:token', reason: 'a secret' }])
  share()
  for (const c of [ana, cid]) {
    expect(JSON.stringify(said(c, 'decision:token') ?? '')).not.toContain(token)
    expect(logs(c)).toContain(token)
  }
  act(ana, ['reject', { ref: 'decision:token' }])
  expect(said(ana, 'decision:token')!.rationale).toBe(token)
})

test.each(WAYS)(
  '[Y1] [T117] an unsigned line gives up nobody’s identity, and is no line of anybody who signs (%s)',
  (way) => {
    const { ana, mallory: joiner } = two(way)
    act(ana, ...RULE)
    const tag = own(ana)
    const take = (c: Clone, replica: string, seq: number, line: Line) => {
      if (way === 'git') {
        writeSegment(c.dir, replica, seq, seq, [printSigned(line, { key: '', sig: '' })])
        c.receive()
      } else c.memory.applyLines({ lines: [line], snapshots: [] })
    }
    const at = ana.clock.now
    const unsigned = (replica: string, seq: number, more: object = {}) =>
    seal({ replica, seq, prev: '', at, author: { user: 'ana' }, events: eventsOf(replica, at, 1, 'evil'), ctr: 1, ...more }) // biome-ignore format: one row
    // a joiner meets a member by a line that nobody signed; the member, a line under its own name
    take(joiner, tag, 1, unsigned(tag, 1))
    take(ana, tag, 9, unsigned(tag, 9))
    for (const c of [ana, joiner]) expect(said(c, 'decision:token')).toBeUndefined()
    take(ana, 'old1234', 1, unsigned('old1234', 1))
    const forks = [{ replica: tag, from: 1 }, { replica: 'old1234', from: 1 }] // biome-ignore format: one row
    take(ana, 'nobody1', 1, unsigned('nobody1', 1, { events: [], forks }))
    expect(own(ana)).toBe(tag)
    expect(allForked(ana.memory.db)).toEqual([])
    elsewhere(ana, () => joiner.memory.applyUpdates(ana.memory.updatesSince().bytes))
    expect(said(joiner)).toMatchObject({ fact: 'Never commit secrets' })
    expect(allForked(joiner.memory.db)).toEqual([])
  },
)

const own = (c: Clone) => c.memory.db.get<{ value: string }>("SELECT value FROM meta WHERE key='replica'")!.value
const headOf = (c: Clone) => {
  const line = linesAfter(c.memory.db, 0).filter((l) => l.replica === own(c)).at(-1)! // biome-ignore format: one row
  return { seq: line.seq, prev: line.hash, ctr: line.events.at(-1)?.stamp.ctr ?? line.ctr }
}
const eventsOf = (replica: string, ms: number, ctr: number, rationale: string) =>
  (
    [
      ['$', { s: 'created', at: ms }],
      ['name', 'token'],
      ['rationale', rationale],
    ] as const
  ).map(([field, value], i) => ({ entity: 'decision:token', field, op: 'set' as const, value: value as never, stamp: { ms, ctr: ctr + i, replica }, over: [] })) // biome-ignore format: one row

/** Mallory says that another rule takes the place of Ana's, and may delete that again. */
function inItsPlace(isGone = false) {
  const { ana, mallory, give, told } = two('updates')
  act(ana, ...RULE)
  give(ana, mallory)
  act(mallory, ['record-fact', { fact: 'Keep secrets in the vault', category: 'constraint' }])
  act(mallory, ['supersede', { old: RULE_ID, new: 'fact:keep-secrets-in-the-vault' }])
  if (isGone) act(mallory, ['delete-fact', { ref: 'fact:keep-secrets-in-the-vault' }])
  give(mallory, ana)
  return { ana, told }
}

test('[Y1] [T110] a yes to what takes the place of my rule is one to that, and is shown with it: one of both binds', async () => {
  const { ana, told } = inItsPlace()
  const shown: string[] = []
  const tool = await TOOLS.confirm!.load()
  const person = { memory: ana.memory, project: findProject(ana.dir), cwd: ana.dir, by: 'person' }
  const ask = async (question: string) => shown.push(question) > 0
  const { text } = await tool.run({ ...person, ask } as never, { ref: RULE_ID } as never)
  expect(shown[0]).toContain('Keep secrets in the vault')
  expect(text).toContain('confirmed what others want of fact "Never commit secrets": mallory says that')
  expect(told(ana)).toContain('- Keep secrets in the vault')
  expect(told(ana)).not.toContain('Never commit secrets')
  // such a yes is not offered to be undone, and an undo says that it stands
  expect(text).not.toContain('takes it back')
  const undone = ana.memory.act([['undo', { batch: ana.memory.lastBatch!.batch }]], { by: 'person' })
  expect(undone.notes.join()).toContain('a yes to what others said stands')
})

test('[Y1] [A10] what another clone only wants is told as that, and a no to it with its reason', async () => {
  const { ana, mallory, give } = two('updates')
  act(ana, ...RULE, decision('use pnpm'))
  give(ana, mallory)
  act(mallory, ['retire', { ref: RULE_ID, reason: 'no longer' }])
  act(mallory, ['record-decision', { name: 'use pnpm', rationale: 'because Mallory says so' }])
  give(mallory, ana)
  const tool = await TOOLS.history!.load()
  const context = { memory: ana.memory, project: findProject(ana.dir) }
  const history = async (ref?: string) => (await tool.run(context as never, { ref } as never)).text
  const tellsWishes = async () => {
    expect(await history()).toContain('wants to retire "Never commit secrets": no longer')
    expect(await history()).toContain('wants to change "use pnpm" (rationale)')
    expect(await history(RULE_ID)).toContain('  wants: retired: no longer')
  }
  await tellsWishes()
  act(ana, ['reject', { ref: RULE_ID, reason: 'it holds' }])
  act(ana, ['reject', { ref: 'decision:use-pnpm' }])
  await tellsWishes()
  expect(await history()).toContain('rejected what others want of "Never commit secrets": it holds')
  expect((await history()).split('\n')[0]).toContain('rejected what others want of "use pnpm"')
  expect(await history(RULE_ID)).toContain('  rejected what others want: it holds')
  expect(await history(RULE_ID)).not.toContain('brought back')
  act(mallory, ['retire', { ref: RULE_ID, reason: 'still not' }])
  give(mallory, ana)
  act(ana, ['confirm', { ref: RULE_ID }])
  expect(await history()).toContain('  retired "Never commit secrets": still not')
})

test('[Y1] [A10] an undo that another clone wants is told as that, and a yes to what they want', async () => {
  const { ana, mallory, give } = two('updates')
  act(mallory, decision('use pnpm'))
  give(mallory, ana)
  act(ana, ['confirm', { ref: 'decision:use-pnpm' }])
  act(ana, ['record-decision', { name: 'use pnpm', rationale: 'fast' }])
  give(ana, mallory)
  const tool = await TOOLS.history!.load()
  const context = { memory: ana.memory, project: findProject(ana.dir) }
  const history = async (ref?: string) => (await tool.run(context as never, { ref } as never)).text
  const first = mallory.memory.newsSince(0).find((n) => n.summary.startsWith('recorded decision "use pnpm"'))!
  act(mallory, ['undo', { batch: first.batch, force: true }])
  give(mallory, ana)
  expect((await history()).split('\n')[0]).toContain('wants to take back: recorded decision "use pnpm"')
  act(mallory, ['redo', {}], ['record-decision', { name: 'use pnpm', rationale: 'small' }])
  give(mallory, ana)
  act(ana, ['confirm', { ref: 'decision:use-pnpm' }])
  expect((await history()).split('\n')[0]).toContain('accepted what others want of "use pnpm"')
  expect((await history('decision:use-pnpm')).split('\n').at(-1)).toBe('  accepted what others want')
})

test('[Y1] [A10] an undo of a yes to the rule of another clone does not say that it took it back', () => {
  const { ana, mallory, give } = two('updates')
  const person = { by: 'person' } as const
  act(ana, ['record-decision', { name: 'mine' }])
  act(mallory, ...RULE)
  give(mallory, ana)
  const { batch } = ana.memory.act([['confirm', { ref: RULE_ID }]], person)
  const before = ana.memory.cursor
  const named = ana.memory.act([['undo', { batch }]], person)
  expect([named.batch, ana.memory.cursor]).toEqual([null, before])
  const { results, notes } = ana.memory.act([['undo', {}]], person)
  expect(results[0]!.undone).toBe('took back: recorded decision "mine"')
  expect(notes.join()).toContain(`${RULE_ID}: a yes to what others said stands`)
})

test('[Y1] [A10] a line of another replica that says it turns something down hides nothing by that', async () => {
  const { ana } = two('updates')
  const { batch } = act(ana, decision('use pnpm'))
  const said = [
    ['decision:evil', '$', { s: 'created', at: ana.clock.now }],
    ['decision:evil', 'name', 'evil'],
    ['decision:evil', 'provenance', { keeps: 'x:1', reason: 'harmless; tidied up' }],
    ['decision:use-pnpm', 'provenance', { keeps: batch }],
  ] as const
  const at = ana.clock.now + 5
  const events = said.map(([entity, field, value], i) => ({ entity, field, op: field === 'provenance' ? 'add' as const : 'set' as const, value: value as never, stamp: { ms: at, ctr: i + 1, replica: 'nobody1' }, over: [] })) // biome-ignore format: one row
  const line = seal({ replica: 'nobody1', seq: 1, prev: '', at, author: { user: 'ben' }, events, ctr: 1, purges: [] })
  ana.memory.applyLines({ lines: [line], snapshots: [] })
  const tool = await TOOLS.history!.load()
  const context = { memory: ana.memory, project: findProject(ana.dir) }
  const history = async (ref?: string) => (await tool.run(context as never, { ref } as never)).text
  expect(await history()).toContain('recorded decision "evil"')
  expect(await history()).toContain('recorded decision "use pnpm"')
  expect(await history('decision:evil')).toContain('  name: evil')
  const all = (await Promise.all([history(), history('decision:evil'), history('decision:use-pnpm')])).join()
  expect(all).not.toMatch(/rejected|wants/)
})

test.each(WAYS)('[Y1] [A10] an undo of a no leaves what stands as it is, and says so (%s)', (way) => {
  const { ana, mallory, give } = two(way)
  act(ana, ...RULE, decision('use pnpm', { rationale: 'one store' }))
  give(ana, mallory)
  act(mallory, ['retire', { ref: RULE_ID, reason: 'old' }], decision('use pnpm', { rationale: 'evil' }))
  give(mallory, ana)
  const { batch } = act(ana, ['reject', { ref: RULE_ID, reason: 'it holds' }], ['reject', { ref: 'decision:use-pnpm' }])
  for (const args of [{}, { batch, force: true }, { batch }]) {
    const undone = ana.memory.act([['undo', args]], { by: 'person' })
    expect(undone.batch).toBeNull()
    expect(undone.notes.join()).toContain(`${RULE_ID}: a no to what others want stands`)
    expect(binds(ana)).toBe(true)
    expect(said(ana, 'decision:use-pnpm')!.rationale).toBe('one store')
  }
  act(ana, decision('mine'))
  expect(ana.memory.act([['undo', {}]], { by: 'person' }).results[0]!.undone).toContain('"mine"')
})

test('[Y1] a review at the terminal shows the words that would take a place, and one yes is to both', async () => {
  const { ana, told } = inItsPlace()
  const pages: string[] = []
  const key = async (page: string) => (pages.push(page) === 1 ? 'y' : 'q')
  const tool = await TOOLS.review!.load()
  const person = { memory: ana.memory, project: findProject(ana.dir), cwd: ana.dir, by: 'person' }
  await tool.run({ ...person, key } as never, {} as never)
  expect(pages[0]).toContain('constraint: Keep secrets in the vault')
  expect(pages).toHaveLength(1)
  expect(told(ana)).toContain('- Keep secrets in the vault')
})

test('[Y1] what would take a place and is gone is named so; a yes by a batch is shown and is to both rules', async () => {
  const run = async (isGone: boolean) => {
    const { ana, told } = inItsPlace(isGone)
    const shown: string[] = []
    const ask = async (question: string) => shown.push(question) > 0
    const person = { memory: ana.memory, project: findProject(ana.dir), cwd: ana.dir, by: 'person', ask }
    await (await TOOLS.act!.load()).run(person as never, { actions: [['confirm', { ref: RULE_ID }]] } as never)
    return { shown: shown[0], told: told(ana) }
  }
  const both = await run(false)
  expect(both.shown).toContain('constraint: Keep secrets in the vault')
  expect(both.told).toContain('- Keep secrets in the vault')
  expect((await run(true)).shown).toContain('which is gone, takes its place')
})

test('[Y1] somebody who agrees to what binds here already asks for nothing', () => {
  const { ana, mallory, give } = two('updates')
  act(ana, ...RULE)
  give(ana, mallory)
  mallory.memory.act([['confirm', { ref: RULE_ID }]], { by: 'person', user: 'mallory' })
  give(mallory, ana)
  expect(waitingChanges(ana.memory.db).all).toEqual([])
  expect(binds(ana)).toBe(true)
  const many = [...Array(16).keys()].map((i) => `Never do ${i}`)
  act(ana, ...many.map((f) => ['record-fact', { fact: f }]))
  give(ana, mallory)
  const ref = (f: string) => `fact:${f.toLowerCase().replaceAll(' ', '-')}`
  for (const f of many.slice(0, 10))
    mallory.memory.act([['confirm', { ref: ref(f) }]], { by: 'person', user: 'mallory' })
  for (const f of many.slice(10)) act(mallory, ['retire', { ref: ref(f), reason: 'old' }])
  give(mallory, ana)
  expect(countWaiting(ana.memory.db)).toBe(6)
})
