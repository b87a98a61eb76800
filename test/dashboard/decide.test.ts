// @module-tag long
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openAt } from '../../src/project/open.ts'
import { inProcess } from '../cli/run.ts'
import { tempDir } from '../convergence/harness.ts'
import { seededBytes } from '../helpers.ts'
import { describeUnless } from '../needs.ts'
import { dashboard, goTo, noBrowser } from './browser.ts'

/** Somebody with a key of their own takes the store's knowledge, changes it, and gives it back. */
function otherSays(dir: string, actions: readonly unknown[]): void {
  const [here, there] = [process.env.TIDEMARK_STATE!, tempDir()]
  mkdirSync(join(there, '.tidemark'))
  copyFileSync(join(dir, '.tidemark/config.json'), join(there, '.tidemark/config.json'))
  const mine = openAt({ projectPath: dir, unlisted: true }).memory
  const all = mine.updatesSince().bytes
  process.env.TIDEMARK_STATE = join(there, 'state')
  const env = { now: Date.now, random: seededBytes(7), log: () => {} }
  const theirs = openAt({ projectPath: there, unlisted: true, env, author: { user: 'Mallory' } }).memory
  try {
    theirs.applyUpdates(all)
    theirs.act(actions, { by: 'person' })
    const { bytes } = theirs.updatesSince()
    process.env.TIDEMARK_STATE = here
    mine.applyUpdates(bytes)
  } finally {
    process.env.TIDEMARK_STATE = here
    for (const memory of [mine, theirs]) memory.close()
  }
}

/** Reads the store as another process would. */
function reading<T>(dir: string, body: (reader: ReturnType<typeof openAt>['memory']['reader']) => T): T {
  const { memory } = openAt({ projectPath: dir, unlisted: true })
  try {
    return body(memory.reader)
  } finally {
    memory.close()
  }
}

