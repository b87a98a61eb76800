import { expect, test } from 'vitest'
import { isRunning, thisHost } from '../../src/env.ts'
import { project, tidemark } from '../cli/run.ts'

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
