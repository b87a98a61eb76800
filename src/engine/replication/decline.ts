import { UserError } from '../../base/errors.ts'
import { isDefinition, KIND_KIND, kindOf } from '../../model/entity.ts'
import type { Registry } from '../../model/registry.ts'
import { entitiesIn } from '../materialize/apply.ts'
import type { Db } from '../store/db.ts'
import * as log from '../store/log.ts'
import * as rows from '../store/rows.ts'
import { rebuildEntities } from './rebuild.ts'

/** Lets lines count nowhere here, or, with `admit`, again. Their erasures and forks still act. @throws UserError `unknown-batch`. */
export function settleDeclined(
  db: Db,
  registry: () => Registry,
  batches: readonly string[],
  admit: boolean,
  at: number,
): { n: number; touched: ReadonlySet<string> } {
  const touched = new Set<string>()
  let n = 0
  for (const batch of batches) {
    const [replica = '', seq = ''] = log.batchNamed(db, batch).split(':')
    const line = log.lineOf(db, replica, Number(seq))
    if (!line) {
      const message = log.isCovered(db, replica, Number(seq))
        ? `batch ${batch} was folded away by a compaction`
        : `there is no batch ${batch} here`
      const hint = 'see `tidemark history`; take back what was folded away with `tidemark undo`, or by a new batch'
      throw new UserError('unknown-batch', message, hint)
    }
    const state = log.declinedAs(db, line)
    if (admit ? state === undefined : state === 'person') continue
    n++
    if (admit) log.undecline(db, line)
    else log.decline(db, line, 'person', at)
    log.replaceLine(db, line)
    for (const id of entitiesIn(line)) touched.add(id)
  }
  const definitions = new Set([...touched].filter(isDefinition))
  // what a kind is called by may be another one
  const named = () =>
    [...definitions].flatMap((id) => {
      const row = kindOf(id) === KIND_KIND ? rows.getRow(db, id) : undefined
      return row ? rows.idsOfKind(db, row.name) : []
    })
  const before = named()
  rebuildEntities(db, registry(), definitions)
  const entities = new Set([...[...touched].filter((id) => !definitions.has(id)), ...before, ...named()])
  rebuildEntities(db, registry(), entities)
  return { n, touched }
}
