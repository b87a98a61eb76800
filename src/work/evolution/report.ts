import { inspect, readInside, writeInside } from '../../base/files.ts'
import type { Memory } from '../../engine/memory.ts'
import { getMeta, setMeta } from '../../engine/store/meta.ts'
import { ignoreViews, PROJECT_DIR, type Project } from '../../engine/store/project.ts'
import { sha256 } from '../../model/digest.ts'

/** The last retro: when it was, since when it looked, and what it wrote. */
interface Last {
  readonly day: string
  readonly at: number
  readonly since: number
  readonly file: string
  readonly hash: string
}

const LAST = 'retro'

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

function lastOf({ db }: Memory): Last | undefined {
  const kept = getMeta(db, LAST)
  return kept === undefined ? undefined : (JSON.parse(kept) as Last)
}

/** Where the period begins: at the last retro here; observations of others do not come here, nor do their retros count. One of the same day is made anew, and looks as far back as it did. */
export function periodStart(memory: Memory): number {
  const last = lastOf(memory)
  return last === undefined ? 0 : last.day === dayOf(memory.env.now()) ? last.since : last.at
}

/** The report of the day; what a person has changed in it since stays, and the new one gets another name. */
function placeFor(root: string, day: string, last: Last | undefined): string {
  for (let n = 1; ; n++) {
    const file = `${PROJECT_DIR}/retro/${day}${n === 1 ? '' : `-${n}`}.md`
    if (inspect(root, file).is !== 'file') return file
    if (last?.file === file && sha256(readInside(root, file) ?? '') === last.hash) return file
  }
}

/** Keeps the report as a file, and that there was a retro as an entity. Returns the file's path in the project. */
export const keepReport = (memory: Memory, { root }: Project, since: number, text: string): string =>
  memory.db.write(() => {
    const at = memory.env.now()
    const day = dayOf(at)
    const file = placeFor(root, day, lastOf(memory))
    ignoreViews(root)
    writeInside(root, file, text)
    memory.act([['record-retro-score', { date: day, file }]], { agent: 'tidemark', by: 'agent', redact: true })
    setMeta(memory.db, LAST, JSON.stringify({ day, at, since, file, hash: sha256(text) } satisfies Last))
    return file
  })
