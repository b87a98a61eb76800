import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { importFrom } from '../../src/travel/formats/import/index.ts'
import { printReport } from '../../src/travel/formats/import/report.ts'
import { openTestMemory } from '../helpers.ts'
import { testUnless } from '../needs.ts'

/** The process files of a real project; they are not part of this repository. */
const REAL = process.env.TIDEMARK_REAL_ADD ?? resolve(import.meta.dirname, '../../../shared/data/projects/add')

testUnless(!existsSync(REAL) && `no ${REAL}`)(
  'the process files of a real ADD project are imported whole, and a second run writes nothing',
  async () => {
    const t = openTestMemory()
    const run = () => importFrom(t.memory, 'add', REAL, { root: resolve(REAL, '..') })
    const first = await run()
    if (process.env.TIDEMARK_SHOW) console.log(printReport(first))
    expect(first.unplaced.map((u) => `${u.where} ${u.what}`)).toEqual([
      'learnings.json $schema',
      'learnings-archive.json archived_on',
      'config.json 25 settings without a value',
      'retro-scores.json $schema',
    ])
    expect(first.redacted).toEqual([])
    const cursor = t.memory.cursor
    const second = await run()
    expect(second).toMatchObject({ created: 0, updated: 0, batches: [], unplaced: first.unplaced, kept: [], gone: [] })
    expect(t.memory.cursor).toBe(cursor)

    const list = (file: string, key: string) =>
      (
        JSON.parse(readFileSync(join(REAL, file), 'utf8')) as Record<
          string,
          { id: string; title: string; body: string }[]
        >
      )[key]!
    const active = list('learnings.json', 'entries')
    const archived = list('learnings-archive.json', 'archived')
    const byId = new Map(
      t.memory.reader.list('learning', { all: true }).map((e) => [(e.fields.attrs as { addId: string }).addId, e]),
    )
    expect(byId.size).toBe(active.length + archived.length)
    for (const entry of [...active, ...archived]) {
      expect(byId.get(entry.id)?.fields).toMatchObject({ title: entry.title, body: entry.body })
      expect(t.memory.reader.find(entry.title).map((e) => e.id)).toEqual([byId.get(entry.id)!.id])
    }
    for (const entry of active) {
      expect(byId.get(entry.id)?.fields.retired).toBeUndefined()
      expect(t.memory.reader.search(entry.title, 3, ['learning']).map((e) => e.id)).toContain(byId.get(entry.id)!.id)
    }
    for (const entry of archived) expect(byId.get(entry.id)?.fields.retired).toMatch(/^archived in /)
    // not a line of the handoff is lost
    const kept = [...t.memory.reader.list('chunk'), ...t.memory.reader.list('handoff')]
      .map((e) => JSON.stringify(e.fields))
      .join('\n')
      .replaceAll('\\n', '\n')
    const bare = (s: string) => s.replace(/\\?"/g, '').replace(/\s+/g, ' ')
    for (const line of readFileSync(join(REAL, 'handoff.md'), 'utf8')
      .split('\n')
      .filter((l) => l.trim() !== '' && !l.startsWith('#')))
      expect(bare(kept)).toContain(bare(line.replace(/^- /, '')).trim())
  },
)
