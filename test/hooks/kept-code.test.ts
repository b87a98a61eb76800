import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { NOT_ROOT, testUnless } from '../needs.ts'
import { hookProject, PATIENT, runHook } from './run.ts'

/** A directory for Node's compile cache, and what of ours stands in it. */
function cacheDirectory() {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-code-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const files = () =>
    readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((f) => f.includes('tidemark-hook-'))
      .map((f) => join(dir, f))
  return { env: { NODE_COMPILE_CACHE: dir, ...PATIENT }, files }
}

/** The first start says more than those after it, which are to be the same. */
const firstStart = (dir: string) =>
  runHook(
    ['claude', 'SessionStart'],
    { session_id: 's', cwd: dir, source: 'startup' },
    { cwd: dir, env: cacheDirectory().env },
  )

const TURNS = ['once', 'twice', 'thrice']
/** Of which kinds of run a file holds the code. */
const kinds = (file: string) =>
  readFileSync(file, 'latin1')
    .slice(0, 4096)
    .trim()
    .split('\n')
    .filter((kind) => !TURNS.includes(kind))

test('the code of a hook is kept once for each kind of run, and never decides whether it works', async () => {
  const { dir, memory } = hookProject()
  memory().act([['record-decision', { name: 'queue', rationale: 'bursts' }]])
  const { env, files } = cacheDirectory()
  const hook = async (event: string, more: object) => {
    const ran = await runHook(['claude', event], { session_id: 's', cwd: dir, ...more }, { cwd: dir, env })
    expect([ran.code, ran.err]).toEqual([0, ''])
    return ran.out
  }
  const start = () => hook('SessionStart', { source: 'startup' })

  await firstStart(dir)
  const first = await start()
  expect(first).toContain('decision:queue')
  const [file] = files()
  expect(files()).toEqual([file])
  expect(kinds(file!)).toEqual(['claude session-start', 'context', 'Decisions'])

  // the same again: the same answer from the kept code, and after three runs nothing is written
  for (const _ of TURNS) expect(await start()).toBe(first)
  const { ino } = statSync(file!)
  expect(await start()).toBe(first)
  expect(statSync(file!).ino).toBe(ino)

  // another event has a file of its own, to which a run that writes knowledge is added
  await hook('UserPromptSubmit', { prompt: 'What does the linter say?' })
  const prompts = files().find((f) => f !== file)!
  expect(kinds(prompts)).toEqual(['claude prompt'])
  const size = statSync(prompts).size
  memory().act([['record-decision', { name: 'linter', rationale: 'quokka' }]], { session: 'other' })
  await hook('UserPromptSubmit', { prompt: 'What does the quokka linter say?' })
  expect(kinds(prompts)).toEqual(['claude prompt', 'context'])
  expect(statSync(prompts).size).toBeGreaterThan(size)
  expect(files()).toHaveLength(2)
  expect(statSync(file!).ino).toBe(ino)

  // what is cut off, or of nobody's making, is made anew
  truncateSync(file!, 20_000)
  expect(await start()).toContain('decision:queue')
  expect(kinds(file!)).toEqual(['claude session-start', 'context', 'Decisions'])
  writeFileSync(file!, `${'claude session-start'.padEnd(4096)}no code at all`)
  expect(await start()).toContain('decision:queue')
  expect(statSync(file!).size).toBeGreaterThan(100_000)

  // what other versions left goes with time
  const old = file!.replace(/[0-9a-f]{16}$/, '0123456789abcdef')
  writeFileSync(old, 'old')
  utimesSync(old, 1, 1)
  await hook('Stop', {})
  expect(files()).not.toContain(old)
  expect(files()).toHaveLength(3)
})

testUnless(NOT_ROOT)('[M4] kept code that belongs to another user is made anew', async () => {
  const { dir, memory } = hookProject()
  memory().close()
  const { env, files } = cacheDirectory()
  const start = () =>
    runHook(['claude', 'SessionStart'], { session_id: 's', cwd: dir, source: 'startup' }, { cwd: dir, env })
  await start()
  const [file] = files()
  chownSync(file!, 65_534, 65_534)
  expect(await start()).toMatchObject({ code: 0, err: '' })
  expect(statSync(file!).uid).toBe(0)
})

