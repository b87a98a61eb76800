import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { liveDay, type Put } from '../../bench/day.ts'
import { CLIENT_NAMES } from '../../src/work/coordination/clients.ts'
import { openTestMemory } from '../helpers.ts'

/** What one context holds: a session, up to the next compaction. */
function conversations(put: readonly Put[]): Put[][] {
  const all: Put[][] = []
  for (const p of put) if (p.source === 'startup' || p.source === 'compact') all.push([p])
    else all.at(-1)!.push(p) // biome-ignore format: one thought
  return all
}

/** The items of a text, each as one line. */
const items = (p: Put): string[] => p.text.split('\n').filter((line) => /^ *- /.test(line))

/** What an item tells whole; news of something name it as well, where it has changed. */
function tells(line: string): string[] {
  if (/^- mate /.test(line)) return []
  const first = /^- ([a-z-]+:[^\s:]+): /.exec(line)?.[1]
  const last = /\(([a-z-]+:[^\s)]+)\) \([^()]*\)$/.exec(line)?.[1]
  return [first, last].filter((id) => id !== undefined)
}

for (const client of CLIENT_NAMES)
  test(`[M7] ${client}: over a recorded day a prompt is told at most 60 tokens on average, and nothing is told twice`, async () => {
    const { memory, project, clock } = openTestMemory()
    const put = await liveDay(memory, project, client, () => void (clock.now += 1_000))
    const prompts = put.filter((p) => p.event === 'prompt').map((p) => encode(p.text).length)
    expect(prompts.length).toBeGreaterThan(30)
    expect(prompts.reduce((sum, n) => sum + n, 0) / prompts.length).toBeLessThanOrEqual(60)
    expect(prompts.filter((n) => n > 0).length).toBeGreaterThanOrEqual(6) // it does tell what it knows
    for (const conversation of conversations(put)) {
      const lines = conversation.flatMap(items)
      expect(lines.filter((line, n) => lines.indexOf(line) < n)).toEqual([])
      const ids = lines.flatMap(tells)
      expect(ids.filter((id, n) => ids.indexOf(id) < n)).toEqual([])
    }
  })
