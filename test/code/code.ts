import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Staleness } from '../../src/engine/read/stale.ts'
import { type Scanned, scan } from '../../src/find/code/scan.ts'
import type { Json } from '../../src/model/field.ts'
import { act } from '../../src/surfaces/tools/act.ts'
import { run } from '../../src/surfaces/tools/run.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

/** A project whose files a test writes, and whose code it scans. */
export interface TestCode extends TestMemory {
  readonly root: string
  write(path: string, text: string): void
  move(from: string, to: string): void
  remove(path: string): void
  /** Records as a surface does: what its locations stand for is found after. */
  record(...actions: Json[]): Promise<void>
  scan(): Promise<Scanned>
  /** Why an entity is stale, if it is. */
  why(ref: string): string | undefined
}

export function openTestCode(files: Readonly<Record<string, string>> = {}): TestCode {
  const own = openTestMemory()
  const { memory, project } = own
  const { root } = project
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  return {
    ...own,
    root,
    write,
    move(from, to) {
      mkdirSync(dirname(join(root, to)), { recursive: true })
      renameSync(join(root, from), join(root, to))
    },
    remove: (path) => rmSync(join(root, path), { recursive: true }),
    record: async (...actions) => void (await run(act, { memory, project }, { actions })),
    scan: () => scan(memory, project),
    why: (ref) => new Staleness(memory.db, root, memory.reader).of(own.get(ref)!.id)?.why,
  }
}
