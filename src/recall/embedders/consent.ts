import { canonical } from '../../model/canonical.ts'
import type { Json } from '../../model/field.ts'
import type { Project } from '../../store/project.ts'
import { allowEndpoint, isAllowedEndpoint } from '../../store/state.ts'
import type { EmbedderConfig } from './index.ts'

/** The command by which a user lets a project's texts go to the endpoint that its configuration names. */
export const ALLOW_HTTP = 'tidemark models add http'

type Endpoint = Pick<EmbedderConfig, 'url' | 'model' | 'keyFrom' | 'dimensions'>

const words = ({ url, model, keyFrom, dimensions }: Endpoint): string =>
  JSON.stringify([url, model, keyFrom ?? null, dimensions ?? null])

/**
 * Whether the texts of a project may be sent to an endpoint: the configuration comes with a repository, and so from others. The
 * user has allowed this very address, model and variable for this project, or the program that opened it said all of it.
 */
export const mayBeSent = (
  endpoint: EmbedderConfig,
  project: Project | undefined,
  program: object | undefined,
): boolean =>
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
  `${url}, model ${model}${keyFrom === undefined ? '' : `, with the key in $${keyFrom}`}`

/** What the committed configuration asks for and nobody has allowed; nothing where it asks for nothing. */
export function waitingEndpoint(project: Project): string | undefined {
  const asked = (project.recall as { embedder?: EmbedderConfig } | undefined)?.embedder
  if (asked?.use !== 'http' || mayBeSent(asked, project, undefined)) return undefined
  return `.tidemark/config.json sends the texts of this project to ${shownWhole(asked)}; you have not allowed that, so the built-in embedder is used`
}
