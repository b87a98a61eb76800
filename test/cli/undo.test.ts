import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/surfaces/cli/commands/index.ts'
import { GLOBAL } from '../../src/surfaces/cli/help.ts'
import { TOOLS } from '../../src/surfaces/tools/index.ts'
import { agreeing, inProcess, onTerminal, project } from './run.ts'

const decide = (name: string) => JSON.stringify([['record-decision', { name, rationale: 'because' }]])

/** Two decisions of session a, one of session b after them. */
async function written() {
  const { at, run } = await project()
  for (const name of ['a1', 'a2']) await run('act', decide(name), '--session', 'a')
  await run('act', decide('b1'), '--session', 'b')
  const names = async () =>
    (JSON.parse(await run('discover', '(sort (map :name (get-decisions)) string<?)', '--json')) as { text?: string }) &&
    (await run('discover', '(sort (map :name (get-decisions)) string<?)')).trim()
  return { at, run, names }
}

describe('[A10] undo on the command line', () => {
  test('[A10] [T1] --session is the acting session: --last takes back its last batch, a batch only itself', async () => {
    const { run, names } = await written()
    expect(await run('undo', '--last', '--session', 'a')).toContain('took back: recorded decision "a2"')
    expect(await names()).toBe('("a1" "b1")')
    await run('act', decide('b2'), '--session', 'b')
    const { batch: named } = JSON.parse(await run('act', decide('b3'), '--session', 'b', '--json')) as { batch: string }
    await run('undo', named, '--session', 'b')
    expect(await names()).toBe('("a1" "b1" "b2")')
  })

  test('[A10] [T2] --all-of shows what goes and asks on a terminal; in a pipe it waits for the person', async () => {
    const { at, run, names } = await written()
    expect(await run('undo', '--all-of', 'a', '--yes')).toMatch(
      /^proposed to take back: recorded decision "a2"; recorded decision "a1"\nnote: .*once a person says yes/,
    )
    expect(await names()).toBe('("a1" "a2" "b1")')
    const no = await onTerminal(at, ['undo', '--all-of', 'a'], 'n')
    expect(no.out).toMatch(
      /session a wrote 2 batches:\n.* recorded decision "a1"\n.* recorded decision "a2"\ntake all of it back\? \[y\/N\] n\ntidemark: nothing was undone/,
    )
    expect(no.code).toBe(1)
    expect((await onTerminal(at, ['undo', '--all-of', 'a'], '')).out).toContain('nothing was undone')
    expect(await names()).toBe('("a1" "a2" "b1")')
    await run('act', '[["retire", {"ref": "a1", "reason": "wrong"}]]', '--session', 'b')
    const most = await onTerminal(at, ['undo', '--all-of', 'a'], 'y')
    expect(most.out).toContain(
      'note: decision:a1: changed or linked since, and left as it is; with force it goes as well\ntidemark redo',
    )
    await onTerminal(at, ['undo', '--last', '--session', 'b'])
    const yes = await onTerminal(at, ['undo', '--all-of', 'a'], 'y')
    expect(yes.out).toContain('took back')
    expect(await names()).toBe('("b1")')
    expect((await onTerminal(at, ['undo', '--all-of', 'b', '--yes'])).out).toContain('took back')
    expect(await names()).toBe('()')
    for (const yes of [['--yes'], []])
      expect((await inProcess(at, ['undo', '--all-of', 'nobody', ...yes])).err).toContain('there is nothing to undo')
    expect((await inProcess(at, ['undo', 'x:1', '--all-of', 'a'])).code).toBe(2)
  })
})

test('[A10] undo said twice goes two steps back, redo as many forward, until something else is written', async () => {
  const { at, run, names } = await written()
  const a = ['--session', 'a'] as const
  expect(await run('undo', ...a)).toBe('took back: recorded decision "a2"\ntidemark redo brings it back\n')
  expect(await run('undo', ...a)).toContain('took back: recorded decision "a1"')
  expect(await names()).toBe('("b1")')
  expect((await inProcess(at, ['undo', ...a])).err).toContain('there is nothing to undo')
  expect(await run('redo', ...a)).toBe('redid: recorded decision "a1"\ntidemark undo takes it back\n')
  expect(await run('redo', ...a)).toContain('redid: recorded decision "a2"')
  expect(await names()).toBe('("a1" "a2" "b1")')
  expect((await inProcess(at, ['redo', ...a])).err).toContain('there is nothing to redo')
  expect(await run('undo', ...a)).toContain('took back: recorded decision "a2"')
  await run('act', decide('a3'), ...a)
  expect((await inProcess(at, ['redo', ...a])).err).toContain('there is nothing to redo')
  expect(await run('undo', ...a)).toContain('"a3"')
  expect(await run('undo', ...a)).toContain('"a1"')
})

