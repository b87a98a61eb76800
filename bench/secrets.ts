import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { findSecrets, redact } from '../src/base/secrets/find.ts'
import { ROOT } from './project.ts'
import { isLeft, labelled } from './secrets-set.ts'
import { type Bench, median, quantile, type Row, type Table, timed } from './table.ts'

const RECALL = 0.97
const PRECISION = 0.98
const HOOK_MS = 2
const PROCESSES = 40

function quality(): Table {
  const missed: string[] = []
  const rows = [...Map.groupBy(labelled(), (c) => c.half)].map(([half, cases]): Row => {
    const secrets = cases.filter((c) => c.secret !== undefined)
    const innocent = cases.filter((c) => c.secret === undefined)
    const left = secrets.filter((c) => isLeft(redact(c.text), c.secret!))
    const wrong = innocent.filter((c) => findSecrets(c.text).length > 0).length
    const caught = secrets.length - left.length
    missed.push(...left.map((c) => c.kind))
    const [recall, precision] = [caught / secrets.length, caught / (caught + wrong)]
    return {
      what: half,
      cells: [secrets.length, innocent.length, recall.toFixed(3), wrong, precision.toFixed(3)],
      bound: `recall ≥ ${RECALL}, precision ≥ ${PRECISION}`,
      ok: recall >= RECALL && precision >= PRECISION,
    }
  })
  return {
    title:
      'the labelled sets; the half held back was written before the rules, the judged set by somebody who had not read them',
    columns: ['secrets', 'innocent', 'recall', 'flagged', 'precision'],
    rows,
    notes: [`missed: ${missed.join(', ') || 'none'}`],
  }
}

/** Loads the rules as a hook does, one script with V8's code as an earlier run left it, and looks for the first time. */
const CHILD = `
  const { Script } = require('node:vm'), fs = require('node:fs')
  const [file, kept, text] = process.argv.slice(2)
  const cachedData = fs.existsSync(kept) ? fs.readFileSync(kept) : undefined
  const script = new Script(fs.readFileSync(file, 'utf8'), { cachedData })
  const prompt = fs.readFileSync(text, 'utf8')
  const since = performance.now()
  const { findSecrets } = script.runInThisContext()
  const loaded = performance.now()
  findSecrets(prompt)
  console.log(JSON.stringify([loaded - since, performance.now() - loaded]))
  if (!cachedData) fs.writeFileSync(kept, script.createCachedData())`

function times(): Table {
  const prompt = readFileSync(join(ROOT, 'docs', 'hooks.md'), 'utf8').slice(0, 4096)
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-bench-'))
  try {
    const [file, kept, text, child] = ['rules.js', 'kept', 'prompt', 'child.cjs'].map((name) => join(dir, name)) as [
      string,
      string,
      string,
      string,
    ]
    const entryPoints = [join(ROOT, 'src/base/secrets/find.ts')]
    const built = buildSync({
      entryPoints,
      bundle: true,
      write: false,
      minify: true,
      format: 'iife',
      globalName: 'found',
      footer: { js: 'found' },
    })
    writeFileSync(file, built.outputFiles[0]!.text)
    writeFileSync(text, prompt)
    writeFileSync(child, CHILD)
    const run = () =>
      JSON.parse(execFileSync(process.execPath, [child, file, kept, text], { encoding: 'utf8' })) as [number, number]
    run()
    const runs = Array.from({ length: PROCESSES }, run)
    const [load, first] = [runs.map(([l]) => l), runs.map(([, f]) => f)]
    const whole = runs.map(([l, f]) => l + f)
    const warm = Array.from({ length: 200 }, () => timed(() => findSecrets(prompt)))
    const long = prompt.repeat(25)
    const row = (what: string, ms: readonly number[]): Row => ({ what, cells: [median(ms), quantile(ms, 0.95)] })
    return {
      title: `ms for a prompt of 4 kB; the first three in each of ${PROCESSES} fresh processes`,
      columns: ['median', 'p95'],
      rows: [
        row('the rules are loaded', load),
        row('the first look', first),
        { ...row('both: what a hook pays', whole), bound: `≤ ${HOOK_MS} ms`, ok: median(whole) <= HOOK_MS },
        row('a later look', warm),
        row(
          'a text of 100 kB',
          Array.from({ length: 20 }, () => timed(() => findSecrets(long))),
        ),
      ],
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

export const bench: Bench = {
  name: 'secrets',
  about: 'how many secrets are found, how much of what is found is none, and what looking costs',
  async run() {
    return [quality(), times()]
  },
}
