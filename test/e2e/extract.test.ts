// @module-tag long
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { claude } from './claude.ts'
import { anthropic } from './fakes/anthropic.ts'
import { binary, machine, withClients } from './machine.ts'

const candidate = {
  kind: 'decision',
  name: 'cursor-in-store',
  description: 'The cursor of an import is kept in the store.',
  quote: 'the cursor of an import is kept in the store',
  confidence: 0.9,
}

withClients(
  ['claude'],
  '[A7] Claude Code ends; a second one without tools and hooks reads what was said, and what it finds is proposed',
  async () => {
    const m = machine(['claude'])
    const model = await anthropic(JSON.stringify({ candidates: [candidate] }))
    m.tidemark('models', 'add', 'extractor', '--client', 'claude', '--budget', '90000')
    model.next({
      say: 'Then it is settled: the cursor of an import is kept in the store, since a file beside it gets lost. '.repeat(
        3,
      ),
    })
    const bin = join(m.env.TMPDIR!, 'bin')
    mkdirSync(bin)
    symlinkSync(binary('claude'), join(bin, 'claude'))
    const ran = await claude(m, model, 'Where do we keep the cursor of an import?', [], {
      PATH: `${bin}:${m.env.PATH}`,
    })
    expect(ran.code).toBe(0)
    const meter = () => JSON.parse(m.tidemark('extract', '--meter', '--json'))
    await vi.waitFor(() => expect(meter()).toMatchObject({ calls: 1, waiting: 0, error: null }), {
      timeout: 60_000,
      interval: 500,
    })
    const asked = model.aside.filter((r) => r.text.includes('You read the transcript of a work session'))
    expect(asked).toHaveLength(1)
    expect(asked[0]!.body.tools ?? []).toEqual([])
    expect(asked[0]!.text).toContain('Where do we keep the cursor')
    await vi.waitFor(() => expect(m.tidemark('review')).toContain('decision:cursor-in-store'))
    expect(meter().used).toBe(1_020) // what Claude Code said that it cost
    expect(m.sessions().map((s) => s.id)).toEqual([ran.session])
  },
)
