// One of the processes that benchmarks start; says on stdout what it measured, as JSON.
import { openAt } from '../src/project/open.ts'

const [role, root, name = '', count = '0'] = process.argv.slice(2)
const started = () => new Promise<void>((resolve) => process.stdin.once('data', () => resolve()))
const say = (value: unknown) => void process.stdout.write(`${JSON.stringify(value)}\n`)

if (role === 'writer') {
  const { memory } = openAt({ projectPath: root! })
  memory.cursor // opened
  say('ready')
  await started()
  const ms: number[] = []
  const begin = Number(process.hrtime.bigint()) / 1e6
  for (let i = 0; i < Number(count); i++) {
    const since = performance.now()
    memory.act([['record-decision', { name: `${name}-${i}`, rationale: 'written beside seven others' }]])
    ms.push(performance.now() - since)
  }
  say({ begin, end: Number(process.hrtime.bigint()) / 1e6, ms })
  process.exit(0)
} else if (role === 'talker') {
  const { runTalker } = await import('./talker.ts')
  const talked = await runTalker(root!, name, JSON.parse(count), () => {
    say('ready')
    return started()
  })
  process.stdout.write(`${JSON.stringify(talked)}\n`, () => process.exit(0))
} else if (role === 'idler') {
  // follows a store in which nothing happens
  const { memory } = openAt({ projectPath: root! })
  memory.subscribe(() => {})
  say('ready')
  await started()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const before = process.cpuUsage()
  const since = performance.now()
  await new Promise((resolve) => setTimeout(resolve, Number(count)))
  const { user, system } = process.cpuUsage(before)
  say({ percent: (user + system) / 10 / (performance.now() - since) })
  process.exit(0)
} else if (role === 'briefer') {
  const { brief } = await import('../src/session/briefing/brief.ts')
  const { percentile } = await import('./evaluate/metrics.ts')
  const { memory, project } = openAt({ projectPath: root! })
  const once = () => {
    const [cpu, since] = [process.cpuUsage(), performance.now()]
    const told = brief(memory, project, { session: 'me', branch: 'main' })
    const { user, system } = process.cpuUsage(cpu)
    return { told, ms: performance.now() - since, cpu: (user + system) / 1000 }
  }
  const first = once()
  const rounds = Array.from({ length: 200 }, once)
  const { countTokens } = await import('../test/tokens.ts')
  const of = (values: readonly number[], p: number) =>
    percentile(
      values.toSorted((a, b) => a - b),
      p,
    )
  const { text, tokens, chars } = first.told
  const ms = rounds.map((r) => r.ms)
  say({
    ...{
      firstMs: first.ms,
      p50: of(ms, 0.5),
      p95: of(ms, 0.95),
      cpu50: of(
        rounds.map((r) => r.cpu),
        0.5,
      ),
    },
    ...{ tokens, exact: countTokens(text), chars },
  })
  process.exit(0)
} else if (role === 'asker') {
  const { openWith } = await import('./recalling.ts')
  const { question } = await import('./knowledge.ts')
  const { percentile } = await import('./evaluate/metrics.ts')
  const { findProject } = await import('../src/engine/store/project.ts')
  const rss = () => process.memoryUsage.rss() / 2 ** 20
  const entities = Number(count)
  const emptyMb = rss()
  const since = performance.now()
  const open = openWith(name === 'none' ? 'none' : 'static', findProject(root!))
  await open.library.recall(question(0, entities))
  const firstMs = performance.now() - since
  const openMb = rss()
  const ms: number[] = []
  const cpu: number[] = []
  let found = 0
  for (let i = 1; i <= 20 + 200; i++) {
    const [asked, before] = [performance.now(), process.cpuUsage()]
    const { results } = await open.library.recall(question(i, entities))
    if (i <= 20) continue // warms up
    ms.push(performance.now() - asked)
    const { user, system } = process.cpuUsage(before)
    cpu.push((user + system) / 1000)
    if (results.length > 0) found++
  }
  const told = {
    ...{ p50: percentile(ms, 0.5), p95: percentile(ms, 0.95), most: Math.max(...ms), found: found / ms.length },
    ...{ cpu50: percentile(cpu, 0.5), cpu95: percentile(cpu, 0.95) },
  }
  say({ emptyMb, openMb, askedMb: rss(), firstMs, ...told })
  process.exit(0)
}
