import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shown } from '../../src/scheme/invisible.ts'
import { claimsOf } from '../../src/work/coordination/claims.ts'
import { inbox } from '../../src/work/coordination/inbox.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { minute } from '../../src/work/handoff/page.ts'
import { unreadEdits } from '../../src/work/handoff/views/copies.ts'
import { decisionLine, decisionsView, readDecisionLine } from '../../src/work/handoff/views/decisions.ts'
import { ownViews, readEdits, refreshViews } from '../../src/work/handoff/views/refresh.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const MINUTE = 60_000

/** Acts as a tool does: edits by hand are read first, and the views follow. */
function act(m: TestMemory, actions: unknown[], session?: string) {
  if (session !== undefined && !sessionsOf(m.memory).get(session)) sessionsOf(m.memory).start({ id: session })
  const told = readEdits(m.memory, m.project)
  const done = m.act(actions, session === undefined ? {} : { session })
  return { ...done, told: [...told, ...refreshViews(m.memory, m.project)] }
}

const path = (m: TestMemory, name: string) => join(m.dir, '.tidemark', name)
const read = (m: TestMemory, name: string) => readFileSync(path(m, name), 'utf8')
const names = (m: TestMemory) =>
  readdirSync(join(m.dir, '.tidemark'))
    .filter((f) => f.endsWith('.md'))
    .sort()
/** What somebody does to a file in an editor. */
const edit = (m: TestMemory, name: string, change: (text: string) => string) =>
  writeFileSync(path(m, name), change(existsSync(path(m, name)) ? read(m, name) : ''))

const decided = (name: string, rationale: string) => ['record-decision', { name, rationale }]

