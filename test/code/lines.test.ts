import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { carried, collisions, difference, type Span } from '../../src/model/lines.ts'

const text = fc.array(fc.constantFrom('a', 'b', 'c', '', '}'), { maxLength: 30 })

test('[E3] a difference makes one text of the other, and carries what was not changed', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const hunks = difference(a, b)
      const made = hunks
        .toReversed()
        .reduce((rows, h) => rows.toSpliced(h.a[0], h.a[1] - h.a[0], ...b.slice(...h.b)), [...a])
      expect(made).toEqual(b)
      for (let at = 0; at < a.length; at++) {
        if (hunks.some((h) => h.a[0] <= at && at < h.a[1])) continue
        const line: Span = [at, at + 1]
        const there = carried(hunks, line)
        expect(b.slice(...there)).toEqual(a.slice(...line))
        expect(carried(hunks, there, true)).toEqual(line)
      }
    }),
    { numRuns: 2_000 },
  )
})

/** Changes of a text in which no line stands twice, so that there is one way to say them. */
const changes = fc.array(
  fc.record({ at: fc.nat(19), out: fc.nat(2), lines: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }) }),
  { maxLength: 3 },
)

test('[E3] changes collide where git finds a conflict', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-lines-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const base = Array.from({ length: 20 }, (_, n) => `line ${n}`)
  const changed = (all: typeof changes extends fc.Arbitrary<infer T> ? T : never, mark: string) =>
    all
      .toSorted((a, b) => b.at - a.at)
      .reduce((rows, c) => rows.toSpliced(c.at, c.out, ...c.lines.map((l) => l + (l === 'x' ? '' : mark + c.at))), base)
  fc.assert(
    fc.property(changes, changes, (a, b) => {
      const texts = { a: changed(a, 'a'), base, b: changed(b, 'b') }
      for (const [name, rows] of Object.entries(texts)) writeFileSync(join(dir, name), `${rows.join('\n')}\n`)
      const { status } = spawnSync('git', ['merge-file', '-p', '-q', 'a', 'base', 'b'], { cwd: dir, stdio: 'ignore' })
      expect(collisions(base, texts.a, texts.b).length > 0).toBe(status !== 0)
    }),
    { numRuns: 300 },
  )
})
