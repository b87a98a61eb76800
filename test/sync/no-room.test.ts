import { expect, test } from 'vitest'
import { exchangeOnce } from '../../src/travel/sync/hub-exchange.ts'
import { hubOn, sqliteStore } from '../hub/harness.ts'
import { type Clone, decision, team } from './clones.ts'

const MANY = 300

/** SQLite refuses to let the file grow, as on a disk that is full; returns what makes room again. */
function fill({ memory: { db } }: Clone): () => void {
  const { page_count } = db.get<{ page_count: number }>('PRAGMA page_count')!
  db.exec(`PRAGMA max_page_count=${page_count + 12}`)
  return () => db.exec('PRAGMA max_page_count=4294967294')
}

const count = ({ memory }: Clone) => memory.reader.ids('decision').length
const findings = ({ memory }: Clone) => memory.db.all('SELECT text FROM findings')

test('[K10] a disk that is full is no fault of what comes: nothing is left out, and the next sync takes all of it', async () => {
  const { clone } = team()
  const ana = clone('ana')
  for (let i = 0; i < MANY; i++) ana.act([decision(`d${i}`, { rationale: 'r'.repeat(500) })])
  ana.share()

  const git = clone('git')
  const roomForGit = fill(git)
  expect(() => git.receive()).toThrow(expect.objectContaining({ code: 'disk-full' }))
  roomForGit()
  expect(git.receive()).toMatchObject({ damaged: [] })
  expect(count(git)).toBe(MANY)
  expect(findings(git)).toEqual([])

  const { url, token } = await hubOn(await sqliteStore())
  const member = async (name: string) => ({
    url,
    token: await token(name, 'writer', [ana.memory.projectId]),
    member: name,
  })
  await exchangeOnce(ana.memory, await member('ana'))
  const hub = clone('hub')
  const joined = await member('hub')
  const roomForHub = fill(hub)
  await expect(exchangeOnce(hub.memory, joined)).rejects.toMatchObject({ code: 'disk-full' })
  roomForHub()
  expect(await exchangeOnce(hub.memory, joined)).toMatchObject({ odd: [] })
  expect(count(hub)).toBe(MANY)
  expect(findings(hub)).toEqual([])
})
