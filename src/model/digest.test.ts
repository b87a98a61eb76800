import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { digest, sha256 } from './digest.ts'

const known = (text: string) => createHash('sha256').update(text).digest('hex')

test('the digest that needs no node:crypto is SHA-256, for texts of every length up to several blocks and of any script', () => {
  for (let n = 0; n < 300; n++)
    expect(digest('é日a😀'.repeat(n).slice(0, n).toWellFormed())).toBe(
      known('é日a😀'.repeat(n).slice(0, n).toWellFormed()),
    )
  expect(digest('x'.repeat(100_000))).toBe(known('x'.repeat(100_000)))
})

test('a process that hashes more than a hook does gets the same from node:crypto', () => {
  for (let n = 0; n < 40; n++) expect(sha256(`a text of it ${n}`.repeat(n))).toBe(known(`a text of it ${n}`.repeat(n)))
})
