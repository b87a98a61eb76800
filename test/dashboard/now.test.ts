import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { git, inProcess } from '../cli/run.ts'
import { describeUnless } from '../needs.ts'
import { dashboard, noBrowser } from './browser.ts'
import { demoProject } from './demo.ts'

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

  test('[U1] a change says what changed, and a link that was undone names both its ends', async () => {
    const { at, page, complaints } = await dashboard()
    const act = async (batch: object) =>
      expect(await inProcess(at, ['act', JSON.stringify(batch)])).toMatchObject({ code: 0 })
    await act([
      ['record-decision', { name: 'hold-stock' }],
      ['record-result', { text: 'stock was oversold' }],
    ])
    await act([
      ['record-decision', { name: 'sell-stock' }],
      ['supersede', { old: 'hold-stock', new: 'sell-stock' }],
    ])
    const events = page.getByRole('region', { name: 'As it happens' }).getByRole('listitem')
    await events.filter({ hasText: /changed.*hold-stock.*status: superseded/s }).waitFor()
    expect(await inProcess(at, ['undo'])).toMatchObject({ code: 0 })
    await events.filter({ hasText: /unlinked.*sell-stock.*supersedes.*hold-stock/s }).waitFor()
    await events.filter({ hasText: /changed.*hold-stock.*status: no longer superseded/s }).waitFor()
    await act([['link-entities', { from: 'stock was oversold', to: 'hold-stock', type: 'about' }]])
    await events.filter({ hasText: /linked.*stock was oversold.*about.*hold-stock/s }).waitFor()
    expect(complaints).toEqual([])
  })

  test('[U1] [X6] two branches that change one line stand there before anybody merges them', async () => {
    const { page, complaints } = await dashboard({
      fill: (dir) => {
        const project = demoProject(dir)
        const commit = (branch: string, text: string) => {
          git(dir, 'checkout', '-q', '-b', branch, 'main')
          writeFileSync(join(dir, 'src/cart.ts'), text)
          git(dir, 'commit', '-q', '-am', branch)
        }
        git(dir, 'checkout', '-q', '-b', 'main')
        git(dir, 'add', 'src')
        git(dir, 'commit', '-q', '-m', 'cart')
        commit('vouchers', 'export const total = 1\n')
        commit('taxes', 'export const total = 2\n')
        git(dir, 'checkout', '-q', 'main')
        return project
      },
    })
    const panel = page.getByRole('region', { name: 'Will not merge' })
    await panel.getByText('taxes and vouchers').waitFor()
    await panel.getByText('src/cart.ts').waitFor()
    expect(complaints).toEqual([])
  })
})
