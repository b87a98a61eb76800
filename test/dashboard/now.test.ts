import { expect, test } from 'vitest'
import { inProcess } from '../cli/run.ts'
import { describeUnless } from '../needs.ts'
import { dashboard, noBrowser } from './browser.ts'

describeUnless(noBrowser)('in a browser', () => {
  test('[U1] [T100] the link opens the page once and leaves the address; what another process records shows within a second', async () => {
    const { at, page, serving, complaints, foreign } = await dashboard()
    expect(page.url()).toBe(`${serving.url}/`)
    expect(await page.evaluate('document.cookie')).toBe('')
    const sessions = page.getByRole('region', { name: 'Live sessions' })
    await sessions.getByText('claude-4b1f "add a discount field"').waitFor()
    await sessions.getByText('Add a discount field to the cart').waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    const fact = 'The name of a release is what `npm run lighthouse` says'
    const told = await inProcess(at, ['remember', fact, '--as', 'rule'])
    const start = performance.now()
    expect(told).toMatchObject({ code: 0 })
    await page
      .getByRole('region', { name: 'As it happens' })
      .locator('code', { hasText: /^npm run lighthouse$/ })
      .waitFor()
    expect(performance.now() - start).toBeLessThan(1_000)
    expect([complaints, foreign]).toEqual([[], []])
  })
})
