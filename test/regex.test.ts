// @module-tag long
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, test, vi } from 'vitest'
import { parseAst } from 'vitest/node'
import { RULES, TOKENS } from '../src/base/secrets/rules.ts'
import { type Attack, attacksOn } from './regex-attacks.ts'

const ROOT = join(import.meta.dirname, '..')
const LENGTH = 100_000
/** A linear expression needs a few ms for such a text, the slowest 200; a quadratic one many seconds. */
const MS_AT_MOST = 2000

interface Pattern {
  readonly where: string
  readonly source: string
  readonly flags: string
  /** `text.split(pattern)` finds all, whatever its flags say. */
  readonly splits: boolean
}

const files = [
  ...readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts'))
    .map((f) => join(ROOT, 'src', f)),
  join(ROOT, 'bin/tidemark.js'),
]

interface AstNode {
  readonly type: string
  readonly start: number
  readonly regex?: { pattern: string; flags: string }
  readonly callee?: { name?: string; property?: { name?: string } }
  readonly arguments?: readonly AstNode[]
}

/** Every literal of a module, and how often it calls `RegExp`. */
function walk(file: string) {
  const text = readFileSync(file, 'utf8')
  const literals: Pattern[] = []
  let made = 0
  const place = (n: AstNode) => `${relative(ROOT, file)}:${text.slice(0, n.start).split('\n').length}`
  const visit = (value: unknown, splits: boolean) => {
    if (Array.isArray(value)) for (const v of value) visit(v, splits)
    else if (typeof value === 'object' && value !== null) {
      const node = value as AstNode
      if (node.regex) literals.push({ where: place(node), source: node.regex.pattern, flags: node.regex.flags, splits })
      if (node.callee?.name === 'RegExp' || node.callee?.name === 'late') made++
      for (const [key, v] of Object.entries(node))
        if (key !== 'regex') visit(v, key === 'arguments' && node.callee?.property?.name === 'split')
    }
  }
  visit(parseAst(text, { lang: file.endsWith('.ts') ? 'ts' : 'js' }), false)
  return { file: relative(ROOT, file), literals, made }
}

const walked = files.map(walk)

/** Runs attacks in a thread, which is ended when an expression holds it up. */
const THREAD = `
const { parentPort } = require('node:worker_threads')
parentPort.on('message', ({ source, flags, splits, attacks, length, most }) => {
  for (const { before, pump, after } of attacks) {
    const text = before + pump.repeat(Math.ceil(length / pump.length)) + after
    const run = () => {
      const pattern = new RegExp(source, flags)
      const from = performance.now()
      if (splits) text.split(pattern)
      else if (pattern.global) text.replace(pattern, '')
      else pattern.test(text)
      return performance.now() - from
    }
    const ms = run()
    // twice again, for the machine may have been busy
    if (ms > most && run() > most && run() > most) return parentPort.postMessage({ ms, before, pump, after })
  }
  parentPort.postMessage(null)
})`

type Slow = Attack & { ms: number }

async function slowest(patterns: readonly Pattern[]): Promise<string[]> {
  let thread = new Worker(THREAD, { eval: true })
  const failed: string[] = []
  for (const [n, p] of patterns.entries()) {
    const attacks = attacksOn(p.source, p.flags, n)
    const slow = await new Promise<Slow | 'never' | null>((done, fail) => {
      const late = setTimeout(() => done('never'), 120_000)
      thread.once('error', fail)
      thread.once('message', (m) => {
        clearTimeout(late)
        done(m)
      })
      thread.postMessage({ ...p, attacks, length: LENGTH, most: MS_AT_MOST })
    })
    thread.removeAllListeners('message').removeAllListeners('error')
    if (slow === null) continue
    const on = slow === 'never' ? 'did not end' : JSON.stringify(slow)
    failed.push(`${p.where} /${p.source}/${p.flags}: ${on}`)
    if (slow === 'never') {
      await thread.terminate()
      thread = new Worker(THREAD, { eval: true })
    }
  }
  await thread.terminate()
  return failed
}

const unlike = (patterns: readonly Pattern[]): Pattern[] => [
  ...new Map(patterns.map((p) => [`${p.splits} /${p.source}/${p.flags}`, p])).values(),
]

test('[T10] every regular expression of the source takes linear time on 100 kB made against it', async () => {
  const patterns = unlike(walked.flatMap((w) => w.literals))
  expect(patterns.length).toBeGreaterThan(300)
  expect(await slowest(patterns)).toEqual([])
}, 1_200_000)

/** Modules that put patterns together of their own constants, and what makes those that are made when first used. */
const MAKERS: Readonly<Record<string, (module: never) => unknown>> = {
  'src/find/recall/dates.ts': () => {},
  'src/session/briefing/fence.ts': (m: { plain(t: string, max: number): string; jsonShown(t: string): string }) => [
    m.plain('\u200b', 9),
    m.jsonShown('\u200b'),
  ],
  'src/scheme/lexical.ts': (m: { quote(t: string): string; inBars(t: string): string }) => [
    m.quote('\u200b'),
    m.inBars('\u200b'),
  ],
  'src/scheme/invisible.ts': (m: { hides(t: string): void; unhidden(t: string): void; unfenced(t: string): void }) =>
    [m.hides, m.unhidden, m.unfenced].map((use) => use('\u200b')),
  'src/base/secrets/find.ts': (m: { findSecrets(text: string): unknown }) =>
    [...TOKENS, ...RULES].map((rule) =>
      m.findSecrets(rule.keywords.map((k) => `${k}${'_'.repeat(16)}${rule.part ?? ''}`).join(' ')),
    ),
  'src/base/secrets/key-values.ts': (m: { namedSecrets(text: string, at: number[]): unknown }) =>
    m.namedSecrets('é', []),
  'src/base/secrets/sentences.ts': () => {},
  'src/session/hooks/lasting-words.ts': () => {},
  'src/session/hooks/taken-back.ts': () => {},
  'src/session/hooks/ask-person.ts': () => {},
  'src/engine/store/terms.ts': (m: { PATTERNS: { unicode: unknown } }) => m.PATTERNS.unicode,
  'src/engine/store/file-places.ts': (m: { kindOfFile(place: string, file: string): unknown }) =>
    ['store', 'project', 'client'].map((place) => m.kindOfFile(place, 'x')),
}

test('[T10] patterns are made of constants alone, and those take linear time too', async () => {
  const makers = walked.filter((w) => w.made > 0).map((w) => w.file)
  expect(makers.filter((file) => !Object.hasOwn(MAKERS, file))).toEqual([])
  const made: Pattern[] = []
  const plain = globalThis.RegExp
  vi.resetModules()
  globalThis.RegExp = new Proxy(plain, {
    construct(target, [source, flags = ''], self) {
      const at = new Error().stack ?? ''
      if (typeof source === 'string' && at.includes('/src/')) made.push({ where: 'made', source, flags, splits: false })
      return Reflect.construct(target, [source, flags], self)
    },
  })
  try {
    for (const file of makers) MAKERS[file]!((await import(join(ROOT, file))) as never)
  } finally {
    globalThis.RegExp = plain
  }
  expect(made.length).toBeGreaterThan(20)
  expect(await slowest(unlike(made))).toEqual([])
}, 600_000)
