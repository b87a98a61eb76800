import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { UserError } from '../../src/base/errors.ts'
import { isObject, type JsonObject } from '../../src/model/object.ts'
import type { SourceDocument } from './documents.ts'

/** A question with the ids that answer it. */
export interface Query {
  readonly text: string
  readonly gold: ReadonlySet<string>
  readonly category: string
}

/** Documents that are searched together, and what is asked of them. */
export interface Group {
  readonly id: string
  readonly docs: readonly SourceDocument[]
  readonly queries: readonly Query[]
}

export interface DataSet {
  readonly name: string
  /** What gold ids name: documents, or the sessions that documents belong to. */
  readonly unit: 'doc' | 'session'
  readonly groups: readonly Group[]
  /** What is odd about it, for the person who runs it. */
  readonly notes: readonly string[]
}

const FORM =
  'a data set is JSON, plain or gzip: {name, unit: "doc"|"session", groups: [{id, docs: [{id, text, session?, speaker?, date?, project?}], queries: [{text, gold: [id…], category}]}]}'

/** JSON text can be no longer than this in Node. */
const MAX_BYTES = 0x1fffffe8

/** Reads one data set. @throws UserError that names the file, the place in it, and what belongs there. */
export function readDataSet(path: string): DataSet {
  return checked(parsed(path), path)
}

function parsed(path: string): unknown {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a directory' : String(code)
    throw new UserError('unreadable', `${path} cannot be read: ${why}`, `give the path of a data set; ${FORM}`)
  }
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    try {
      bytes = gunzipSync(bytes, { maxOutputLength: MAX_BYTES })
    } catch (error) {
      const large = error instanceof RangeError
      throw new UserError(
        large ? 'too-large' : 'bad-dataset',
        `${path} cannot be unpacked: ${large ? 'it holds more than 512 MB' : (error as Error).message}`,
        large ? 'split it into several files, by groups' : 'fetch the file again: it is damaged or was cut off',
      )
    }
  }
  if (bytes.length > MAX_BYTES)
    throw new UserError('too-large', `${path} holds more than 512 MB`, 'split it into several files, by groups')
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UserError('bad-dataset', `${path} is not JSON: ${(error as Error).message}`, FORM)
  }
}

function checked(root: unknown, path: string): DataSet {
  const refuse = (place: string, what: string): never => {
    throw new UserError('bad-dataset', `${path}: ${place ? `${place} ` : ''}${what}`, FORM, { file: path, place })
  }
  const tree = (v: unknown, place: string): JsonObject => (isObject(v) ? v : refuse(place, 'is not an object'))
  const list = (v: unknown, place: string): readonly unknown[] =>
    Array.isArray(v) ? v : refuse(place, v === undefined ? 'is missing' : 'is not a list')
  const text = (v: unknown, place: string): string =>
    typeof v === 'string' ? v : refuse(place, v === undefined ? 'is missing' : 'is not text')
  /** Ids and labels that some exports write as numbers. */
  const word = (v: unknown, place: string): string => (typeof v === 'number' ? String(v) : text(v, place))
  const label = (v: unknown, place: string): string | undefined =>
    v === undefined || v === null ? undefined : word(v, place)

  const top = tree(root, '')
  const name = text(top.name, 'name')
  const { unit } = top
  if (unit !== 'doc' && unit !== 'session')
    return refuse('unit', `is ${JSON.stringify(unit) ?? 'missing'}; it is "doc" or "session"`)

  const doc = (v: unknown, place: string): SourceDocument => {
    const d = tree(v, place)
    const session = label(d.session, `${place}.session`)
    if (unit === 'session' && session === undefined)
      refuse(`${place}.session`, 'is missing; with the unit "session" every document belongs to one')
    return {
      speaker: label(d.speaker, `${place}.speaker`),
      date: label(d.date, `${place}.date`),
      project: label(d.project, `${place}.project`),
      id: word(d.id, `${place}.id`),
      text: text(d.text, `${place}.text`),
      session,
    }
  }
  const query = (v: unknown, place: string): Query => {
    const q = tree(v, place)
    return {
      text: text(q.text, `${place}.text`),
      gold: new Set(list(q.gold, `${place}.gold`).map((id, i) => word(id, `${place}.gold[${i}]`))),
      category: label(q.category, `${place}.category`) ?? 'none',
    }
  }
  const notes: string[] = []
  const groups = list(top.groups, 'groups').map((v, g): Group => {
    const place = `groups[${g}]`
    const group = tree(v, place)
    const id = word(group.id, `${place}.id`)
    const docs = list(group.docs, `${place}.docs`).map((d, i) => doc(d, `${place}.docs[${i}]`))
    const all = list(group.queries, `${place}.queries`).map((q, i) => query(q, `${place}.queries[${i}]`))
    const queries = all.filter((q) => q.gold.size > 0)
    const known = new Set(docs.map((d) => (unit === 'session' ? d.session! : d.id)))
    const strange = queries.flatMap((q) => [...q.gold].filter((x) => !known.has(x)))
    const open = all.length - queries.length
    if (open > 0) notes.push(`group ${id}: ${open} of ${all.length} queries name no answer and are not scored`)
    if (strange.length > 0)
      notes.push(
        `group ${id}: ${strange.length} answers are not among its documents (${strange.slice(0, 3).join(', ')})`,
      )
    return { id, docs, queries }
  })
  return { name, unit, groups, notes }
}
