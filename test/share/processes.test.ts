import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { StreamEvent } from '../../src/engine/feed/feed.ts'
import { openMemory } from '../../src/surfaces/library.ts'
import { BIN, project } from '../cli/run.ts'
import { tempDir } from '../convergence/harness.ts'
import { replayed } from './replayed.ts'

const CHILD = fileURLToPath(new URL('./share-child.ts', import.meta.url))

/** A process, its lines as they come, and its end. */
function start(args: readonly string[], env: NodeJS.ProcessEnv = process.env, cwd?: string) {
  const child: ChildProcess = spawn(process.execPath, args, {
    env,
    ...(cwd ? { cwd } : {}),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  let rest = ''
  let err = ''
  let told = () => {}
  child.stdout!.setEncoding('utf8').on('data', (d: string) => {
    const parts = (rest + d).split('\n')
    rest = parts.pop()!
    lines.push(...parts)
    told()
  })
  child.stderr!.setEncoding('utf8').on('data', (d: string) => (err += d))
  const ended = once(child, 'close').then(
    ([code, signal]) => ({ code, signal }) as { code: number | null; signal: string | null },
  )
  return {
    child,
    lines,
    ended,
    errors: () => err,
    /** Waits until it has printed so many lines, or has ended. */
    async until(enough: (lines: readonly string[]) => boolean) {
      let over = false
      void ended.then(() => {
        over = true
        told()
      })
      while (!enough(lines) && !over) await new Promise<void>((resolve) => (told = resolve))
      return lines
    },
  }
}

const env = { ...process.env, TIDEMARK_STORE: '', TIDEMARK_SESSION: '' }

describe('[X1] processes that share at once lose nothing', () => {
  test.each([
    [4, 100],
    [30, 10],
  ])(
    '[X3] %i processes × %i updates of their own key, and all into one list',
    { tags: ['long'], timeout: 300_000 },
    async (n, each) => {
      const dir = tempDir()
      onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
      const memory = openMemory({ projectPath: dir, create: true })
      onTestFinished(() => memory.close())
      const order: string[][] = []
      const stop = memory.subscribe(() => order.push((memory.share.get('list')?.value ?? []) as string[]))
      const names = Array.from({ length: n }, (_, i) => `p${i}`)
      const children = names.map((name) => start([CHILD, dir, name, String(each)], env))
      for (const c of children) expect(await c.ended, c.errors()).toEqual({ code: 0, signal: null })
      stop()
      const list = memory.share.get('list')!.value as string[]
      const said = names.flatMap((name) => Array.from({ length: each }, (_, i) => `${name}-${i + 1}`))
      expect([...list].sort()).toEqual(['of all', ...said].sort())
      // each process's own items stand in the order in which it appended them, and what stood once before another does always
      for (const name of names) {
        const own = list.filter((x) => x.startsWith(`${name}-`))
        expect(own).toEqual(Array.from({ length: each }, (_, i) => `${name}-${i + 1}`))
      }
      for (const seen of order) expect(list.slice(0, seen.length)).toEqual(seen)
      for (const name of names) expect(memory.share.get(`own ${name}`)?.value).toEqual({ n: each })
      const { all, ...rest } = memory.share.get('map')!.value as { all: number[]; [name: string]: unknown }
      expect([...all].sort((x, y) => x - y)).toEqual(Array.from({ length: each }, (_, i) => i + 1))
      const own = Object.fromEntries(Array.from({ length: each }, (_, i) => [`k${i + 1}`, i + 1]))
      expect(rest).toEqual(Object.fromEntries(names.map((name) => [name, own])))
      // every update is in the events, and replaying them gives the state
      const events = memory.events({ since: 0, types: ['share'] })
      for (const name of names) {
        const own = events.filter((e) => e.key === `own ${name}`)
        expect(own.map((e) => (e.value as { n: number }).n)).toEqual(Array.from({ length: each }, (_, i) => i + 1))
        expect(new Set(own.map((e) => e.session_id))).toEqual(new Set([name]))
      }
      expect(replayed(events)).toEqual(memory.share.context().data)
      expect(events.map((e) => e.seq)).toEqual([...new Set(events.map((e) => e.seq))].sort((a, b) => a - b))
    },
  )
})

test('[X4] killed at any point while it puts events away, nothing that was acknowledged is missing or told twice', {
  tags: ['long'],
  timeout: 120_000,
}, async () => {
  const dir = tempDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const memory = openMemory({ projectPath: dir, create: true })
  onTestFinished(() => memory.close())
  for (let k = 0; k < 12; k++) {
    const child = start([CHILD, dir, `k${k}`, '100000', 'compact'], env)
    const enough = 4 + ((k * 7) % 11)
    await child.until((lines) => lines.length >= enough)
    child.child.kill('SIGKILL')
    expect((await child.ended).signal, child.errors()).toBe('SIGKILL')
    const acknowledged = Number(child.lines.at(-1))
    const events = memory.events({ since: 0, key: `own k${k}` })
    const told = events.map((e) => (e.value as { n: number }).n)
    expect(told.slice(0, acknowledged)).toEqual(Array.from({ length: acknowledged }, (_, i) => i + 1))
    expect(new Set(told).size).toBe(told.length)
  }
  const all = memory.events({ since: 0 })
  expect(new Set(all.map((e) => e.event_id)).size).toBe(all.length)
  expect(replayed(all)).toEqual(memory.share.context().data)
})

describe('[X4] tidemark events --follow', () => {
  let at: Awaited<ReturnType<typeof project>>['at']
  let run: Awaited<ReturnType<typeof project>>['run']
  const follow = (...args: string[]) => start([BIN, 'events', '--follow', ...args], at.env, at.dir)
  const parsed = (lines: readonly string[]) => lines.map((l) => JSON.parse(l) as StreamEvent)

  test('streams what others do, each a line of JSON, and ends cleanly when it is told to', async () => {
    ;({ at, run } = await project())
    await run('share', 'set', 'phase', 'build', '--session', 's1')
    const mine = follow('--since', '0', '--session', 's2', '--type', 'share')
    const all = follow('--since', '0', '--session', 's2', '--own', '--type', 'share')
    await mine.until((l) => l.length >= 1)
    await run('share', 'set', 'phase', 'mine', '--session', 's2')
    await run('share', 'set', 'phase', 'review', '--session', 's1')
    expect(parsed(await mine.until((l) => l.length >= 2)).map((e) => e.value)).toEqual(['build', 'review'])
    expect(parsed(await all.until((l) => l.length >= 3)).map((e) => e.value)).toEqual(['build', 'mine', 'review'])
    const cursor = parsed(mine.lines)[0]!.seq
    const late = follow('--since', String(cursor), '--type', 'share')
    expect(parsed(await late.until((l) => l.length >= 2)).map((e) => e.value)).toEqual(['mine', 'review'])
    for (const [f, signal] of [
      [mine, 'SIGINT'],
      [all, 'SIGTERM'],
      [late, 'SIGTERM'],
    ] as const) {
      f.child.kill(signal)
      expect(await f.ended, f.errors()).toEqual({ code: 0, signal: null })
      expect(f.errors()).toBe('')
    }
  })

  test('ends when nobody reads on', async () => {
    ;({ at, run } = await project())
    const f = follow('--since', '0')
    await run('share', 'set', 'phase', 'one')
    await f.until((l) => l.length >= 1)
    f.child.stdout!.destroy()
    let ended = false
    void f.ended.then(() => (ended = true))
    for (let i = 0; i < 50 && !ended; i++) await run('share', 'set', 'phase', `again ${i}`)
    expect(await f.ended).toEqual({ code: 0, signal: null })
  })

  test('[X8] the command line: every step, text and JSON, and what is refused', async () => {
    ;({ at, run } = await project())
    expect(await run('share', 'set', 'phase', 'code', 'review')).toBe('phase = "code review"  (version 1)\n')
    expect(await run('share', 'get', 'phase')).toBe('code review\n')
    expect(JSON.parse(await run('share', 'get', 'phase', '--json'))).toEqual({
      key: 'phase',
      value: 'code review',
      version: 1,
    })
    await run('share', 'set', 'n', '1')
    expect(await run('share', 'get', 'n')).toBe('1\n')
    await run('share', 'append', 'files', '["a.ts", "b.ts"]')
    expect(await run('share', 'append', 'files', 'c.ts')).toBe('files = ["a.ts","b.ts","c.ts"]  (version 2)\n')
    await run('share', 'merge', 'notes', '{"auth": {"a": 1}}')
    await run('share', 'merge', 'notes', '{"auth": {"b": [2, 2]}}')
    expect(JSON.parse(await run('share', 'show', '--json'))).toMatchObject({
      data: { phase: 'code review', n: 1, files: ['a.ts', 'b.ts', 'c.ts'], notes: { auth: { a: 1, b: [2, 2] } } },
      version: 6,
    })
    const events = parsed((await run('events', '--since', '0', '--type', 'share', '--json')).trim().split('\n'))
    expect(events.map((e) => e.event_type)).toEqual(['update', 'update', 'update', 'merge', 'update', 'merge'])
    await run('share', 'delete', 'files')
    expect(await run('share', 'rollback', 'files', '--to', String(events[3]!.seq))).toBe('["a.ts","b.ts","c.ts"]\n')
    expect((await run('share', 'history', 'files')).split('\n')[0]).toContain('update files a.ts, b.ts, c.ts')
    const refused = async (...args: string[]) => {
      const { tidemark } = await import('../cli/run.ts')
      const ran = await tidemark(at, ['share', ...args, '--json'])
      expect(ran.code).toBe(1)
      return (JSON.parse(ran.out) as { error: { code: string; message: string; hint: string; details: object } }).error
    }
    expect(await refused('get', 'phrase')).toMatchObject({ code: 'not-found', hint: 'did you mean "phase"?' })
    expect(await refused('set', 'x', '{a: 1}')).toMatchObject({ code: 'not-json' })
    expect(await refused('set', 'n', '2', '--expected-version', '0')).toMatchObject({
      code: 'stale',
      details: { key: 'n', value: 1, version: 1 },
    })
    expect(await refused('append', 'n', '2')).toMatchObject({ code: 'refused' })
  })
})
