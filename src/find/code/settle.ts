import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../base/errors.ts'
import { STATE } from '../../engine/log/cells.ts'
import type { Memory } from '../../engine/memory.ts'
import * as code from '../../engine/store/code-anchors.ts'
import type { Project } from '../../engine/store/project.ts'
import { kindOf } from '../../model/entity.ts'
import { locationOf } from './location.ts'
import { keyOf, noteLocations } from './locations.ts'

/** So many locations that stood for nothing so far are looked for again with each action. */
const MOST_DUE = 100

/** Finds what newly recorded locations stand for. The action that it follows is done: whatever fails here waits for a scan. */
export async function settleLocations(memory: Memory, project: Project): Promise<void> {
  const { db, env } = memory
  if (db.readOnly) return
  try {
    const { root } = project
    const added = noteLocations(memory, root)
    const due = code.dueAnchors(db, root, MOST_DUE).filter((a) => existsSync(join(root, a.path)))
    const entities = new Set([...added].map((key) => key.slice(0, key.indexOf('\n'))))
    const known = [...entities].flatMap((id) => code.anchorsOf(db, root, id)).filter((a) => added.has(keyOf(a)))
    const paths = new Set([...due, ...known].map((a) => a.path))
    if (paths.size === 0) return
    const { scan } = await import('./scan.ts')
    await scan(memory, project, { only: [...paths], added })
  } catch (error) {
    env.log(`tidemark: the code is to be scanned again: ${messageOf(error)}`)
  }
}

/** What is said of files that are not there, told once: at their first record. */
export function absentFiles(memory: Memory, { root }: Project, since: number): string[] {
  const events = memory.cursor === since ? [] : memory.newsSince(since).flatMap((n) => n.events.map((x) => x.event))
  const files = memory.reader
    .entities(events.flatMap((e) => (e.field === STATE && kindOf(e.entity) === 'file' ? e.entity : [])))
    .flatMap(({ name, live }) => (live ? name : []))
  const places = events.flatMap((e) =>
    e.field === 'locations' && e.op === 'add' ? locationOf(String(e.value)).path : [],
  )
  return [...new Set([...files, ...places])].flatMap((path) => {
    if (existsSync(join(root, path))) return []
    const [, file, symbol] = /^(.+):([A-Za-z_$][\w$.]*)$/.exec(path) ?? []
    return `there is no file ${path} in ${root}${symbol ? `; a symbol is written ${file}#${symbol}` : ''}`
  })
}
