// @module-tag long
import { expect, test } from 'vitest'
import { createProject } from '../../src/engine/store/project.ts'
import { openAt } from '../../src/project/open.ts'
import { inProcess } from '../cli/run.ts'
import { describeUnless } from '../needs.ts'
import { dashboard, goTo, noBrowser, violations } from './browser.ts'

const FACTS = 3_000
const SEEN = 'The deploy took twenty minutes'

/** A project with many facts that agents propose, each in an event of its own. */
function longProject(dir: string) {
  const { project } = createProject(dir, { name: 'long' })
  const { memory } = openAt({ projectPath: dir, unlisted: true })
  try {
    memory.db.exec('PRAGMA synchronous=OFF')
    memory.act([['record-observation', { operation: 'deploy', what: SEEN }]])
    for (let i = 0; i < FACTS; i += 50)
      memory.act(
        Array.from({ length: 50 }, (_, k) => ['record-fact', { fact: `Rule ${i + k} of the house` }]),
        { by: 'agent', agent: 'codex' },
      )
  } finally {
    memory.close()
  }
  return project
}

describeUnless(noBrowser)('in a browser', () => {
  test('[U5] long lists draw what is in sight alone, wherever that is; keyboard and screen reader find their way', async () => {
    const { at, page, complaints } = await dashboard({ fill: longProject })
    const drawn = () => page.locator('[data-row]').count()
    const home = async () => {
      const pressed = async () => {
        await page.keyboard.press('Home')
        return page.evaluate('scrollY')
      }
      await expect.poll(pressed, { timeout: 30_000 }).toBe(0)
    }
    const toMiddle = () => page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)')
    await goTo(page, '/knowledge', 'Knowledge')
    await page.getByRole('link', { name: 'Rule ', exact: false }).first().waitFor()
    const listed = page.getByRole('list', { name: 'Everything that is recorded' })
    const row = (n: number) => listed.locator(`[aria-posinset="${n}"]`)
    expect(await row(1).getAttribute('aria-setsize')).toBe(String(FACTS + 1)) // with the observation
    expect(await drawn()).toBeLessThan(100)
    await toMiddle()
    await row(1500).locator('a').waitFor()
    expect(await drawn()).toBeLessThan(100)
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('End')
    await row(FACTS + 1)
      .locator('a')
      .waitFor()
    // from row to row with the Tab key, also to those that were not drawn before; a busy machine draws late
    await home()
    await row(1).locator('a').focus()
    for (let n = 2; n <= 61; n++) {
      await page.keyboard.press('Tab')
      await page.waitForFunction(`document.activeElement.closest("li")?.ariaPosInSet === "${n}"`)
    }
    // what is written meanwhile comes first
    await home()
    expect((await inProcess(at, ['remember', 'The newest of all', '--as', 'fact'])).code).toBe(0)
    await row(1).getByText('The newest of all').waitFor()

    // it waits with the others: nobody was at a terminal
    const asked: { limit?: number; offset?: number }[] = []
    page.on('request', (r) => r.url().endsWith('/api/tools/review') && asked.push(r.postDataJSON()))
    await goTo(page, '/review', 'Review')
    await page
      .locator(`[aria-setsize="${FACTS + 1}"]`)
      .first()
      .waitFor()
    expect(await drawn()).toBeLessThan(100)
    await toMiddle()
    await page.locator('[aria-posinset="1500"] a').waitFor()
    expect(await violations(page)).toEqual([])
    // the end is the end also where its rows come late
    await page.route('**/api/tools/review', (route) => setTimeout(() => route.continue(), 500))
    const height = () => page.evaluate<number>('document.documentElement.scrollHeight')
    await page.keyboard.press('End')
    await page.locator(`[aria-posinset="${FACTS + 1}"]`).waitFor()
    const before = await height()
    await page.locator(`[aria-posinset="${FACTS + 1}"] a`).waitFor()
    expect(Math.abs((await height()) - before)).toBeLessThan(100) // one row
    expect([...new Set(asked.map((a) => a.limit))]).toEqual([100])
    expect(new Set(asked.map((a) => a.offset)).size).toBeLessThan(12) // of 30 pages

    await goTo(page, '/', 'Now')
    const events = page.getByRole('region', { name: 'As it happens' })
    await events.getByText('The newest of all').waitFor()
    // what an event of long ago named is asked for
    const [seen] = JSON.parse((await inProcess(at, ['list', 'observation', '--json'])).out)
    expect((await inProcess(at, ['forget', seen.id])).code).toBe(0)
    await events.getByText(SEEN).waitFor()
    // going on down shows what was before
    for (let i = 0; i < 20; i++) {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      await expect.poll(() => events.locator('.waiting').count(), { timeout: 10_000 }).toBe(0)
    }
    const size = async () => Number(await events.locator('[data-row]').first().getAttribute('aria-setsize'))
    await expect.poll(size).toBeGreaterThan(200)
    expect(await drawn()).toBeLessThan(100)
    expect(complaints).toEqual([])
  })
})