test('[M4] kept code that was damaged on the disk is not run', async () => {
  const { dir, memory } = hookProject()
  memory().act([['record-decision', { name: 'queue', rationale: 'bursts' }]])
  const { env, files } = cacheDirectory()
  const start = () =>
    runHook(['claude', 'SessionStart'], { session_id: 's', cwd: dir, source: 'startup' }, { cwd: dir, env })
  await firstStart(dir)
  const first = await start()
  const [file] = files()
  const whole = readFileSync(file!)
  const code = whole.length - 4096
  for (const part of [0.1, 0.25, 0.4, 0.6, 0.9]) {
    const bytes = Buffer.from(whole)
    const at = 4096 + Math.floor(code * part)
    bytes.fill(0, at, at + 4096)
    writeFileSync(file!, bytes)
    expect(await start()).toMatchObject({ code: 0, err: '', out: first.out })
    expect(readFileSync(file!).equals(bytes), `made anew, ${part}`).toBe(false)
  }
})

test('[M4] code that another user of the machine may have put there is not run', async () => {
  const { dir, memory } = hookProject()
  memory().close()
  const temp = mkdtempSync(join(tmpdir(), 'tidemark-code-'))
  onTestFinished(() => rmSync(temp, { recursive: true, force: true }))
  const usual = join(temp, 'node-compile-cache')
  mkdirSync(usual)
  chmodSync(usual, 0o777) // all may write: as good as another's
  const start = () =>
    runHook(
      ['claude', 'SessionStart'],
      { session_id: 's', cwd: dir, source: 'startup' },
      { cwd: dir, env: { ...PATIENT, TMPDIR: temp, NODE_COMPILE_CACHE: '' } },
    )
  await firstStart(dir)
  const first = await start()
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(readdirSync(usual)).toEqual([])
  const own = readdirSync(temp).find((f) => f !== 'node-compile-cache')!
  expect(own).toBe(`node-compile-cache-${process.getuid!()}`)
  const [within] = readdirSync(join(temp, own))
  const ours = join(temp, own, within!)
  const name = readdirSync(ours).find((f) => f.startsWith('tidemark-hook-'))!

  // what V8 takes for the code of our script, since it looks at the length only
  const source = readFileSync(join(import.meta.dirname, '../../dist/hook.js'), 'latin1')
  const evil = join(temp, 'evil.cjs')
  writeFileSync(
    evil,
    `const { Script } = require('node:vm')
    const text = '(async function(){process.stdout.write("taken over");process.exit(0)})'.padEnd(${source.length})
    const script = new Script(text)
    const made = script.runInThisContext()
    require('node:fs').writeFileSync(${JSON.stringify(join(temp, 'evil'))}, script.createCachedData())`,
  )
  execFileSync(process.execPath, [evil])
  const code = readFileSync(join(temp, 'evil'))
  mkdirSync(join(usual, within!))
  const poison = Buffer.concat([Buffer.from('claude session-start'.padEnd(4096)), code, code])
  writeFileSync(join(usual, within!, name), poison)
  expect(await start()).toMatchObject({ code: 0, out: first.out })

  // the test would see it: in a directory of our own it is run
  writeFileSync(join(ours, name), poison)
  expect((await start()).out).toContain('taken over')

  // nor is anything run or written where the second is not ours either
  rmSync(join(temp, own), { recursive: true })
  mkdirSync(join(temp, own))
  chmodSync(join(temp, own), 0o777)
  expect(await start()).toMatchObject({ code: 0, out: first.out })
  expect(readdirSync(join(temp, own))).toEqual([])
})

test('without a directory for it, nothing is kept and all works', async () => {
  const { dir, memory } = hookProject()
  memory().close()
  const { env } = cacheDirectory()
  const notADirectory = join(env.NODE_COMPILE_CACHE, 'file')
  writeFileSync(notADirectory, '')
  const without: Record<string, string>[] = [{ NODE_COMPILE_CACHE: notADirectory }, { NODE_DISABLE_COMPILE_CACHE: '1' }]
  for (const more of without) {
    const ran = await runHook(
      ['gemini', 'SessionStart'],
      { session_id: 's', cwd: dir },
      { cwd: dir, env: { ...env, ...more } },
    )
    expect([ran.code, ran.err]).toEqual([0, ''])
    expect(ran.json).toHaveProperty('systemMessage')
  }
  expect(readdirSync(env.NODE_COMPILE_CACHE)).toEqual(['file'])
})
