// @module-tag long
import { readFileSync } from 'node:fs'
import { inflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { inProcess } from '../cli/run.ts'
import { describeUnless } from '../needs.ts'
import { dashboard, goTo, noBrowser } from './browser.ts'

/** The pixels of a PNG as rows of bytes with their filter in front. */
function pixelsOf(png: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  return inflateSync(Buffer.concat(parts))
}

async function saved(page: Page, button: string): Promise<Buffer> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ])
  return readFileSync(await download.path())
}

const SETTLED = '.canvas[data-settled]'
const WHAT = 'decision:partition-orders-by-month'

describeUnless(noBrowser)('in a browser', () => {
  test('[U7] the graph: by kind, topic and moment; a thing with its trace and its history; saved as SVG and PNG as it is seen', async () => {
    const { at, page, complaints } = await dashboard()
    expect((await inProcess(at, ['mark', 'before-all', '--at', '2 weeks ago'])).code).toBe(0)
    const things = async () => Number(/\d+/.exec(await page.locator('.lead').innerText())![0])
    const circles = async () => (await saved(page, 'Save SVG')).toString('utf8').match(/<circle /g)?.length
    await goTo(page, '/graph', 'Graph')
    await page.locator(SETTLED).waitFor()
    const whole = await things()
    expect(whole).toBeGreaterThan(30)
    expect(await circles()).toBe(whole)
    const picture = pixelsOf(await saved(page, 'Save PNG'))
    expect(new Set(picture).size).toBeGreaterThan(8) // more than one plain sheet

    await page.getByRole('button', { name: 'lessons' }).click()
    await expect.poll(things).toBeLessThan(whole)
    await page.getByRole('button', { name: 'lessons' }).click()
    await page.getByLabel('Topic').selectOption('cart')
    await expect.poll(things).toBeLessThan(whole / 2)
    expect(await circles()).toBe(await things())
    await page.getByLabel('Topic').selectOption('')
    await expect.poll(things).toBe(whole)

    await page.getByRole('button', { name: 'before-all' }).click()
    await page.getByText('As it was on').waitFor()
    await expect.poll(things).toBeLessThan(whole)

    await goTo(page, `/graph?id=${encodeURIComponent(WHAT)}`, 'Graph')
    const aside = page.getByRole('complementary', { name: 'Chosen' })
    await aside.getByRole('heading', { name: 'How it came to this' }).waitFor()
    expect(await aside.locator('.chain li').allInnerTexts()).toEqual([
      expect.stringMatching(/20\d\d.*one-table-per-shop/s),
      expect.stringMatching(/20\d\d.*partition-orders-by-month/s),
    ])
    await aside.getByRole('button', { name: 'its trace' }).click()
    await expect.poll(things).toBeLessThan(8)
    const svg = async () => (await saved(page, 'Save SVG')).toString('utf8')
    for (const name of ['one-table-per-shop', 'partition-orders-by-month']) expect(await svg()).toContain(name)
    expect(complaints).toEqual([])
  })
})