test('[A10] [T5] of an agent on the command line, taking back another session’s work waits for a person', async () => {
  const { at, names } = await written()
  for (const yes of [['--yes'], []]) {
    const agents = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
    const { out } = await inProcess(agents, ['undo', '--all-of', 'a', '--session', 'b', ...yes])
    expect(out).toContain('proposed to take back: ')
    expect(out).toContain('once a person says yes')
  }
  expect(await names()).toBe('("a1" "a2" "b1")')
})

test('[A10] what stands in the way of an undo is told with the flag that the command has', async () => {
  const { at, run } = await written()
  const { batch } = JSON.parse(await run('act', decide('c1'), '--json')) as { batch: string }
  await run('act', '[["record-decision", {"name": "c1", "rationale": "another"}]]')
  const { err, code } = await inProcess(at, ['undo', batch])
  expect(err).toMatch(
    /later batches build on it: \S+ \(changed "c1" \(rationale\)\); nothing was written\n {2}→ undo those first, or give --force to/,
  )
  expect(err).not.toMatch(/action 0|"force"/)
  expect(code).toBe(1)
  await run('undo', batch, '--force')
})

test('[T1] no command gives a flag that all commands have a meaning of its own', async () => {
  const own: string[] = []
  for (const { load } of Object.values(COMMANDS)) {
    const { name, flags } = await load()
    own.push(...Object.keys(flags).map((flag) => `${name} --${flag}`))
  }
  for (const { load } of Object.values(TOOLS)) {
    const { name, params } = await load()
    own.push(...Object.keys(params).map((flag) => `${name} --${flag}`))
  }
  expect(own.filter((flag) => Object.hasOwn(GLOBAL, flag.split('--')[1]!))).toEqual([])
})

test('[A10] what is deleted and all taken back is in no conflict, also after redo; undos and redos are told by what they did', async () => {
  const { run } = await project()
  await run('session', 'start', 's1')
  const act = (...actions: unknown[]) => run('act', JSON.stringify(actions), '--session', 's1')
  await act(['record-decision', { name: 'alpha', description: 'one' }])
  await act(['rename', { ref: 'alpha', name: 'beta' }])
  await act(['delete-decision', { name: 'beta', reason: 'wrong project' }])
  expect(await run('undo', '--session', 's1')).toMatch(/^took back: deleted decision "beta": wrong project\n/)
  expect(await run('redo', '--session', 's1')).toMatch(/^redid: deleted decision "beta": wrong project\n/)
  expect(await run('history', 'beta')).toMatch(/redid: deleted decision .*\n {2}deleted: wrong project\n/)
  const all = 'deleted decision "beta": wrong project; renamed to "beta"; recorded decision "alpha"'
  expect(await run('undo', '--all-of', 's1', '--session', 's1', '--yes')).toMatch(`took back: ${all}\n`)
  expect(await run('conflicts')).toBe('no conflicts\n')
  expect((await run('history')).split('\n')[0]).toContain(`took back: ${all}  [`)
  expect(await run('history', 'decision:alpha')).not.toMatch(/undone/)
  await run('redo', '--session', 's1')
  expect(await run('conflicts')).toBe('no conflicts\n')
  expect(await run('show', 'decision:alpha')).toContain('(deleted: wrong project; restore brings it back)')
  expect(await run('undo', '--all-of', 's1', '--session', 's1', '--yes')).toContain('took back')
  expect(await run('show', 'decision:alpha')).toContain('(taken back)')
})

test('[A10] what is written with an undo is told with it, and a redo of the undo leaves it', async () => {
  const { run } = await project()
  const act = (...actions: unknown[]) => run('act', JSON.stringify(actions))
  await act(['record-decision', { name: 'alpha', description: 'one' }])
  await act(['undo', {}], ['record-decision', { name: 'beta', description: 'instead' }])
  const both = 'took back: recorded decision "alpha"; besides: recorded decision "beta"'
  expect((await run('history')).split('\n')[0]).toContain(both)
  expect(await run('redo')).toMatch(/^redid: recorded decision "alpha"\n/)
  const listed = await run('list', 'decision')
  for (const name of ['alpha', 'beta']) expect(listed).toContain(name)
  expect((await run('history')).split('\n')[0]).not.toContain('besides')
})

test('[A10] undo passes over no batch that does more than propose an undo, nor over a proposal about another session', async () => {
  const { at, run } = await project()
  for (const id of ['a', 'b']) await run('session', 'start', id)
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  const act = async (session: string, ...actions: unknown[]) =>
    (await inProcess(agent, ['act', JSON.stringify(actions), '--session', session])).out
  const theirs = /batch (\S+)/.exec(await act('b', ['record-decision', { name: 'theirs' }]))![1]
  await act('a', ['record-decision', { name: 'first' }])
  await act('a', ['record-decision', { name: 'second' }], ['undo', { batch: theirs }])
  await inProcess(agent, ['undo', '--session', 'a'])
  const listed = await run('list', 'decision')
  expect(listed).toContain('first')
  expect(listed).not.toContain('second')
})