describeUnless(noBrowser)('in a browser', () => {
  test('[T102] [P3] a change of a skill: shown, approved after a yes to its diff, and reverted to the byte', async () => {
    const { at, page } = await dashboard()
    const skill = join(at.dir, '.claude/skills/deploy/SKILL.md')
    const before = readFileSync(skill, 'utf8')
    await goTo(page, '/evolution', 'Evolution')
    await page.getByText('+3. Required: the smoke test.').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('+3. Required: the smoke test.').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(readFileSync(skill, 'utf8')).toBe(before)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: 'Yes, approve' }).click()
    await page.getByText('M-001 is applied to').waitFor()
    expect(readFileSync(skill, 'utf8')).toContain('3. Required: the smoke test.')
    // whether it helped is seen beside it
    for (let i = 0; i < 4; i++)
      expect((await inProcess(at, ['observe', 'deploy', `release ${i} went out`, '--ok'])).code).toBe(0)
    await page.getByText('before 3 of 5').waitFor()
    await page.getByText('after 0 of 4').waitFor()
    await page.getByRole('button', { name: 'Revert' }).click()
    await page.getByRole('button', { name: 'Yes, revert' }).click()
    await page.getByText('M-001 is reverted').waitFor()
    expect(readFileSync(skill, 'utf8')).toBe(before)
  })

  test('[A10] [T40] the review queue: single keys say yes, no and later, and undo takes each back', async () => {
    const { at, page } = await dashboard()
    await goTo(page, '/review', 'Review')
    const standing = (name: string) =>
      reading(at.dir, (reader) => reader.entity(`fact:${name}`)!.fields.standing ?? 'confirmed')
    const queue = page.getByRole('list', { name: 'Proposals' })
    await queue.focus()
    const said = page.getByRole('status').filter({ hasText: ':' })
    await page.keyboard.press('y')
    await said.getByText('Confirmed: Migrations are written by hand').waitFor()
    expect(standing('migrations-are-written-by-hand-and-reviewed-by-ana')).toBe('confirmed')
    await queue.focus()
    await page.keyboard.press('n')
    await said.getByText('Rejected: Receipts are never rendered').waitFor()
    expect(standing('receipts-are-never-rendered-in-the-browser')).toBe('rejected')
    await page.keyboard.press('u')
    await page.keyboard.press('u')
    await queue.getByRole('link', { name: 'Migrations are written by hand' }).waitFor()
    await expect.poll(() => standing('migrations-are-written-by-hand-and-reviewed-by-ana')).toBe('proposed')
    expect(standing('receipts-are-never-rendered-in-the-browser')).toBe('proposed')
  })

  test('[Y1] [Y2] what others want to change of what is ours: shown with who wants it, kept by a key, taken by another', async () => {
    const { at, page } = await dashboard()
    otherSays(at.dir, [
      ['record-decision', { name: 'prices-in-cents', rationale: 'because Mallory says so' }],
      ['retire', { ref: 'Amounts are passed as integers of cents, never as floats', reason: 'fix typo' }],
    ])
    await goTo(page, '/review', 'Review')
    const queue = page.getByRole('list', { name: 'Proposals' })
    await queue.getByText('Mallory, unverified, wants to retire it: "fix typo"').waitFor()
    await queue.focus()
    const said = page.getByRole('status').filter({ hasText: ':' })
    await page.keyboard.press('n')
    await said.getByText('Kept as it was').waitFor()
    await page.keyboard.press('y')
    await said.getByText('Taken over: prices-in-cents').waitFor()
    const entity = reading(at.dir, (reader) => reader.entity('decision:prices-in-cents')!)
    expect(entity.fields.rationale).toBe('because Mallory says so')
  })

  test('[A6] an entity is edited, superseded by name, retired and restored through the same verbs as everywhere', async () => {
    const { at, page } = await dashboard()
    await goTo(page, '/entity?id=decision%3Aprices-in-cents', 'prices-in-cents')
    await page.getByRole('button', { name: 'Edit rationale' }).click()
    await page.getByRole('textbox', { name: 'rationale' }).fill('Rounding lost money')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('definition').getByText('Rounding lost money').waitFor()
    const entity = () => reading(at.dir, (reader) => reader.entity('decision:prices-in-cents')!)
    expect(entity().fields.rationale).toBe('Rounding lost money')
    // as it was before the edit
    await page.getByText('Binary fractions lost a cent on every thirtieth order').waitFor()
    await page.getByRole('button', { name: 'Retire' }).click()
    await page.getByLabel('Why does it no longer hold?').fill('it moved')
    await page.getByRole('button', { name: 'Retire' }).last().click()
    await page.getByRole('button', { name: 'Restore' }).waitFor()
    expect(entity().fields.retired).toBeDefined()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('button', { name: 'Restore' }).last().click()
    await page.getByRole('button', { name: 'Retire' }).waitFor()
    expect(entity().fields.retired).toBeUndefined()
  })

  test('[X6] a claim is handed over to another session, or released', async () => {
    const { at, page } = await dashboard()
    const held = async () =>
      (
        JSON.parse((await inProcess(at, ['claims', '--json'])).out) as { claims: { session: string; on: string }[] }
      ).claims
        .map((c) => `${c.session} ${c.on}`)
        .sort()
    const claims = page.getByRole('region', { name: 'Claims' })
    await claims.getByRole('button', { name: /src\/cart\.ts/ }).click()
    await claims.getByRole('button', { name: 'To codex-77ac "tests for vouchers first"' }).click()
    await expect.poll(held).toEqual(['claude-4b1f src/voucher/**', 'codex-77ac src/cart.ts', 'codex-77ac test/**'])
    await claims.getByRole('button', { name: /test\/\*\*/ }).click()
    await claims.getByRole('button', { name: 'Release', exact: true }).last().click()
    await expect.poll(held).toEqual(['claude-4b1f src/voucher/**', 'codex-77ac src/cart.ts'])
  })

  test('[T102] a dashboard that an agent started offers no approval, and says why', async () => {
    const { page } = await dashboard({ isPersons: false })
    await page.getByText('No person on a terminal opened this page.').waitFor()
    await goTo(page, '/evolution', 'Evolution')
    await page.getByText('A person decides:').waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
  })
})
