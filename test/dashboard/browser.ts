import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, expect, onTestFinished } from 'vitest'
import type { Project } from '../../src/engine/store/project.ts'
import { type Serving, serve } from '../../src/surfaces/http/serve.ts'
import { git, scratch } from '../cli/run.ts'
import { executablePath, PAGES } from './browser-path.ts'
import { demoProject } from './demo.ts'

export const noBrowser = executablePath === undefined && 'no Chromium here: apt-get install chromium'

let browser: Promise<Browser> | undefined
afterAll(async () => {
  await (await browser)?.close()
  browser = undefined
})

export interface Dashboard {
  readonly at: ReturnType<typeof scratch>
  readonly project: Project
  readonly serving: Serving
  readonly context: BrowserContext
  readonly page: Page
  /** Addresses beyond loopback that a page asked for. */
  readonly foreign: string[]
  /** What the browser complained of. */
  readonly complaints: string[]
}

/** A project filled by three weeks of work, or by `fill`, its dashboard, and a browser that a person opened with its link. */
export async function dashboard(options: { isPersons?: boolean; fill?: (dir: string) => Project } = {}) {
  const at = scratch()
  git(at.dir, 'init', '-q')
  const project = (options.fill ?? demoProject)(at.dir)
  const serving = await serve({ project: at.dir, isPersons: options.isPersons ?? true, log: () => {} })
  onTestFinished(() => serving.close())
  browser ??= chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' })
  onTestFinished(() => context.close())
  const foreign: string[] = []
  const complaints: string[] = []
  await context.route(
    (url) => url.hostname !== '127.0.0.1',
    (route) => {
      foreign.push(route.request().url())
      return route.abort()
    },
  )
  context.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  context.on('weberror', (error) => complaints.push(String(error.error())))
  const page = await context.newPage()
  await page.goto(serving.link!())
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor()
  return { at, project, serving, context, page, foreign, complaints } satisfies Dashboard
}

export const goTo = async (page: Page, path: string, title: string): Promise<void> => {
  await page.goto(new URL(path, page.url()).href)
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  await expect.poll(() => page.locator('.waiting').count(), { timeout: 20_000 }).toBe(0)
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds wrong with a page, in words. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const found = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  )) as { violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }
  return found.violations.map(
    (v) => `${v.id}: ${v.nodes.map((n) => `${n.html.slice(0, 160)} ${n.failureSummary}`).join('; ')}`,
  )
}

export { PAGES }
