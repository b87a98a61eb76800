import { type Entity, nameKey } from '../../model/entity.ts'
import { slug } from '../../model/names.ts'
import { SHARED_KIND } from '../log/context-value.ts'
import type { Reader } from '../read/reader.ts'
import type { Planning } from './plan.ts'
import { usableId } from './record.ts'

/** Keys are compared as they are written: `Phase` and `phase` are two. */
const called = (all: readonly Entity[], key: string): Entity | undefined => {
  const found = all.filter((e) => e.kind === SHARED_KIND && e.fields.key === key)
  return found.find((e) => e.live) ?? found[0]
}

/** The id of a key in the plan: the one it has, else the one that every replica gives it, if no other key has that. */
export function sharedId(p: Planning, key: string): string {
  const there = called(p.byName(nameKey(key)), key)
  if (there) return there.id
  const plain = `${SHARED_KIND}:${slug(key, true)}`
  for (let n = 1; ; n++) {
    const id = usableId(p, n === 1 ? plain : `${plain}.${n}`)!
    const taken = p.entity(id)
    if (!taken?.live || taken.fields.key === undefined) return id
  }
}

/** The live entity of a key in the plan, whose version `expectedVersion` is held against. */
export function sharedNow(p: Planning, key: unknown): Entity | undefined {
  if (typeof key !== 'string') return undefined
  const e = p.entity(sharedId(p, key.normalize('NFC')))
  return e?.live ? e : undefined
}

/** The entity of a key as it is read, also when it was deleted. */
export const sharedEver = (reader: Reader, key: string): Entity | undefined =>
  called(reader.byName(nameKey(key.normalize('NFC'))), key.normalize('NFC'))

/** The live entity of a key as it is read. */
export function sharedAt(reader: Reader, key: string): Entity | undefined {
  const e = sharedEver(reader, key)
  return e?.live ? e : undefined
}