describe('[P4] handoff.md', () => {
  test('[P4] lists all that are current, newest first, and goes when none is', () => {
    const m = openTestMemory()
    act(m, [['start-task', { description: 'auth' }]], 'a')
    act(m, [['write-handoff', { nextSteps: ['one'] }]], 'a')
    m.clock.now += MINUTE
    act(m, [['write-handoff', { nextSteps: ['two'], contextUsed: 80 }]], 'b')
    const text = read(m, 'handoff.md')
    expect(text.match(/^# Session Handoff$/gm)).toHaveLength(2)
    expect(text).toMatch(
      /^# Session Handoff\n\*\*For:\*\* session b\n\*\*Written:\*\* 2026-11-21 09:01\n\*\*Session context:\*\* 80% used\n\n## Next Steps\n1\. two\n/,
    )
    act(m, [['complete', {}]], 'a')
    expect(read(m, 'handoff.md')).not.toContain('auth')
    act(m, [['retire', { ref: 'handoff:session-b', reason: 'taken up' }]])
    expect(names(m)).toEqual([])
    expect(readFileSync(path(m, '.gitignore'), 'utf8')).toContain('/handoff.md\n/swarm-state.md\n/decisions.md\n')
  })

  test('[P4] an edit by hand becomes the handoff of that title, before the next action', () => {
    const m = openTestMemory()
    act(m, [['write-handoff', { nextSteps: ['one', 'two'], blockers: ['b'] }]], 'a')
    edit(m, 'handoff.md', (t) => t.replace('1. one', '1. zero\n1. one').replace('- b', '- b, by hand'))
    m.clock.now += MINUTE
    const done = act(m, [decided('d', 'r')], 'b')
    expect(done.told).toEqual(['.tidemark/handoff.md was edited by hand, and taken over: handoff "session a"'])
    const { fields } = m.get('handoff:session-a')!
    expect(fields).toMatchObject({ nextSteps: ['zero', 'one', 'two'], blockers: ['b, by hand'], session: 'a' })
    expect(fields.provenance).toMatchObject([{ agent: 'file', source: '.tidemark/handoff.md', user: 'tester' }])
    expect(JSON.stringify(fields.provenance)).not.toContain('"session"')
    expect(read(m, 'handoff.md')).toContain('1. zero\n2. one\n3. two\n')
    expect(act(m, [decided('e', 'r')], 'b').told).toEqual([])
  })

  test('[P4] what a page leaves out for its length survives an edit by hand', () => {
    const m = openTestMemory()
    const decisionsMade = Array.from({ length: 70 }, (_, i) => `decided ${i}`)
    act(m, [['write-handoff', { decisionsMade, nextSteps: ['go on'] }]], 'a')
    edit(m, 'handoff.md', (t) => t.replace('decided 3\n', 'decided three\n'))
    expect(refreshViews(m.memory, m.project)).toHaveLength(1)
    const kept = m.get('handoff:session-a')!.fields.decisionsMade as string[]
    expect(kept).toHaveLength(70)
    expect(kept[3]).toBe('decided three')
    expect(kept[69]).toBe('decided 69')
  })

  test.each([
    ['cut off in the middle', (t: string) => t.slice(0, t.length - 9), 'it ends in the middle'],
    ['emptied', () => '', 'it ends in the middle'],
    ['without its heading', () => 'just words\n', 'it is no handoff before its first'],
    ['with a handoff taken out', (t: string) => t.slice(t.indexOf('# Session', 5)), 'was taken out'],
  ])('[P4] %s, it is told and kept beside the one that is written anew', (_what, change, problem) => {
    const m = openTestMemory()
    act(m, [['write-handoff', { nextSteps: ['of a', 'the end'] }]], 'a')
    m.clock.now += MINUTE
    act(m, [['write-handoff', { nextSteps: ['of b', 'the end'] }]], 'b')
    const before = read(m, 'handoff.md')
    edit(m, 'handoff.md', change)
    const wrong = read(m, 'handoff.md')
    const told = refreshViews(m.memory, m.project)
    expect(told).toHaveLength(1)
    expect(told[0]).toContain(problem)
    expect(read(m, 'handoff.md')).toBe(before)
    const [aside] = unreadEdits(m.memory, m.dir)
    expect(read(m, aside!.aside)).toBe(wrong)
    expect(aside!.problems.join()).toContain(problem)
    expect(refreshViews(m.memory, m.project)).toEqual([])
  })
})

describe('[P4] decisions.md', () => {
  test('[P4] a line per decision is added and no line is ever changed', () => {
    const m = openTestMemory()
    act(m, [decided('b\\c', 'why'), decided('use-sqlite', 'no daemon | no port\nand simple')])
    const first = read(m, 'decisions.md')
    expect(first).toBe(
      '# Decisions\n\n2026-11-21 09:00 | b\\\\c | why\n2026-11-21 09:00 | use-sqlite | no daemon \\| no port and simple\n',
    )
    m.clock.now += MINUTE
    act(m, [decided('use-sqlite', 'another reason'), ['propose', { action: decided('maybe', 'p'), evidence: 'e' }]])
    expect(read(m, 'decisions.md')).toBe(first)
    act(m, [['confirm', { ref: 'maybe' }], decided('third', 'r')])
    expect(read(m, 'decisions.md').startsWith(first)).toBe(true)
    expect(read(m, 'decisions.md').slice(first.length)).toBe(
      '2026-11-21 09:01 | maybe | p\n2026-11-21 09:01 | third | r\n',
    )
  })

  test('[P4] what was decided stands before why; a decision from before its record has its own day', () => {
    const m = openTestMemory()
    const adr = {
      name: 'one-file',
      description: 'Keep all in one file.',
      rationale: 'No daemon',
      validFrom: '2025-03-02',
    }
    const named = { name: 'Use tabs', description: 'Use tabs', rationale: 'width' }
    act(m, [['record-decision', adr], ['record-decision', named], ['record-decision', { name: 'bare', description: 'only what' }]]) // biome-ignore format: three
    const lines = [
      '2025-03-02 | one-file | Keep all in one file; why: No daemon\n',
      '2026-11-21 09:00 | Use tabs | width\n',
      '2026-11-21 09:00 | bare | only what\n',
    ]
    expect(read(m, 'decisions.md')).toBe(`# Decisions\n\n${lines.join('')}`)
    // it has its line; and a line as it was written before says nothing new
    act(m, [decided('next', 'r')])
    expect(read(m, 'decisions.md').match(/one-file/g)).toHaveLength(1)
    edit(m, 'decisions.md', (t) => `${t}2026-11-21 09:00 | one-file | No daemon\n`)
    expect(refreshViews(m.memory, m.project)).toEqual([])
  })

  test('[P4] decisions of one batch stand in its order', () => {
    const m = openTestMemory()
    act(m, [decided('z-first', 'r'), decided('a-second', 'r')])
    m.clock.now += MINUTE
    act(m, [decided('y-third', 'r'), decided('b-fourth', 'r')])
    const names = read(m, 'decisions.md')
      .split('\n')
      .flatMap((line) => line.split(' | ')[1] ?? [])
    expect(names).toEqual(['z-first', 'a-second', 'y-third', 'b-fourth'])
  })

  test('[P4] whatever stands in a decision, its line is read back', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 }).map((t) => shown(t).replace(/\s+/g, ' ').trim())
    fc.assert(
      fc.property(
        text.filter((t) => t !== ''),
        text,
        fc.integer({ min: 0, max: 2e12 }),
        (name, rationale, at) => {
          expect(readDecisionLine(decisionLine(minute(at), name, rationale))).toEqual({ name, rationale })
        },
      ),
    )
  })

  test('[P4] a line that somebody adds is recorded; changed and lost lines are told and come back', () => {
    const m = openTestMemory()
    act(m, [decided('one', 'r1')])
    m.clock.now += MINUTE
    act(m, [decided('two', 'r2')])
    edit(m, 'decisions.md', (t) => `${t}2026-11-21 10:00 | by-hand | a \\| b\nwithout-time | c\n`)
    expect(refreshViews(m.memory, m.project)).toEqual([
      expect.stringContaining('decision "by-hand"; decision "without'),
    ])
    expect(m.get('decision:by-hand')!.fields).toMatchObject({ rationale: 'a | b' })
    expect(read(m, 'decisions.md').match(/by-hand/g)).toHaveLength(1)
    const before = read(m, 'decisions.md')
    edit(m, 'decisions.md', (t) => `${t.replace('r1', 'changed').replace(/^.*two.*\n/m, '')}a sentence\n`)
    const [told] = refreshViews(m.memory, m.project)
    expect(told).toContain('the line of "one" was changed')
    expect(told).toContain('1 line is gone')
    expect(told).toContain('no decision can be read in "a sentence"')
    expect(m.get('decision:one')!.fields.rationale).toBe('r1')
    expect(read(m, 'decisions.md')).toBe(before)
    edit(m, 'decisions.md', (t) => t.slice(0, -4))
    expect(refreshViews(m.memory, m.project)[0]).toContain('ends in the middle')
    expect(read(m, 'decisions.md')).toBe(before)
  })

  test('[P4] what is erased stands in no view', () => {
    const m = openTestMemory()
    act(m, [decided('keep', 'r'), decided('secret-plan', 'must go')])
    act(m, [['purge', { ref: 'decision:secret-plan', reason: 'asked' }]])
    expect(read(m, 'decisions.md')).toBe('# Decisions\n\n2026-11-21 09:00 | keep | r\n')
    expect(readFileSync(path(m, 'local/views/decisions.md'), 'utf8')).not.toContain('secret-plan')
  })
})

