import { canonical } from '../../model/canonical.ts'
import { isObject } from '../../model/object.ts'
import { type Db, stored } from '../store/db.ts'
import { HELD_DUE } from '../store/held.ts'
import { dropMeta, getMeta, setMeta } from '../store/meta.ts'

export type Reviewers = { readonly [name: string]: string[] }

const ACCEPTED = 'reviewers'
const NAME = /^[\w.@-]{1,64}$/
const KEY = /^[\w-]{43}$/

export function reviewersNamed(said: unknown): Reviewers {
  const all = Object.entries(isObject(said) ? said : {}).map(([name, keys]): [string, string[]] => [
    name,
    [keys].flat().filter((key): key is string => typeof key === 'string' && KEY.test(key)),
  ])
  return Object.fromEntries(all.filter(([name, keys]) => NAME.test(name) && keys.length > 0))
}

export const acceptedReviewers = (db: Db): Reviewers => stored<Reviewers>(getMeta(db, ACCEPTED) ?? '{}')

export const areAccepted = (db: Db, named: Reviewers): boolean => canonical(acceptedReviewers(db)) === canonical(named)

export const acceptReviewers = (db: Db, named: Reviewers): void =>
  db.write(() => {
    setMeta(db, ACCEPTED, canonical(named))
    setMeta(db, HELD_DUE, '1')
  })

/** Nobody's confirmation counts after the configuration changed, until the person here accepts the new list. */
export function settleReviewers(db: Db, named: Reviewers): void {
  if (getMeta(db, ACCEPTED) !== undefined && !areAccepted(db, named))
    db.tryWrite(() => {
      dropMeta(db, ACCEPTED)
      setMeta(db, HELD_DUE, '1')
    })
}
