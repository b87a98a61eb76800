import type { Project } from '../../../engine/store/project.ts'
import { allowEndpoint, isAllowedEndpoint } from '../../../engine/store/user-state.ts'
import { canonical } from '../../../model/canonical.ts'
import type { Json } from '../../../model/field.ts'
import type { RecallConfig } from '../config.ts'

/** The command by which a user lets a project's texts go to the endpoint that its configuration names. */
export const ALLOW_HTTP = 'tidemark models add http'

type Endpoint = Pick<RecallConfig['embedder'], 'url' | 'model' | 'keyFrom' | 'dimensions'>

const words = ({ url, model, keyFrom, dimensions }: Endpoint): string =>
  JSON.stringify([url, model, keyFrom ?? null, dimensions ?? null])

/** Whether the user, or the program that opened the project, allowed this very endpoint. */
export const mayBeSent = (endpoint: Endpoint, project: Project | undefined, program: object | undefined): boolean =>
  canonical(endpoint as unknown as Json) === canonical((program ?? {}) as Json) ||
  project === undefined ||
  isAllowedEndpoint(project.id, project.storePath, words(endpoint))

export const allow = (endpoint: Endpoint, { id, storePath }: Project): void =>
  allowEndpoint(id, storePath, words(endpoint))

/** Takes the user's leave back; false where there was none. */
export function forbid(endpoint: Endpoint, { id, storePath }: Project): boolean {
  const wasAllowed = isAllowedEndpoint(id, storePath, words(endpoint))
  allowEndpoint(id, storePath)
  return wasAllowed
}

/** Where it goes, whole, for a person to judge. */
export const shownWhole = ({ url, model, keyFrom }: Endpoint): string =>
  `${url}${model === undefined ? '' : `, model ${model}`}${keyFrom === undefined ? '' : `, with the key in $${keyFrom}`}`

/** The endpoint that the committed configuration asks for and nobody has allowed, with the command that allows it. */
export function waitingEndpoints(project: Project): { readonly told: string; readonly allow: string }[] {
  const { embedder } = (project.recall ?? {}) as Partial<Pick<RecallConfig, 'embedder'>>
  if (embedder?.use !== 'http' || mayBeSent(embedder, project, undefined)) return []
  const told = `.tidemark/config.json sends the texts of this project to ${shownWhole(embedder)}; you have not allowed that, so the built-in embedder is used`
  return [{ told, allow: ALLOW_HTTP }]
}
