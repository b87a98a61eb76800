import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { isRunning, thisHost } from '../../src/base/env.ts'
import { BIN, project, tidemark } from '../cli/run.ts'

test('[X7] a session does not live by a process that is not there, nor by the 0 and -1 that always are', async () => {
  const { at, run } = await project()
  for (const pid of ['0', '-1', '1.5', '4194305']) {
    const ran = await tidemark(at, ['session', 'start', 's', `--pid=${pid}`])
    expect(ran.code, pid).toBe(1)
    expect(ran.err, pid).toContain(`there is no process ${pid}`)
    expect(isRunning({ pid: Number(pid), born: '', host: thisHost() }), pid).toBe(false)
  }
  expect(await run('session', 'list', '--all')).toBe('no session is live\n')
  expect(await run('session', 'start', 's', '--pid', String(process.pid))).toContain('session s')
})

test('[X7] on an old Node, where the launcher starts another one, a session lives by its client, not by the launcher', async () => {
  const { at, run } = await project()
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
  const hook = [`--import=data:text/javascript,${encodeURIComponent(old)}`, BIN, 'hook', 'claude', 'SessionStart']
  const payload = JSON.stringify({ session_id: 's', cwd: at.dir, source: 'startup' })
  execFileSync(process.execPath, hook, { cwd: at.dir, env: { ...at.env, TIDEMARK_HOOK_MS: '15000' }, input: payload })
  const listed = JSON.parse(await run('session', 'list', '--json')) as { id: string; pid: number }[]
  expect(listed).toMatchObject([{ id: 's', state: 'active', pid: process.pid }])
})
