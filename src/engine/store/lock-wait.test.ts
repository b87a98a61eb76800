import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { openTestMemory, userError } from '../../../test/helpers.ts'
import { waitForLock } from './db.ts'
import { retryWithBackoff } from './lock-wait.ts'

test('[A8] whoever waits for its turn tries again and again, and gives up in time', () => {
  let tries = 0
  expect(retryWithBackoff(() => ++tries === 5, 60_000)).toBe(true)
  expect(tries).toBe(5)
  const since = performance.now()
  expect(retryWithBackoff(() => false, 50)).toBe(false)
  expect(performance.now() - since).toBeGreaterThanOrEqual(50)
  expect(retryWithBackoff(() => false, 0)).toBe(false)
})

test('[A8] what another process holds is refused after the time that this one has, or at once', () => {
  const { memory, act } = openTestMemory()
  const other = new DatabaseSync(memory.path)
  onTestFinished(() => {
    other.close()
    waitForLock(60_000)
  })
  other.exec('BEGIN IMMEDIATE')
  expect(memory.db.tryWrite(() => true)).toBeUndefined()
  waitForLock(30)
  const record = () => act([['record-decision', { name: 'd', rationale: 'r' }]])
  expect(userError(record)).toMatchObject({ code: 'store-busy', message: expect.stringContaining('0.03 s') })
  other.exec('ROLLBACK')
  expect(memory.db.tryWrite(() => true)).toBe(true)
  expect(record().batch).not.toBeNull()
})
