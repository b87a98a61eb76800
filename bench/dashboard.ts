// How fast the dashboard is in headless Chromium, which draws WebGL without a graphics card.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright-core'
import { openProject } from '../src/project/open.ts'
import { type Serving, serve } from '../src/surfaces/http/serve.ts'
import { executablePath } from '../test/dashboard/browser-path.ts'
import { fillGraph } from './graph-store.ts'
import { ROOT, tempProject } from './project.ts'
import { type Bench, median, quantile, type Row, type Table } from './table.ts'

const OPENED = 5
const SECONDS = 4

/** A project of a size, served. */
async function served(entities: number, links: number): Promise<Serving> {
  const project = tempProject()
  const memory = openProject(project)
  memory.db.exec('PRAGMA synchronous=OFF')
  fillGraph(memory, entities, links)
  memory.close()
  return serve({ project: project.root, isPersons: true, log: () => {} })
}

async function withPages<T>(browser: Browser, serving: Serving, body: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
  try {
    const page = await context.newPage()
    await page.goto(serving.link!())
    await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor()
    return await body(page)
  } finally {
    await context.close()
    await serving.close()
  }
}

/** Resolves with the moment at which the page has its data. A string that the page evaluates is against its policy. */
const SETTLED = `new Promise((done) => {
  const look = () => document.querySelector('main h1') && !document.querySelector('.waiting') ? done(performance.now()) : requestAnimationFrame(look)
  look()
})`

const PAINTED = `new Promise((done) => {
  const look = () => {
    const [paint] = performance.getEntriesByName('first-contentful-paint')
    paint ? done(paint.startTime) : requestAnimationFrame(look)
  }
  look()
})`

/** From the address to the first paint, and to the page with its data, which takes keys and clicks. */
async function opening(page: Page, paths: readonly string[]): Promise<Row[]> {
  const rows: Row[] = []
  const { origin } = new URL(page.url())
  for (const path of paths) {
    const paints: number[] = []
    const ready: number[] = []
    for (let i = 0; i < OPENED; i++) {
      await page.goto('about:blank') // the page before is put away first: a graph takes its time
      await page.goto(origin + path)
      ready.push(await page.evaluate<number>(SETTLED))
      paints.push(await page.evaluate<number>(PAINTED))
    }
    const [paint, whole] = [median(paints), median(ready)]
    rows.push({ what: path, cells: [paint, whole], bound: '1000, 1500 ms', ok: paint <= 1000 && whole <= 1500 })
  }
  return rows
}

interface Frames {
  perSecond: number
  longest: number
}

/** Frames that are drawn while `step`, a script, moves something at each of them. */
async function frames(page: Page, step: string): Promise<Frames> {
  const times = await page.evaluate<number[]>(`new Promise((done) => {
    const times = []
    const until = performance.now() + ${SECONDS * 1000}
    const next = (at) => {
      times.push(at)
      if (performance.now() > until) return done(times)
      ;(${step})(times.length)
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })`)
  const gaps = times.slice(1).map((t, i) => t - times[i]!)
  return { perSecond: (1000 * gaps.length) / (times.at(-1)! - times[0]!), longest: quantile(gaps, 0.99) }
}

/** The mouse goes to and fro with its button down, as a hand does. */
const PAN = `(n) => {
  const canvas = document.querySelector('.canvas .sigma-mouse')
  const box = canvas.getBoundingClientRect()
  const at = { clientX: box.x + box.width / 2 + 200 * Math.sin(n / 20), clientY: box.y + box.height / 2 + 100 * Math.cos(n / 20), bubbles: true }
  if (n === 1) canvas.dispatchEvent(new MouseEvent('mousedown', at))
  document.dispatchEvent(new MouseEvent('mousemove', at))
  canvas.dispatchEvent(new MouseEvent('mousemove', at))
}`
const ZOOM = `(n) => {
  const canvas = document.querySelector('.canvas .sigma-mouse')
  const box = canvas.getBoundingClientRect()
  canvas.dispatchEvent(new WheelEvent('wheel', { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, deltaY: Math.sin(n / 30) > 0 ? -20 : 20, bubbles: true, cancelable: true }))
}`
const SCROLL = `() => scrollBy(0, 60)`
const JUMP = `(n) => n % 10 === 0 && scrollTo(0, (document.documentElement.scrollHeight * ((n * 7919) % 1000)) / 1000)`

const rate = (what: string, { perSecond, longest }: Frames, bound = 30): Row => ({
  what,
  cells: [perSecond, longest],
  bound: `>= ${bound}`,
  ok: perSecond >= bound,
})

function firstView(): Table {
  const dir = join(ROOT, 'dist/web')
  const index = readFileSync(join(dir, 'index.html'), 'utf8')
  const first = readdirSync(join(dir, 'assets')).filter((file) => index.includes(file))
  const bytes = first.reduce((sum, file) => sum + gzipSync(readFileSync(join(dir, 'assets', file))).length, 0)
  return {
    title: 'The first view, compressed',
    columns: ['kB'],
    rows: [{ what: first.join(', '), cells: [bytes / 1000], bound: '<= 250', ok: bytes <= 250_000 }],
  }
}

export const bench: Bench = {
  name: 'dashboard',
  about: 'the dashboard in headless Chromium',
  async run() {
    if (executablePath === undefined) return [firstView()]
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    const columns = ['frames/s', 'frame ms p99']
    try {
      const pages = await withPages(browser, await served(10_000, 10_000), (page) =>
        opening(page, ['/', '/briefing', '/knowledge', '/review', '/evolution', '/graph', '/signals']),
      )
      const graph = await withPages(browser, await served(5_000, 15_000), async (page) => {
        await page.goto(new URL('/graph', page.url()).href)
        await page.locator('.canvas[data-settled]').waitFor({ timeout: 60_000 })
        return [rate('pan', await frames(page, PAN)), rate('zoom', await frames(page, ZOOM))]
      })
      const lists = await withPages(browser, await served(100_000, 0), async (page) => {
        await page.goto(new URL('/knowledge', page.url()).href)
        await page.evaluate(SETTLED)
        return [rate('scroll', await frames(page, SCROLL)), rate('jump', await frames(page, JUMP))]
      })
      return [
        firstView(),
        { title: 'Opening a page of 10,000 entities', columns: ['first paint ms', 'interactive ms'], rows: pages },
        { title: 'A graph of 5,000 things and 15,000 links', columns, rows: graph },
        { title: 'A list of 100,000', columns, rows: lists },
      ]
    } finally {
      await browser.close()
    }
  },
}