describe('[P4] the views', () => {
  test('[P4] a view that somebody deletes comes back with the next action', () => {
    const m = openTestMemory()
    act(m, [decided('one', 'r1')])
    const before = read(m, 'decisions.md')
    edit(m, 'decisions.md', () => '')
    refreshViews(m.memory, m.project)
    expect(read(m, 'decisions.md')).toBe(before)
    expect(ownViews(m.dir)).toEqual(['decisions.md'])
    edit(m, 'decisions.md', (t) => `${t}x`)
    expect(ownViews(m.dir)).toEqual([])
  })

  test('[P4] what concerns no view costs no write, and no view ever fails an action', () => {
    const m = openTestMemory()
    act(m, [decided('one', 'r1')])
    const state = path(m, 'local/views/state.json')
    const before = readFileSync(state, 'utf8')
    for (let i = 0; i < 5; i++) act(m, [['record-fact', { fact: `fact ${i}` }]])
    expect(readFileSync(state, 'utf8')).toBe(before)
    writeFileSync(state, 'no json')
    act(m, [decided('two', 'r')])
    expect(read(m, 'decisions.md').split('\n')).toHaveLength(5)
    const bare = openTestMemory()
    expect(refreshViews(bare.memory, { ...bare.project, root: join(bare.dir, 'nowhere') })).toEqual([])
  })
})

