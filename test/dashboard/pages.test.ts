// @module-tag long
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { createProject, type Project } from '../../src/engine/store/project.ts'
import { openAt } from '../../src/project/open.ts'
import { serve } from '../../src/surfaces/http/serve.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { inProcess, tidemark } from '../cli/run.ts'
import { describeUnless } from '../needs.ts'
import { dashboard, goTo, noBrowser, PAGES, violations } from './browser.ts'

const EVIL = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script><svg onload=alert(1)>`

/** A project whose every text would be a script, if anything took it for one. */
function evilProject(dir: string): Project {
  const { project } = createProject(dir, { name: `evil ${EVIL}`.slice(0, 60) })
  const { memory } = openAt({ projectPath: dir, unlisted: true })
  try {
    const registry = memory.reader.registry()
    for (const kind of registry.kinds().filter((k) => !k.internal)) {
      const args = kind.example as { [field: string]: unknown }
      // field by field: a choice, a time or a reference takes no such text
      for (const [field, value] of Object.entries(args).filter(([, v]) => typeof v === 'string'))
        try {
          memory.act(
            [[`record-${kind.name}`, { ...args, [field]: `${value} ${EVIL}`, topics: [EVIL], tags: [EVIL] }]],
            { user: EVIL },
          )
        } catch (error) {
          if (!(error instanceof UserError)) throw error
        }
    }
    memory.act([['share-set', { key: 'k', value: { [EVIL]: EVIL, list: [EVIL] } }]], { user: EVIL })
    memory.act([['record-fact', { fact: `proposed ${EVIL}` }]], { by: 'agent', agent: EVIL })
    const sessions = sessionsOf(memory)
    sessions.start({ id: 'evil', client: EVIL.slice(0, 60), user: EVIL, branch: EVIL, role: EVIL.slice(0, 60) })
    sessions.patch('evil', { title: EVIL })
    sessions.edited('evil', `src/${EVIL}`)
    memory.act([['claim', { paths: [`src/${EVIL}`], note: EVIL }]], { session: 'evil' })
  } finally {
    memory.close()
  }
  return project
}

describeUnless(noBrowser)('in a browser', () => {
  test('[U2] every page: no violation that axe knows, nothing wider than the window, and no request beyond loopback', async () => {
    const { page, foreign, complaints } = await dashboard()
    for (const [path, title] of PAGES) {
      for (const colorScheme of ['light', 'dark'] as const)
        for (const width of [1280, 360]) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 800 })
          await goTo(page, path, title)
          expect([path, colorScheme, width, await violations(page)]).toEqual([path, colorScheme, width, []])
          expect([path, width, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
            path,
            width,
            width,
          ])
        }
    }
    expect([foreign, complaints]).toEqual([[], []])
  })

  test('[U2] a project in which nothing has happened: every page says what would be there, and waits for nothing', async () => {
    const fill = (dir: string) => createProject(dir, { name: 'fresh' }).project
    const { page, complaints } = await dashboard({ fill })
    for (const [path, title] of PAGES.filter(([p]) => !p.includes('?'))) {
      await goTo(page, path, title)
      expect([path, await violations(page)]).toEqual([path, []])
      if (path !== '/briefing') await page.locator('.empty').first().waitFor()
    }
    expect(complaints).toEqual([])
  })

  test('a start as its client is told it, ended sessions by name, and a graph of what nothing links', async () => {
    const fill = (dir: string) => {
      const { project } = createProject(dir, { name: 'rules' })
      writeFileSync(join(dir, 'CLAUDE.md'), '- Always use task\n')
      const { memory } = openAt({ projectPath: dir, unlisted: true })
      memory.act([['record-fact', { fact: 'Always use task', locations: ['CLAUDE.md:1'] }]], { by: 'person' })
      for (let b = 0; b < 6; b++)
        memory.act(Array.from({ length: 40 }, (_, n) => ['record-learning', { title: `lesson ${b} ${n}` }]))
      const sessions = sessionsOf(memory)
      const id = '89704a4f-53ab-4057-9a93-8a79efce438f'
      sessions.start({ id, client: 'claude-code' })
      sessions.patch(id, { title: 'add a discount' })
      memory.act([['record-decision', { name: 'use-cents' }]], { session: id })
      sessions.end(id)
      memory.close()
      return project
    }
    const { page } = await dashboard({ fill })
    await page.getByText('Claude "add a discount"').first().waitFor()
    await goTo(page, '/briefing', 'Briefing')
    await page.locator('.brief').waitFor()
    expect(await page.locator('.brief').innerText()).not.toContain('Always use task')
    await page.getByLabel('Client').selectOption('codex')
    await page.locator('.brief').getByText('Always use task').waitFor()
    await goTo(page, '/graph', 'Graph')
    await expect.poll(() => page.locator('.lead').innerText()).toMatch(/^24\d of/)
  })

  test('[T103] texts that would be scripts are shown as they are, on every page', async () => {
    const { at, page, complaints } = await dashboard({ fill: evilProject })
    const harmless = async (title: string) => {
      expect(await page.locator('img, main script, main svg[onload]').count()).toBe(0)
      expect(await page.title()).toBe(`${title} · Tidemark`)
    }
    for (const [path, title] of PAGES.filter(([p]) => !p.includes('id='))) {
      await goTo(page, path, title)
      await harmless(title)
    }
    const listed = await inProcess(at, ['list', '--all', '--json'])
    const evil = (JSON.parse(listed.out) as { id: string; name: string }[]).filter((e) => e.name.includes('onerror'))
    expect(evil.length).toBeGreaterThan(12)
    for (const { id, name } of evil) {
      await page.goto(new URL(`/entity?id=${encodeURIComponent(id)}`, page.url()).href)
      await page.getByRole('heading', { name: 'What it says' }).waitFor()
      await harmless(name)
    }
    expect(complaints).toEqual([])
    await goTo(page, '/', 'Now')
    await page.getByRole('region', { name: 'Live sessions' }).getByText(EVIL, { exact: false }).first().waitFor()
  })

  test('[U1] what another process writes shows within a second, ten times in a row; every tab of the browser hears of it', async () => {
    const { at, page, context } = await dashboard()
    const shows = (tab: Page, value: string) =>
      tab.getByRole('region', { name: 'Shared context' }).getByText(value, { exact: true }).waitFor()
    const share = async (value: string) =>
      expect((await tidemark(at, ['share', 'set', 'build', JSON.stringify(value)])).code).toBe(0)
    const waits: number[] = []
    for (let n = 1; n <= 10; n++) {
      await share(`build ${n} of ten`)
      const start = performance.now()
      await shows(page, `build ${n} of ten`)
      waits.push(Math.round(performance.now() - start))
    }
    console.log(`shown after ${waits.join(', ')} ms`)
    expect(Math.max(...waits)).toBeLessThan(5_000) // ten times an idle machine
    const tabs = [page, await context.newPage(), await context.newPage()]
    for (const tab of tabs.slice(1)) {
      await tab.goto(page.url())
      await goTo(tab, '/', 'Now')
    }
    await share('in every tab')
    await Promise.all(tabs.map((tab) => shows(tab, 'in every tab')))
    // the tab that read the stream is gone: another one reads on
    await page.close()
    await share('without the first')
    await Promise.all(tabs.slice(1).map((tab) => shows(tab, 'without the first')))
  })

  test('[U1] a page asks once for what it shows, and misses nothing that is written before it listens', async () => {
    const { at, page } = await dashboard()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const listens = Promise.withResolvers<void>()
    await page.route('**/api/events*', async (route) => {
      await listens.promise
      await route.continue()
    })
    await goTo(page, '/', 'Now')
    const shared = page.getByRole('region', { name: 'Shared context' })
    await shared.locator('li').first().waitFor()
    expect((await inProcess(at, ['share', 'set', 'build', '"written between"'])).code).toBe(0)
    const times = () => asked.filter((path) => path === '/api/tools/status').length
    expect(times()).toBe(1)
    listens.resolve()
    await shared.getByText('written between', { exact: true }).waitFor()
    await page.unroute('**/api/events*')
    asked.length = 0
    await goTo(page, '/', 'Now')
    await page.getByText('live', { exact: true }).waitFor()
    expect((await inProcess(at, ['share', 'set', 'build', '"written later"'])).code).toBe(0)
    await shared.getByText('written later', { exact: true }).waitFor()
    expect(times()).toBe(2) // when it opened, and when something was written
  })

  test('[U3] a server that stops is told of; the page keeps what it knew, and goes on when it is back', async () => {
    const { at, page, context, serving } = await dashboard()
    const port = Number(new URL(serving.url).port)
    await page.getByText('Add a discount field to the cart').first().waitFor()
    await serving.close()
    await page.getByText('The server has stopped.').waitFor()
    await page.getByText('Add a discount field to the cart').first().waitFor()
    const back = await serve({ project: at.dir, isPersons: true, port, log: () => {} })
    try {
      await page.getByText('This browser has no key to the project').waitFor()
      const other = await context.newPage()
      await other.goto(back.link!())
      await other.getByText('Add a discount field to the cart').first().waitFor()
      await page.getByText('Add a discount field to the cart').first().waitFor()
      await other.close()
      expect((await inProcess(at, ['share', 'set', 'again', '"back"'])).code).toBe(0)
      await page.getByRole('region', { name: 'Shared context' }).getByText('again').waitFor()
    } finally {
      await back.close()
    }
  })

  test('[U2] with the keyboard alone: skip to the page, go to a page, and come to its heading', async () => {
    const { page } = await dashboard()
    await page.reload()
    await page.getByRole('heading', { name: 'Now' }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Skip to the page')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe('/')
  })
})

test('[U4] the first view takes at most 250 kB, compressed', () => {
  const dir = join(import.meta.dirname, '../../dist/web')
  const index = readFileSync(join(dir, 'index.html'), 'utf8')
  const first = readdirSync(join(dir, 'assets')).filter((file) => index.includes(file))
  const bytes = first.reduce((sum, file) => sum + gzipSync(readFileSync(join(dir, 'assets', file))).length, 0)
  console.log(`the first view takes ${Math.round(bytes / 1000)} kB`)
  expect(first.length).toBeGreaterThan(1)
  expect(bytes).toBeLessThan(250_000)
})
