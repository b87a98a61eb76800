import { UsageError, UserError, unlessRefused } from '../../base/errors.ts'
import { workTreeOf } from '../../base/git.ts'
import { runGit } from '../../base/run-git.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { inWords, MOMENTS, markedAt } from '../../find/recall/moment.ts'
import { readValidAt } from '../../find/recall/validity.ts'
import type { Entity } from '../../model/entity.ts'
import { findOne, moment, oneLine } from './format.ts'
import type { ToolContext } from './tool.ts'

/** The parameter of every tool that reads as of a moment. */
export const AS_OF = { type: 'text', about: 'as it was then: a day, "3 months ago", a commit, a mark' } as const

/** A commit or a ref, with ~ and ^; a name that git could take for an option is none. */
const REVISION = /^[\w@][\w./@{}^~+-]{0,199}$/

/** The moment at which a commit of the project's repository was made; nothing where there is none called so. */
async function committedAt(root: string, revision: string): Promise<number | undefined> {
  if (!REVISION.test(revision) || !workTreeOf(root)) return undefined
  const said = await runGit(root, 'log', '-1', '--format=%ct', '--end-of-options', `${revision}^{commit}`, '--').catch(
    () => '',
  )
  // a commit knows seconds only: what was recorded within its own is in it
  return said.trim() === '' ? undefined : Number(said) * 1000 + 999
}

/** In ms, the moment meant: a day (its end), a time, words like "3 months ago", a mark, a commit. @throws UsageError */
export async function momentAsked({ memory, project }: ToolContext, said: string): Promise<number> {
  const name = said.trim()
  const found =
    inWords(name, memory.env.now(), 'as-of') ?? markedAt(memory.reader, name) ?? (await committedAt(project.root, name))
  if (found !== undefined) return found
  const marks = memory.reader.list('mark', { limit: 5 }).map((e) => e.name)
  throw new UsageError(
    `"${name}" is no time, no mark and no commit here`,
    `give ${MOMENTS}; a commit of this repository; or a mark${marks.length > 0 ? ` (${marks.join(', ')})` : ''}`,
  )
}

/** The knowledge that is asked, and its moment: now, unless the caller says another. */
export async function at(
  context: ToolContext,
  { 'as-of': asOf, 'valid-at': validAt }: { readonly 'as-of'?: string; readonly 'valid-at'?: string },
): Promise<{ reader: Reader; now: number; past: boolean }> {
  const { memory } = context
  const now = asOf === undefined ? memory.env.now() : await momentAsked(context, asOf)
  const reader = asOf === undefined ? memory.reader : memory.asOf(now)
  const valid = validAt === undefined ? reader : readValidAt(reader, await momentAsked(context, validAt))
  return { reader: valid, now, past: asOf !== undefined }
}

/** The one entity that a reference means at the moment that is asked. @throws UserError that says so if it was recorded later. */
export function findAt(
  { memory, local }: ToolContext,
  { reader, now, past }: { readonly reader: Reader; readonly now: number; readonly past: boolean },
  ref: unknown,
  deleted = false,
): Entity {
  const missing = (error: UserError): never => {
    if (!past) throw error
    const later = findOne(memory.reader, ref, true)
    if (later.created <= now) throw error
    throw new UserError(
      'not-found',
      `${later.kind} "${oneLine(later.name, 80)}" was not known yet at ${moment(now, local)}`,
      `it was recorded at ${moment(later.created, local)}`,
    )
  }
  return unlessRefused(() => findOne(reader, ref, deleted), missing, 'not-found')
}