test('[P4] the library reads edits before it writes, and a view that cannot be written fails nothing', () => {
  const m = openTestMemory()
  m.library.act([['record-decision', { name: 'one', rationale: 'r1' }]])
  edit(m, 'decisions.md', (t) => `${t}two | r2\n`)
  const done = m.library.act([['record-decision', { name: 'three', rationale: 'r3' }]])
  expect(done.notes).toEqual(['.tidemark/decisions.md was edited by hand, and taken over: decision "two"'])
  m.library.goal('finish').complete('done')
  expect(read(m, 'decisions.md').match(/\| (one|two|three) \|/g)).toHaveLength(3)
  rmSync(path(m, 'decisions.md'))
  mkdirSync(path(m, 'decisions.md'))
  const acted = m.library.act([['record-decision', { name: 'four', rationale: 'r4' }]])
  expect(acted.notes.at(-1)).toContain('the files in .tidemark/ are not up to date: ')
  expect(m.get('decision:four')).toBeDefined()
  rmSync(path(m, 'decisions.md'), { recursive: true })
  m.library.act([['record-decision', { name: 'five', rationale: 'r5' }]])
  expect(read(m, 'decisions.md').match(/\| (four|five) \|/g)).toHaveLength(2)
})

describe('[P4] swarm-state.md', () => {
  const swarm = (m: TestMemory) => read(m, 'swarm-state.md')

  test('[P4] a block per role in the form of the concept paper, until the goal is complete', () => {
    const m = openTestMemory()
    act(m, [['start-goal', { originalAsk: 'auth' }]], 'a')
    act(m, [['claim', { paths: ['specs/auth.md'], role: 'test-writer', more: { mood: 'calm' } }]], 'a')
    m.clock.now += MINUTE
    act(m, [['release', { status: 'complete', result: '12 tests, all RED', handoff: 'ready for implementer' }]], 'a')
    act(m, [['claim', { paths: ['src/auth'], role: 'implementer', dependsOn: ['test-writer'] }]], 'b')
    expect(swarm(m)).toBe(
      `# Swarm State

## test-writer (2026-11-21 09:01)
status: complete
claimed: specs/auth.md
result: 12 tests, all RED
handoff: ready for implementer
mood: calm

## implementer (2026-11-21 09:01)
status: active
claimed: src/auth
depends-on: test-writer
`,
    )
    act(m, [['release', { status: 'blocked', result: 'no key' }]], 'b')
    expect(swarm(m)).toContain('status: blocked\nclaimed: src/auth\nresult: no key\n')
    act(m, [['complete', { ref: 'goal:auth', force: true }]], 'a')
    expect(existsSync(path(m, 'swarm-state.md'))).toBe(false)
  })

  test('[P4] a block that somebody writes or changes is a claim or a release; the last of a role counts', () => {
    const m = openTestMemory()
    refreshViews(m.memory, m.project) // as `init` does
    edit(
      m,
      'swarm-state.md',
      () => `# Swarm State

## test-writer (2026-11-21 08:00)
status: blocked

## test-writer (2026-11-21 08:30)
status: active
claimed: specs/auth.md → tests/auth.test.ts
result: pending
shift: night
`,
    )
    expect(refreshViews(m.memory, m.project)).toEqual([
      '.tidemark/swarm-state.md was edited by hand, and taken over: test-writer claims specs/auth.md, tests/auth.test.ts',
    ])
    expect(swarm(m)).toContain(
      'status: active\nclaimed: specs/auth.md, tests/auth.test.ts\nresult: pending\nshift: night\n',
    )
    expect(() => act(m, [['claim', { paths: ['specs'] }]], 'other')).toThrow(
      'specs/auth.md is claimed by hand:test-writer',
    )
    edit(m, 'swarm-state.md', (t) =>
      t.replace('status: active', 'status: complete').replace('result: pending', 'result: 12 tests\nhandoff: go on'),
    )
    expect(refreshViews(m.memory, m.project)).toEqual([expect.stringContaining('test-writer is complete')])
    expect(swarm(m)).toContain('status: complete')
    expect(swarm(m)).toContain('result: 12 tests\nhandoff: go on\nshift: night\n')
    act(m, [['claim', { paths: ['specs'] }]], 'other')
  })

  test('[P4] what somebody takes out of an active block is given up, and stays out', () => {
    const m = openTestMemory()
    act(m, [['claim', { paths: ['docs', 'README.md'], role: 'writer', dependsOn: ['designer'], more: { mood: 'calm' } }]], 'a') // biome-ignore format: one thought
    edit(m, 'swarm-state.md', (t) => t.replace('docs, README.md', 'README.md').replace(/depends-on.*\nmood.*\n/, ''))
    expect(refreshViews(m.memory, m.project)).toEqual([
      '.tidemark/swarm-state.md was edited by hand, and taken over: writer claims README.md; writer gives up docs',
    ])
    expect(swarm(m)).toMatch(/^# Swarm State\n\n## writer \(.*\)\nstatus: active\nclaimed: README\.md\n$/)
    act(m, [['claim', { paths: ['docs'] }]], 'b')
    edit(m, 'swarm-state.md', (t) => t.replace('claimed: README.md\n', ''))
    refreshViews(m.memory, m.project)
    expect(swarm(m)).toMatch(/^# Swarm State\n\n## writer \(.*\)\nstatus: active\n$/)
    act(m, [['claim', { paths: ['README.md'] }]], 'b')
  })

  test('[P4] a task in a block that somebody edits stays a task', () => {
    const m = openTestMemory()
    sessionsOf(m.memory).start({ id: 'a' })
    act(m, [
      ['add-task', { description: 'T' }],
      ['assign-task', { task: 'T', to: 'a', role: 'coder' }],
    ])
    edit(m, 'swarm-state.md', (t) => `${t}shift: night\n`)
    expect(refreshViews(m.memory, m.project)).toEqual([expect.stringMatching(/taken over: coder claims task:\w+$/)])
    expect(claimsOf(m.memory).held()).toMatchObject([{ session: 'a', what: 'task', more: { shift: 'night' } }])
    expect(swarm(m)).toContain('shift: night')
  })

  test('[P4] [X4] whose claims somebody changes by hand hears of it', () => {
    const m = openTestMemory()
    act(m, [['claim', { paths: ['docs', 'README.md'], role: 'writer' }]], 'a')
    const since = m.memory.cursor
    edit(m, 'swarm-state.md', (t) => t.replace('docs, README.md', 'README.md, LICENSE'))
    refreshViews(m.memory, m.project)
    const told = inbox(m.memory, 'a', { since }).lines
    expect(told).toContain('you were given LICENSE, by hand in .tidemark/swarm-state.md')
    expect(told).toContain('docs was taken from you, by hand in .tidemark/swarm-state.md')
    const after = m.memory.cursor
    edit(m, 'swarm-state.md', (t) => t.replace('status: active', 'status: blocked\nresult: wait for legal'))
    refreshViews(m.memory, m.project)
    expect(inbox(m.memory, 'a', { since: after }).lines).toContain(
      'LICENSE was taken from you, by hand in .tidemark/swarm-state.md: blocked; wait for legal',
    )
    act(m, [['claim', { paths: ['docs'] }]], 'a')
    expect(inbox(m.memory, 'a', { since: m.memory.cursor - 1 }).lines).toEqual([])
  })

  test('[P4] [X6] who edits by hand is no session that a task is given to, and is at work only while it holds something', () => {
    const m = openTestMemory()
    refreshViews(m.memory, m.project)
    edit(
      m,
      'swarm-state.md',
      () => '## designer\nstatus: complete\nclaimed: a\n\n## coder\nstatus: active\nclaimed: b\n',
    )
    refreshViews(m.memory, m.project)
    expect(
      sessionsOf(m.memory)
        .list()
        .map((s) => s.id),
    ).toEqual(['hand:coder'])
    expect(swarm(m)).toMatch(/designer \(.*\)\nstatus: complete/)
    act(m, [['add-task', { description: 'T' }]])
    expect(() => act(m, [['assign-task', { task: 'T', role: 'coder' }]])).toThrow('no other session is free')
  })

  test('[P4] a status of its own is told, and nothing of the file is lost', () => {
    const m = openTestMemory()
    act(m, [['claim', { paths: ['src/auth'], role: 'implementer' }]], 'a')
    const before = swarm(m)
    edit(m, 'swarm-state.md', (t) => t.replace('status: active', 'status: nearly'))
    expect(refreshViews(m.memory, m.project)[0]).toContain(
      'implementer: status "nearly" is none of active, complete, blocked, abandoned',
    )
    expect(swarm(m)).toBe(before)
    edit(m, 'swarm-state.md', (t) => t.slice(0, -5))
    expect(refreshViews(m.memory, m.project)[0]).toContain('it ends in the middle')
    edit(m, 'swarm-state.md', () => '# Swarm State\n')
    expect(refreshViews(m.memory, m.project)[0]).toContain('the block of implementer was taken out: its claim stands')
    expect(swarm(m)).toBe(before)
    expect(unreadEdits(m.memory, m.dir)).toHaveLength(3)
  })

  test('[P4] [X6] who is gone is shown as abandoned, and what it held is free', () => {
    const m = openTestMemory()
    act(m, [['claim', { paths: ['src/auth'], role: 'implementer' }]], 'a')
    m.clock.now += 31 * MINUTE
    act(m, [['claim', { paths: ['src/auth'], role: 'second' }]], 'b')
    expect(swarm(m)).toContain('## implementer (2026-11-21 09:31)\nstatus: abandoned\nclaimed: src/auth\n')
    expect(swarm(m)).toContain('## second (2026-11-21 09:31)\nstatus: active\n')
    sessionsOf(m.memory).end('b')
    refreshViews(m.memory, m.project)
    expect(swarm(m)).toMatch(/## second \(.*\)\nstatus: abandoned/)
  })
})

test('[P4] decisions.md: a decision that is called what another gave as its reason has a line of its own', () => {
  const m = openTestMemory()
  act(m, [decided('sign with RS256', 'key rotation')])
  act(m, [decided('key rotation', '')])
  act(m, [decided('key rotation', 'every month')])
  expect(
    read(m, 'decisions.md')
      .split('\n')
      .filter((line) => line.includes(' | '))
      .map((line) => line.slice(16)),
  ).toEqual([' | sign with RS256 | key rotation', ' | key rotation |'])
})

test('[P4] decisions.md: an editor that writes CRLF has changed nothing; a line it adds is taken over', () => {
  const m = openTestMemory()
  act(m, [decided('one', 'a'), decided('two', 'b')])
  edit(m, 'decisions.md', (text) => `${text}2026-11-01 09:00 | three | c\n`.replaceAll('\n', '\r\n'))
  expect(act(m, [decided('four', 'd')]).told.join()).toContain('taken over: decision "three"')
  expect(unreadEdits(m.memory, m.dir)).toEqual([])
  expect(read(m, 'decisions.md')).not.toContain('\r')
})

/** What a merge leaves of two sides that both added something. */
const conflicted = (ours: string, theirs: string) =>
  `<<<<<<< Updated upstream\n${ours}=======\n${theirs}>>>>>>> Stashed changes\n`

test.each([
  ['handoff.md', (t: string) => t.replace(/1\. one\n/, conflicted('1. ours\n', '1. theirs\n'))],
  [
    'handoff.md',
    (t: string) => `${t}\n${conflicted('## Blockers\n- ours\n', '# Session Handoff\n## Blockers\n- theirs\n')}`,
  ],
  ['swarm-state.md', (t: string) => `${t}\n${conflicted('## w1\nstatus: active\n', '## w2\nstatus: active\n')}`],
  ['decisions.md', (t: string) => t + conflicted('ours | r\n', 'theirs | r\n')],
  ['decisions.md', (t: string) => `${t}ours | r\n>>>>>>> Stashed changes\n`], // settled by half
  ['decisions.md', (t: string) => (t + conflicted('ours | r\n', 'theirs | r\n')).replaceAll('\n', '\r\n')],
])("[P4] git's conflict markers in %s are told and kept, and nothing of it is read back", (name, change) => {
  const m = openTestMemory()
  act(
    m,
    [decided('d', 'r'), ['claim', { role: 'lead', paths: ['src'] }], ['write-handoff', { nextSteps: ['one'] }]],
    'a',
  )
  const before = read(m, name)
  const cursor = m.memory.cursor
  edit(m, name, change)
  const wrong = read(m, name)
  const line = wrong.split(/\r?\n/).findIndex((l) => /^[<>]{7} /.test(l)) + 1
  const [told, ...more] = refreshViews(m.memory, m.project)
  expect(more).toEqual([])
  expect(told).toContain(`${name} was not read: git's conflict markers (line ${line}`)
  expect(told).toContain('settle')
  expect(m.memory.cursor).toBe(cursor)
  expect(read(m, name)).toBe(before)
  const [aside, ...others] = unreadEdits(m.memory, m.dir)
  expect(others).toEqual([])
  expect(read(m, aside!.aside)).toBe(wrong)
  expect(told).toContain(aside!.aside)
})

test('[P4] a page that speaks of conflict markers itself can be edited by hand', () => {
  const m = openTestMemory()
  const body = '<<<<<<< HEAD\nis how a conflict begins'
  act(m, [['write-handoff', { body, nextSteps: ['one'] }]], 'a')
  edit(m, 'handoff.md', (t) => t.replace('1. one', '1. two'))
  expect(act(m, [decided('d', 'r')], 'b').told[0]).toContain('taken over')
  expect(m.get('handoff:session-a')!.fields).toMatchObject({ body, nextSteps: ['two'] })
})

describe('[P4] a line by hand is a new decision, and changes none that is there', () => {
  const told = (m: TestMemory) => refreshViews(m.memory, m.project)
  const rationale = (m: TestMemory, name: string) => m.get(`decision:${name}`)!.fields.rationale

  test.each([
    ['below its line', (t: string) => `${t}2026-11-21 11:00 | use-sqlite | by hand\n`],
    ['above its line', (t: string) => t.replace('\n\n', '\n\nUse SQLite | by hand\n')],
    ['without a reason', (t: string) => `${t}2026-11-21 11:00 | use-sqlite\n`],
  ])('[P4] a line of a decision that is there, %s, is told and kept', (_where, change) => {
    const m = openTestMemory()
    act(m, [decided('use-sqlite', 'one file'), decided('other', 'r')])
    const before = read(m, 'decisions.md')
    edit(m, 'decisions.md', change)
    const wrong = read(m, 'decisions.md')
    const [one, ...more] = told(m)
    expect(more).toEqual([])
    expect(one).toMatch(/there is a decision "use-sqlite" already.*record-decision.*supersede/)
    expect(one).not.toContain('taken over')
    expect(rationale(m, 'use-sqlite')).toBe('one file')
    expect(read(m, 'decisions.md')).toBe(before)
    expect(read(m, unreadEdits(m.memory, m.dir)[0]!.aside)).toBe(wrong)
  })

  test('[P4] of two new lines of one name the first is the decision; new names beside it are taken over', () => {
    const m = openTestMemory()
    act(m, [decided('old', 'r')])
    edit(m, 'decisions.md', (t) => `${t}twin | first\nfresh | r\nTwin | second\nold | again\n`)
    const all = told(m).join('\n')
    expect(all).toContain('taken over: decision "twin"; decision "fresh"')
    expect(all.match(/there is a decision "(twin|old)" already/g)).toHaveLength(2)
    expect([rationale(m, 'twin'), rationale(m, 'fresh'), rationale(m, 'old')]).toEqual(['first', 'r', 'r'])
  })

  test('[P4] a line that says what is known anyway is nothing new, also where the copies are gone', () => {
    const m = openTestMemory()
    act(m, [decided('a', 'r1'), decided('b', 'r2')])
    act(m, [decided('b', 'r2, as we know now')])
    edit(m, 'decisions.md', (t) => `${t}2026-11-21 12:00 | a | r1\n`)
    expect(told(m)).toEqual([])
    rmSync(path(m, 'local/views'), { recursive: true })
    const text = told(m).join('\n')
    expect(rationale(m, 'b')).toBe('r2, as we know now')
    expect(text).not.toContain('"a"')
  })

  test('[P4] a decision that somebody takes the name of in the same moment is not overwritten', () => {
    const m = openTestMemory()
    const { actions } = decisionsView.read({ memory: m.memory, project: m.project }, '# Decisions\n\nx | by hand\n', '')
    m.act([decided('x', 'was first')])
    expect(m.refused([actions[0]!.action])[0]!.message).toContain('stale')
    expect(rationale(m, 'x')).toBe('was first')
  })
})
