import { expect, test } from 'vitest'
import { digest } from './digest.ts'
import { sha256 } from './names.ts'

test('the digest that needs no node:crypto is SHA-256, for texts of every length up to several blocks and of any script', () => {
  for (let n = 0; n < 300; n++)
    expect(digest('é日a😀'.repeat(n).slice(0, n).toWellFormed())).toBe(
      sha256('é日a😀'.repeat(n).slice(0, n).toWellFormed()),
    )
  expect(digest('x'.repeat(100_000))).toBe(sha256('x'.repeat(100_000)))
})
