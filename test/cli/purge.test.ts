import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { holding as holdingText } from '../holding.ts'
import { files, git, inProcess, project } from './run.ts'

const SECRET = 'quetzal "feather" | 7731 of tenochtitlan'
const PURGE = ['act', JSON.stringify([['purge', { secret: SECRET, reason: 'leaked' }]])]
const STORE = '.git/tidemark/store.db'

const holding = (...dirs: string[]): string[] => holdingText(SECRET, ...dirs)

async function told() {
  const made = await project()
  const record = [
    ['record-decision', { name: 'keep', rationale: 'stays' }],
    ['record-decision', { name: 'd', rationale: `it is ${SECRET}` }],
  ]
  await made.run('act', JSON.stringify(record))
  return made
}

describe('[A7] purge reaches every file', () => {
  test('[T61] copies of the store, logs, views of all work trees, hand edits and last snapshots hold nothing afterwards', async () => {
    const { at, run } = await told()
    const dir = join(at.dir, '.git/tidemark')
    const { id } = JSON.parse(readFileSync(join(at.dir, '.tidemark/config.json'), 'utf8')) as { id: string }
    git(at.dir, 'add', '.tidemark/config.json', '.tidemark/.gitignore')
    git(at.dir, 'commit', '-qm', 'start')
    const tree = join(at.home, 'tree')
    git(at.dir, 'worktree', 'add', '-q', '-b', 'side', tree)
    await inProcess({ ...at, dir: tree }, ['remember', 'we use pnpm'])
    expect(holding(tree).map((f) => basename(f))).toContain('decisions.md')
    // a hand edit that nobody could read, and what a killed process left
    appendFileSync(join(at.dir, '.tidemark/decisions.md'), `a | b | my own note | about ${SECRET}\nand another\n`)
    await run('remember', 'we use tabs')
    const state = join(at.home, '.local/state/tidemark')
    mkdirSync(join(state, 'uninstalled'))
    for (const copy of [
      join(dir, 'store.db.damaged-1'),
      join(dir, 'backups/store-5.db.77.partial'),
      join(dir, 'store.db.restoring-1'),
      join(state, `uninstalled/${id}-1.db`),
    ])
      copyFileSync(join(at.dir, STORE), copy)
    const said = JSON.stringify({ at: 1, client: 'x', event: 'y', ms: 1, errors: [SECRET] })
    const event = JSON.stringify({ event_id: 'presence:1', seq: 1, timestamp: '2026-01-01T00:00:00.000Z', key: SECRET })
    files(at.dir, {
      '.git/tidemark/hooks.log.1': `${said}\n${JSON.stringify({ at: 2 })}\n`,
      '.git/tidemark/extract.log': `s: ${SECRET}\n`,
      '.git/tidemark/archive/events-2026-01.jsonl': `${event}\n`,
      '.tidemark/local/views/old-ab12': SECRET,
    })
    const before = holding(at.dir, at.home).map((f) => basename(f))
    for (const file of ['state.json', 'store.db.damaged-1', 'hooks.log.1', 'extract.log', 'old-ab12', `${id}-1.db`])
      expect(before).toContain(file)
    expect(before.some((f) => f.includes('.edited-'))).toBe(true)
    const out = await run(...PURGE)
    expect(out).toMatch(/looked through \d+ files, .*stands in none of them/)
    expect(out).toContain('removed copies of the store that may hold it: ')
    expect(holding(at.dir, at.home)).toEqual([])
    // the rest stays: other lines, the hand edit's other words, the knowledge
    expect(readFileSync(join(dir, 'hooks.log.1'), 'utf8')).toContain('"at":2')
    const edited = readdirSync(join(at.dir, '.tidemark')).find((f) => f.includes('.edited-'))!
    expect(readFileSync(join(at.dir, '.tidemark', edited), 'utf8')).toContain(
      'my own note | about (erased)\nand another',
    )
    expect(readFileSync(join(at.dir, '.tidemark/decisions.md'), 'utf8')).toContain('keep')
    expect((await inProcess(at, PURGE)).err).toContain('stands nowhere')
  })

  test('[T61] the proof of an entity searches all that it ever said, and names what is out of reach', async () => {
    const { at, run } = await told()
    await run('act', JSON.stringify([['record-decision', { name: 'd', rationale: 'said later, at length' }]]))
    const view = join(at.dir, '.tidemark/decisions.md')
    git(at.dir, 'add', '-f', view)
    git(at.dir, 'commit', '-qm', 'views')
    const out = await run('forget', 'd', '--erase')
    expect(out).toMatch(/still stands in \S+decisions\.md: it is committed/)
    expect(holding(at.dir).filter((f) => !f.includes('/.git/objects/'))).toEqual([view])
  })
})

