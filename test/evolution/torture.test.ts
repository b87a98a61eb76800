// @module-tag long
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { synthesize } from '../../src/work/evolution/synthesis.ts'
import { files, initProject, scratch } from '../cli/run.ts'
import { testUnless } from '../needs.ts'

const CHILD = join(import.meta.dirname, 'steps-child.ts')
const SKILL = '.claude/skills/deploy/SKILL.md'
const OLD = `# Deploy\n\n${Array.from({ length: 40 }, (_, i) => `${i + 1}. Step ${i + 1} ${'x'.repeat(200)}\n`).join('')}`
/** Calls by which the child changes files. */
const CALLS = ['write', 'pwrite64', 'fsync', 'rename', 'link', 'unlink']
const traceable = spawnSync('strace', ['-f', '-qq', '-e', 'trace=none', 'true']).status === 0

const child = (
  at: { dir: string; env: NodeJS.ProcessEnv },
  args: readonly string[],
  before: readonly string[] = [],
) => {
  const [command = '', ...rest] = [...before, process.execPath, CHILD, args[0]!, at.dir, ...args.slice(1)]
  return spawnSync(command, rest, { cwd: at.dir, env: at.env, encoding: 'utf8' })
}

/** A project with a proposal for its deploy skill. */
function start() {
  const at = scratch()
  initProject(at)
  files(at.dir, { [SKILL]: OLD })
  const project = findProject(at.dir)
  const memory = openProject(project)
  for (let i = 0; i < 3; i++)
    memory.act([['record-observation', { operation: 'deploy', what: 'skipped the smoke test', cost: 'cost: 1 h' }]])
  synthesize(memory, project)
  memory.close()
  return at
}

const textOf = (at: { dir: string }) => readFileSync(join(at.dir, SKILL), 'utf8')
const statusOf = (at: { dir: string }) => {
  const memory = openProject(findProject(at.dir))
  try {
    expect(memory.faults()).toEqual([])
    return memory.reader.list('mutation', { all: true })[0]!.fields.status ?? 'proposed'
  } finally {
    memory.close()
  }
}

/** After a kill the file is the old or the new one, and the same command goes on to the end. */
function judge(at: ReturnType<typeof start>, mode: 'approve' | 'revert', fresh: string) {
  expect([OLD, fresh]).toContain(textOf(at))
  const before = statusOf(at)
  if (!(mode === 'revert' && before === 'reverted') && !(mode === 'approve' && before === 'applied')) {
    const again = child(at, [mode])
    expect([again.status, again.stderr]).toEqual([0, ''])
  }
  expect([textOf(at), statusOf(at)]).toEqual(mode === 'approve' ? [fresh, 'applied'] : [OLD, 'reverted'])
  expect(readdirSync(join(at.dir, '.tidemark/local/mutations')).filter((f) => f.endsWith('.md'))).toHaveLength(1)
}

function fresh(): string {
  const at = start()
  expect(child(at, ['approve']).status).toBe(0)
  return textOf(at)
}

test('[P3] a process that is killed between any two steps of apply or revert leaves the old or the new file', () => {
  const after = fresh()
  expect(after).toContain('\n40. Required: the smoke test.')
  for (let steps = 0; steps <= 4; steps++) {
    const at = start()
    expect(child(at, ['approve', `${steps}`]).signal).toBe('SIGKILL')
    judge(at, 'approve', after)
  }
  for (let steps = 0; steps <= 2; steps++) {
    const at = start()
    child(at, ['approve'])
    expect(child(at, ['revert', `${steps}`]).signal).toBe('SIGKILL')
    judge(at, 'revert', after)
  }
}, 300_000)

testUnless(!traceable && 'strace cannot be used here')(
  '[P3] killed in the middle of any call that changes a file, it leaves no mixture',
  () => {
    const after = fresh()
    for (const mode of ['approve', 'revert'] as const) {
      const ready = start()
      if (mode === 'revert') child(ready, ['approve'])
      const log = join(ready.home, 'trace')
      child(ready, [mode], ['strace', '-f', '-qq', '-o', log, '-e', `trace=${CALLS.join(',')}`])
      const lines = readFileSync(log, 'utf8').split('\n')
      for (const name of CALLS) {
        const count = lines.filter((l) => l.includes(` ${name}(`)).length
        for (let n = 1; n <= count; n += Math.max(1, Math.ceil(count / 6))) {
          const at = start()
          if (mode === 'revert') child(at, ['approve'])
          child(at, [mode], ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${name}`, '-e', `inject=${name}:signal=SIGKILL:when=${n}`]) // biome-ignore format: one command
          judge(at, mode, after)
        }
      }
    }
  },
  600_000,
)
