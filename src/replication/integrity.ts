import { UserError } from '../errors.ts'
import { encodeCell } from '../log/cells.ts'
import { openDoc, readCells } from '../log/document.ts'
import { canonical } from '../model/canonical.ts'
import type { Json } from '../model/field.ts'
import type { Registry } from '../model/registry.ts'
import * as compare from '../store/compare.ts'
import { type Db, memoryDb } from '../store/db.ts'
import { rebuildAll } from './rebuild.ts'

/** Something in a store that is not as it was written. */
export interface Fault {
  /** `log`: what was written itself; `index`: what is made from it, and can be made again. */
  readonly in: 'log' | 'index'
  readonly text: string
}

const SAID = 5

/** Everything that can be checked about a store: its pages, every line's hash and chain, and all that is made from them. */
export function faultsOf(db: Db, registryOf: (db: Db) => Registry): Fault[] {
  const faults: Fault[] = []
  const log = (text: string) => faults.push({ in: 'log', text })
  for (const text of some([...compare.lineFaults(db), ...compare.pageFaults(db)])) log(text)
  if (faults.length > 0) return faults
  const again = memoryDb()
  try {
    compare.copyLog(db, again)
    rebuildAll(again, () => registryOf(again))
    for (const text of some(differing(again))) faults.push({ in: 'index', text })
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    log(error.message)
  } finally {
    again.close()
  }
  return faults
}

function differing(again: Db): string[] {
  const docs = compare.differingDocs(again).filter(([, is, should]) => cellsOf(is) !== cellsOf(should))
  return [
    ...docs.map(([id]) => `the document of ${id} is not what its batches say`),
    ...compare.differingRows(again).map(([table, what]) => `the ${table} of ${what} are not what its batches say`),
  ]
}

/** What a document says, some fields apart; its bytes may differ by the order in which its updates came. */
export function cellsAsText(doc: Parameters<typeof readCells>[0], apart: ReadonlySet<string> = new Set()): string {
  const cells = [...readCells(doc)].flatMap(([key, c]) => (apart.has(c.field) ? [] : [[key, ...encodeCell(c)]]))
  return canonical(cells.sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)) as Json)
}

function cellsOf(state: Uint8Array | undefined): string | undefined {
  try {
    return state && cellsAsText(openDoc([state]))
  } catch {
    return undefined
  }
}

const some = (texts: readonly string[]): string[] =>
  texts.length <= SAID ? [...texts] : [...texts.slice(0, SAID), `${texts.length - SAID} more like these`]