/** How many batches a store has. */
function batches(dir: string): number {
  const db = new DatabaseSync(join(dir, STORE), { readOnly: true })
  try {
    return Number(db.prepare('SELECT count(*) AS n FROM log').get()!.n)
  } finally {
    db.close()
  }
}

describe('[A7] an erasure that is interrupted is finished', () => {
  test('[T62] a reader keeps our own log from being emptied: the proof says so, and doctor finishes it', async () => {
    const { at, run } = await told()
    const reader = new DatabaseSync(join(at.dir, STORE), { readOnly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM log').get()
    const out = await run(...PURGE)
    expect(out).toContain('a process reads the store')
    expect(out).not.toContain('something else')
    expect(out).toContain('fuser -v')
    const still = await inProcess(at, ['doctor'])
    expect(still.out).toMatch(/FIX .*a process reads the store/)
    reader.exec('COMMIT')
    reader.close()
    expect((await inProcess(at, ['doctor'])).out).toContain('finished an erasure that was interrupted')
    expect(holding(at.dir, at.home)).toEqual([])
    expect((await inProcess(at, ['doctor'])).out).not.toContain('erasure')
  })

  test('[T62] killed at every step, it is finished by the same purge again, by doctor, or by the next write', {
    tags: ['long'],
    timeout: 600_000,
  }, async () => {
    const { at } = await told()
    copyFileSync(join(at.dir, STORE), join(at.dir, `${STORE}.damaged-1`))
    appendFileSync(join(at.dir, '.tidemark/decisions.md'), `a | b | c | ${SECRET}\n`)
    await inProcess(at, ['remember', 'we use tabs'])
    writeFileSync(join(at.dir, '.git/tidemark/extract.log'), SECRET)
    const [model, home] = [`${at.dir}-model`, `${at.home}-model`]
    cpSync(at.dir, model, { recursive: true })
    cpSync(at.home, home, { recursive: true })
    const probe = join(import.meta.dirname, '../fs-probe.mjs')
    const finish = [PURGE, ['doctor'], ['remember', 'we use pnpm']]
    const before = batches(model)
    let killed = 0
    for (let n = 1; ; n++) {
      for (const [from, to] of [
        [model, at.dir],
        [home, at.home],
      ] as const) {
        rmSync(to, { recursive: true, force: true })
        cpSync(from, to, { recursive: true })
      }
      const env = {
        ...at.env,
        NODE_OPTIONS: `--import ${probe}`,
        PROBE_KILL: String(n),
        NODE_DISABLE_COMPILE_CACHE: '1',
      }
      if ((await inProcess({ ...at, env }, PURGE)).code === 0) break
      killed++
      const isErased = batches(at.dir) > before
      const finishing = isErased ? finish[n % 3]! : PURGE
      const finished = await inProcess(at, finishing)
      // the same purge never says that it stands nowhere while a copy exists
      if (isErased && finishing === PURGE)
        expect([n, finished.err]).toEqual([n, expect.stringContaining('stands nowhere')])
      expect([n, holding(at.dir, at.home)]).toEqual([n, []])
    }
    expect((await inProcess(at, ['list', 'decision'])).out).toContain('keep')
    expect(killed).toBeGreaterThan(10)
    expect(existsSync(join(at.dir, `${STORE}.damaged-1`))).toBe(false)
  })
})