test('[A10] an undo proposed of a session that only undid brings back what it took', async () => {
  const { at, run } = await project()
  for (const id of ['a', 'b', 'c']) await run('session', 'start', id)
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  await run('act', '[["record-decision", {"name": "first"}]]', '--session', 'a')
  await onTerminal(at, ['undo', '--all-of', 'a', '--session', 'b'], 'y')
  expect(await run('list', 'decision')).not.toContain('first')
  await inProcess(agent, ['undo', '--all-of', 'b', '--session', 'c', '--yes'])
  await agreeing(at, 'confirm', /proposal:\S+/.exec(await run('confirm'))![0])
  expect(await run('list', 'decision')).toContain('first')
})

test('[A10] what was retired and then taken back with all of its session is restored to stand', async () => {
  const { at, run } = await project()
  await run('session', 'start', 'a')
  await run('act', '[["record-decision", {"name": "first"}]]', '--session', 'a')
  await run('act', '[["retire", {"ref": "first", "reason": "old"}]]', '--session', 'a')
  await onTerminal(at, ['undo', '--all-of', 'a', '--session', 'a'], 'y')
  await onTerminal(at, ['restore', 'decision:first'], 'y')
  expect(await run('list', 'decision')).toContain('first')
  expect(await run('show', 'decision:first')).not.toContain('retired')
})

test('[A10] [Y1] a proposed undo of a session says of each batch what a yes does to it', async () => {
  const { at, run } = await project()
  for (const id of ['a', 'b', 'c']) await run('session', 'start', id)
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  await run('act', decide('xray'), '--session', 'a')
  await run('act', decide('yankee'), '--session', 'b')
  await onTerminal(at, ['undo', '--all-of', 'a', '--session', 'b'], 'y')
  const { out } = await inProcess(agent, ['undo', '--all-of', 'b', '--session', 'c', '--yes'])
  expect(out).toContain('bring back: recorded decision "xray"; take back: recorded decision "yankee"\n')
  await agreeing(at, 'confirm', /proposal:\S+/.exec(await run('confirm'))![0])
  expect(await run('list', 'decision')).toMatch(/^decision {2}xray .*\n$/)
})

test('[A10] [Y1] what a session took back itself is no part of a proposed undo, nor of one after the yes', async () => {
  const { at, run } = await project()
  for (const id of ['a', 'c']) await run('session', 'start', id)
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  for (const name of ['one', 'two']) await run('act', decide(name), '--session', 'a')
  await run('undo', '--session', 'a')
  const { out } = await inProcess(agent, ['undo', '--all-of', 'a', '--session', 'c', '--yes'])
  expect(out).toMatch(/^proposed to take back: recorded decision "one"\n/)
  await agreeing(at, 'confirm', /proposal:\S+/.exec(await run('confirm'))![0])
  expect(await run('list', 'decision')).not.toMatch(/one|two/)
  expect((await inProcess(at, ['undo', '--session', 'a'])).err).toContain('there is nothing to undo')
})

test('[A10] what was written with an undo is work: undo takes it back with it, and another undo is refused', async () => {
  const { at, run } = await project()
  const act = (...actions: unknown[]) => run('act', JSON.stringify(actions))
  const first = /batch (\S+)/.exec(await act(['record-decision', { name: 'alpha', rationale: 'one' }]))![1]!
  await act(['record-decision', { name: 'alpha', rationale: 'two' }])
  await act(['undo', {}], ['record-decision', { name: 'alpha', description: 'quite new' }])
  expect((await run('history')).split('\n')[0]).toContain('besides: changed "alpha" (description)')
  expect((await inProcess(at, ['undo', first])).err).toContain('later batches build on it')
  await run('undo')
  expect(await run('show', 'alpha')).toMatch(/rationale: two/)
  expect(await run('show', 'alpha')).not.toMatch(/quite new/)
})

test('[Y1] what a person took back is brought back by an agent only with a yes', async () => {
  const { at, run } = await project()
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  await inProcess(agent, ['act', decide('first'), '--session', 'a'])
  await onTerminal(at, ['undo', '--all-of', 'a', '--session', 'b'], 'y')
  const asked = await inProcess(agent, ['act', '[["restore", {"ref": "decision:first"}]]', '--session', 'b'])
  expect(asked.out).toContain('once a person says yes')
  expect(await run('list', 'decision')).not.toContain('first')
})

test('[A10] what was superseded and then taken back with what took its place is restored to stand', async () => {
  const { at, run } = await project()
  for (const name of ['first', 'second']) await run('act', decide(name), '--session', 'a')
  await run('act', '[["supersede", {"old": "first", "new": "second"}]]', '--session', 'a')
  await onTerminal(at, ['undo', '--all-of', 'a', '--session', 'a'], 'y')
  await onTerminal(at, ['restore', 'decision:first'], 'y')
  expect(await run('show', 'decision:first')).not.toContain('superseded')
  expect(await run('list', 'decision')).toContain('first')
})
