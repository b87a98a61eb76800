import { expect, test } from 'vitest'
import { settleDropped } from '../../src/travel/sync/dropped.ts'
import { compactSegments } from '../../src/travel/sync/publish.ts'
import { inProcess } from '../cli/run.ts'
import { type Clone, decision, knowledge, team } from './clones.ts'

const sync = async (c: Clone) => {
  c.receive()
  const dropped = await settleDropped(c.memory, c.dir)
  return { dropped, ...c.publish() }
}

/** Somebody removes the segment that a clone committed last. */
function drop(c: Clone): void {
  const path = `.tidemark/log/${c.segments.at(-1)}`
  c.git('rm', '-q', path)
  c.git('commit', '-qm', 'not this')
}

test('[K16] a segment that a reviewer removed is not written again, on no branch; what it says still counts here', async () => {
  const ana = team().clone('ana')
  ana.act([decision('kept')])
  await sync(ana)
  ana.commit()
  ana.git('switch', '-qc', 'topic')
  ana.act([decision('unwanted')])
  await sync(ana)
  ana.commit()
  drop(ana)
  const { dropped, lines } = await sync(ana)
  expect(dropped.lines.map((l) => l.seq)).toEqual([2])
  expect(lines).toEqual([])
  expect(ana.memory.reader.byName('unwanted')).toHaveLength(1)
  ana.git('switch', '-q', 'main')
  expect((await sync(ana)).lines).toEqual([])
  ana.act([decision('later')])
  expect((await sync(ana)).lines.map((l) => l.seq)).toEqual([3])
  // who takes the removal back has it again
  ana.commit()
  ana.git('switch', '-q', 'topic')
  ana.git('revert', '--no-edit', 'HEAD')
  await sync(ana)
  ana.commit()
  ana.git('switch', '-q', 'main')
  expect((await sync(ana)).lines.map((l) => l.seq)).toEqual([2])
})

test('[K16] a merge that leaves a segment out has removed it', async () => {
  const ana = team().clone('ana')
  ana.act([decision('on main')])
  await sync(ana)
  ana.commit()
  ana.git('switch', '-qc', 'topic')
  ana.act([decision('on topic')])
  await sync(ana)
  ana.commit()
  ana.git('switch', '-q', 'main')
  ana.git('commit', '-q', '--allow-empty', '-m', 'work')
  ana.git('merge', '-q', '--no-commit', '--no-ff', 'topic')
  ana.git('rm', '-qf', `.tidemark/log/${ana.segments.at(-1)}`)
  ana.git('commit', '-qm', 'merge without it')
  expect((await sync(ana)).dropped.lines.map((l) => l.seq)).toEqual([2])
})

test('[K16] a branch that never had a segment, and one from before segments were made one, get all of it', async () => {
  const ana = team().clone('ana')
  for (const name of ['one', 'two']) {
    ana.act([decision(name)])
    await sync(ana)
    ana.commit()
  }
  ana.git('branch', 'early', 'HEAD~1')
  compactSegments(ana.memory, ana.dir)
  ana.commit()
  expect((await sync(ana)).dropped.lines).toEqual([])
  ana.git('switch', '-q', 'early')
  expect((await sync(ana)).lines.map((l) => l.seq)).toEqual([2])
})

test('[K16] a shallow clone cannot know, says so, and writes what is missing', async () => {
  const ana = team().clone('ana')
  ana.act([decision('one')])
  ana.share()
  drop(ana)
  ana.git('push', '-q', 'origin', 'HEAD:main')
  ana.git('fetch', '-q', '--depth', '1', 'origin', 'main')
  ana.git('reflog', 'expire', '--expire=now', '--all')
  const { dropped, lines } = await sync(ana)
  expect(dropped).toEqual({ lines: [], unknown: 1 })
  expect(lines).toHaveLength(1)
})

test('[K16] what a person declines counts nowhere and goes to nobody, until it is admitted; an agent may not', async () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  const { batch } = ana.act([decision('of ana')])
  ana.share()
  ben.pull()
  ben.receive()
  const before = knowledge(ben)
  expect(ben.memory.reader.byName('of ana')).toHaveLength(1)
  const said = `${batch!.slice(0, 7)}:${batch!.split(':')[1]}`
  ben.memory.close()
  const at = { dir: ben.dir, env: { ...process.env, TIDEMARK_USER: 'ben' } }
  const refused = await inProcess({ ...at, env: { ...at.env, CLAUDECODE: '1' } }, ['sync', '--decline', said])
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('an agent does not decide this')
  const declined = await inProcess(at, ['sync', '--decline', said])
  expect(declined.out).toContain(
    `1 batch counts nowhere here any more; \`tidemark sync --admit ${said}\` brings it back`,
  )
  ben.reopen()
  expect(ben.memory.reader.byName('of ana')).toEqual([])
  expect(ben.memory.faults()).toEqual([])
  expect(ben.receive().applied).toBe(0)
  expect(ben.memory.reader.byName('of ana')).toEqual([])
  expect(ben.memory.decline([said], { admit: true })).toBe(1)
  expect(knowledge(ben)).toBe(before)
  expect(() => ben.memory.decline(['nobody1:7'])).toThrow(expect.objectContaining({ code: 'unknown-batch' }))
})
