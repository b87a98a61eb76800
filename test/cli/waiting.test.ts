import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished } from 'vitest'
import { NO_TERMINAL, testUnless } from '../needs.ts'
import { BIN, project, tidemark } from './run.ts'

/** Another process's write lock on the store of a project, as long as the test wants it. */
function held(dir: string): () => void {
  const other = new DatabaseSync(join(dir, '.git/tidemark/store.db'))
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  return () => other.exec('ROLLBACK')
}

testUnless(NO_TERMINAL)(
  'a write that waits for another writer says so on a terminal, once, and nothing in a pipe',
  async () => {
    const { at } = await project()
    const release = held(at.dir)
    const piped = tidemark(at, ['remember', 'we use pnpm'])
    const command = `${process.execPath} ${BIN} remember "we use vitest"`
    const child = spawn('script', ['-qfec', command, '/dev/null'], {
      cwd: at.dir,
      env: { ...at.env, SHELL: '/bin/sh' },
    })
    let screen = ''
    const said = Promise.withResolvers<void>()
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text
      if (screen.includes('waiting for another writer')) said.resolve()
    })
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    await Promise.race([said.promise, ended])
    const { out } = await tidemark(at, ['doctor'])
    expect(out).toContain(`process ${process.pid} (`)
    expect(out).toContain('nobody else can write')
    release()
    expect(await ended).toBe(0)
    expect(screen.match(/waiting for another writer/g)).toHaveLength(1)
    expect(screen).toContain('remembered as fact')
    const quiet = await piped
    expect(quiet).toMatchObject({ code: 0, err: '' })
    expect(quiet.out).not.toContain('waiting')
    expect((await tidemark(at, ['doctor'])).out).not.toContain('write lock')
  },
)
