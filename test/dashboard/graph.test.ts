// @module-tag long
import { expect, test } from 'vitest'
import { describeUnless } from '../needs.ts'
import { dashboard, goTo, noBrowser } from './browser.ts'

const SETTLED = '.canvas[data-settled]'
const WHAT = 'decision:partition-orders-by-month'

describeUnless(noBrowser)('in a browser', () => {
  test('[U7] the graph: by kind; a thing with its history, found by its name', async () => {
    const { page, complaints } = await dashboard()
    const things = async () => Number(/\d+/.exec(await page.locator('.lead').innerText())![0])
    await goTo(page, '/graph', 'Graph')
    await page.locator(SETTLED).waitFor()
    const whole = await things()
    expect(whole).toBeGreaterThan(30)

    await page.getByRole('button', { name: 'lessons' }).click()
    await expect.poll(things).toBeLessThan(whole)
    await page.getByRole('button', { name: 'lessons' }).click()
    await expect.poll(things).toBe(whole)
    await page.getByLabel('Find in the graph').fill('partition-orders')
    await page.getByRole('button', { name: 'partition-orders-by-month' }).first().click()
    await page.waitForURL(`**/graph?id=${encodeURIComponent(WHAT)}`)

    await goTo(page, `/graph?id=${encodeURIComponent(WHAT)}`, 'Graph')
    const aside = page.getByRole('complementary', { name: 'Chosen' })
    await aside.getByRole('heading', { name: 'How it came to this' }).waitFor()
    expect(await aside.locator('.chain li').allInnerTexts()).toEqual([
      expect.stringMatching(/20\d\d.*one-table-per-shop/s),
      expect.stringMatching(/20\d\d.*partition-orders-by-month/s),
    ])
    const links = await aside
      .getByRole('listitem')
      .filter({ hasText: /supersedes|replaced/ })
      .allInnerTexts()
    expect(links).toEqual([expect.stringMatching(/^supersedes →.*one-table-per-shop/s)])
    expect(complaints).toEqual([])
  })
})
