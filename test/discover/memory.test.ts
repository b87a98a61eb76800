// @module-tag long
import { fork } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { DEFAULT_BUDGET } from '../../src/scheme/budget.ts'
import { builtinHelp } from '../../src/scheme/library.ts'
import { SEED } from '../runs.ts'

const RUNS = Number(process.env.TIDEMARK_RUNS ?? 30)
/** What a process may take beyond an idle one, whatever programs it runs. */
const MOST = 240e6

interface Done {
  printed: string
  ms: number
  peak: number
}

/** Runs programs in one process of their own: how long the last took, and what the process took beyond an idle one. */
async function run(...programs: string[]): Promise<Done> {
  const child = fork(join(import.meta.dirname, 'memory-child.ts'), { stdio: 'ignore' })
  onTestFinished(() => void child.kill())
  const next = () =>
    new Promise<Done>((done, fail) => {
      const gone = (code: number | null, signal: string | null) =>
        fail(new Error(`a program ended the process: ${code ?? signal}`))
      child.once('exit', gone)
      child.once('message', (said: Done) => {
        child.off('exit', gone)
        done(said)
      })
    })
  const idle = await next()
  let done = idle
  for (const program of programs) {
    child.send(program)
    done = await next()
  }
  child.kill()
  return { ...done, peak: done.peak - idle.peak }
}

const kept = ({ printed, ms, peak }: Done, program: string) => {
  expect(peak, `${program} → ${printed}`).toBeLessThan(MOST)
  expect(ms, program).toBeLessThan(DEFAULT_BUDGET.ms * 3)
}

const KNOWN = [
  '(length (iota 1000000 0 (expt 2 131000)))',
  '(length (map (lambda (x) (quotient (expt 2 131000) 1)) (iota 1000000)))',
  '(sum (make-list 1000000 (expt 2 131000)))',
  '(length (map (lambda (x) (abs (- (expt 2 131000)))) (iota 1000000)))',
  '(apply string (make-list 1000000 (make-string 90000 #\\x)))',
  '(map (lambda (text) (string->symbol (string-append text text))) (make-list 1000000 (make-string 100000 #\\x)))',
  '(apply string-ci=? (make-list 1000000 (make-string 1000000 #\\x)))',
  '(string-reverse (make-string 15000000 #\\x))',
  '(length (string-split (make-string 7000000 #\\a) "a"))',
  '(let loop ((xs (list 1)) (n 0)) (if (= n 40) (length (flatten xs)) (loop (cons xs xs) (+ n 1))))',
  '(length (map integer->char (make-list 1900000 955)))',
]

test('[D5] [T11] no builtin makes what is not paid for: large numbers, texts and lists end in an error', async () => {
  for (const program of KNOWN) {
    const done = await run(program)
    expect(done.printed, program).toMatch(/^\(error "execution budget exceeded/)
    kept(done, program)
  }
}, 300_000)

test('[D5] [T11] of large numbers only those are turned into digits that are shown', async () => {
  for (const what of [
    '(make-list 50000 n)',
    '(string (make-list 50000 n))',
    '(write->string (make-vector 100000 n))',
  ]) {
    const done = await run(what.replace('n)', '(- (expt 2 131000)))'))
    expect(done.printed, what).toContain('39436 characters')
    expect(done.ms, what).toBeLessThan(DEFAULT_BUDGET.ms / 2)
    expect(done.peak, what).toBeLessThan(MOST)
  }
}, 120_000)

const LARGE = [
  '(expt 2 131000)', '(- (expt 3 80000))', '(make-string 400000 #\\x)', '(make-string 200000 (integer->char 128512))', '(make-list 50000 (expt 2 131000))',
  '(make-list 50000 (make-string 100000 #\\y))', '(iota 100000)', '(make-vector 100000 (expt 2 131000))', '(string->list (make-string 50000 #\\z))',
  '(record :a (iota 50000) :b (make-string 100000 #\\w))', '(make-list 20000 (list 1 2 3))', '1e308', '"a b c d"', "'x", ':a', '#\\x', '0', '1', '7', '100000', 'car', 'list',
  '(lambda (x) x)', '(lambda x x)', '(lambda (x y) (list x y))',
] // biome-ignore format: a list to read at a glance

const signatures = [...builtinHelp().values()].map(({ signature }) => signature.slice(1, -1).split(' '))
const call: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...signatures), fc.array(fc.constantFrom(...LARGE), { minLength: 5, maxLength: 5 }))
  .map(([[name, ...words], args]) => {
    const least = words.filter((w) => !w.startsWith('[') && w !== '…').length
    return `(${[name, ...args.slice(0, Math.min(5, Math.max(1, least)))].join(' ')})`
  })
const program = fc.tuple(call, call, fc.nat(4)).map(
  ([a, b, shape]) =>
    [
      a,
      // results are kept until the budget ends
      `(let loop ((i 0) (out '())) (loop (+ i 1) (cons ${a} out)))`,
      `(let loop ((x ${a})) (loop (list x ${b})))`,
      `(map (lambda (x) ${a}) (iota 100000))`,
      `(let ((big ${a})) (let loop ((i 0) (out '())) (loop (+ i 1) (cons (list big ${b}) out))))`,
    ][shape]!,
)

test('[D5] [T11] whatever a program does, the process takes at most 240 MB', async () => {
  const seed = SEED
  console.info(`seed ${seed}`)
  for (const one of fc.sample(program, { numRuns: RUNS, seed })) kept(await run(one), one)
}, 1_200_000)

test('[D5] [T11] a process that runs 73 programs one after another takes no more', async () => {
  console.info(`seed ${SEED}`)
  const programs = fc.sample(program, { numRuns: 73, seed: SEED })
  kept(await run(...programs), `the last of 73: ${programs.at(-1)}`)
}, 600_000)
