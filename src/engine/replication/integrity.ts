import { unlessRefused } from '../../base/errors.ts'
import type { Registry } from '../../model/registry.ts'
import * as compare from '../store/compare.ts'
import { type Db, memoryDb } from '../store/db.ts'
import { falseSurvivors } from '../store/log.ts'
import { unreadablePresence } from '../store/presence.ts'
import { rebuildAll } from './rebuild.ts'

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
  using again = memoryDb()
  const compareRows = () => {
    compare.copyLog(db, again)
    rebuildAll(again, () => registryOf(again))
    for (const text of some([...differing(again), ...shortened(db), ...unreadablePresence(db)]))
      faults.push({ in: 'index', text })
  }
  unlessRefused(compareRows, ({ message }) => log(message))
  return faults
}

const differing = (again: Db): string[] =>
  compare.differingRows(again).map(([table, what]) => `the ${table} of ${what} are not what its batches say`)

const shortened = (db: Db): string[] =>
  falseSurvivors(db).map((of) => `what is kept of the events of ${of} is not what counts of them`)

const some = (texts: readonly string[]): string[] =>
  texts.length <= SAID ? [...texts] : [...texts.slice(0, SAID), `${texts.length - SAID} more like these`]
