import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { UserError } from '../../../base/errors.ts'
import { realPath } from '../../../base/files.ts'
import { Extraction } from '../../../engine/store/extraction.ts'
import type { Project } from '../../../engine/store/project.ts'
import { extractionFile } from '../../../engine/store/user-state.ts'
import { addressOf as endpointAt } from '../../../find/recall/embedders/endpoint.ts'

/** What the user has allowed: which model reads the transcripts of a project's sessions, and how much of it. */
export interface Allowed {
  readonly use: 'openai' | 'command'
  /** As the endpoint calls it; of a command what stands in the provenance. */
  readonly model: string
  readonly url?: string
  readonly keyFrom?: string
  /** The program and its arguments: the prompt goes to its stdin, the answer comes from its stdout. */
  readonly command?: readonly string[]
  readonly budget: number
}

/** Less than that no call fits into: of an endpoint, and of a client, which puts a prompt of its own around ours. */
export const LEAST_BUDGET = { endpoint: 4_000, command: 30_000 }

/** Where a store lies, its directory by its true name. It says which project: none can claim what was allowed for another. */
export const realStore = (storePath: string): string => join(realPath(dirname(storePath)), basename(storePath))

/** What is kept of extraction for a project; nothing where the user never switched it on anywhere. */
export const openExtraction = (project: Project, options: { create?: boolean; wait?: number } = {}) =>
  Extraction.open(extractionFile(), realStore(project.storePath), options)

/** Read from the user's own file alone; nothing where it is off, or says nothing that is understood. */
export function allowedIn(state: Extraction | undefined): Allowed | undefined {
  const said = state?.allowed as Partial<Allowed> | undefined
  if (said === undefined || typeof said.model !== 'string' || !(Number(said.budget) > 0)) return undefined
  const isSet =
    said.use === 'command' ? Array.isArray(said.command) : said.use === 'openai' && typeof said.url === 'string'
  return isSet ? (said as Allowed) : undefined
}

/** Takes the user's leave back, also for projects that are gone or have moved away; false where there was none here. */
export function forbidExtraction(project: Project): boolean {
  using state = openExtraction(project)
  state?.forbidGone((store) => !existsSync(store))
  return state?.forbid() ?? false
}

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
export const nextDay = (ms: number): number => (Math.floor(ms / 86_400_000) + 1) * 86_400_000

export function addressOf(allowed: Pick<Allowed, 'url' | 'keyFrom'>): URL {
  const address = endpointAt(allowed, '/chat/completions', 'bad-extractor')
  if (address.search === '') return address
  const hint = 'put the key into an environment variable: --key-env NAME'
  throw new UserError('bad-extractor', 'the url holds a query', hint)
}

export const placeOf = (a: Allowed): string =>
  a.use === 'command' ? `${a.model} (the command ${a.command![0]})` : `${a.model} at ${addressOf(a).host}`
