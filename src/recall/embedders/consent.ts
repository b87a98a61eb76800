import { canonical } from '../../model/canonical.ts'
import type { Json } from '../../model/field.ts'
import type { Project } from '../../store/project.ts'
import { allowEndpoint, isAllowedEndpoint } from '../../store/state.ts'
import type { RecallConfig } from '../config.ts'

/** The command by which a user lets a project's texts go to the endpoint that its configuration names. */
export const ALLOW_HTTP = 'tidemark models add http'
export const ALLOW_RERANKER = 'tidemark models add reranker'

/** What an endpoint is for: leave for the one is none for the other. */
export type Purpose = 'embedder' | 'reranker'

type Endpoint = Pick<RecallConfig['embedder'], 'url' | 'model' | 'keyFrom' | 'dimensions'>

const words = ({ url, model, keyFrom, dimensions }: Endpoint): string =>
  JSON.stringify([url, model, keyFrom ?? null, dimensions ?? null])

const placeOf = (purpose: Purpose, storePath: string): string =>
  purpose === 'embedder' ? storePath : `${purpose} ${storePath}`

/**
 * Whether the texts of a project may be sent to an endpoint: the configuration comes with a repository, and so from others. The
 * user has allowed this very address, model and variable for this project, or the program that opened it said all of it.
 */
export const mayBeSent = (
  endpoint: Endpoint,
  project: Project | undefined,
  program: object | undefined,
  purpose: Purpose = 'embedder',
): boolean =>
  canonical(endpoint as unknown as Json) === canonical((program ?? {}) as Json) ||
  project === undefined ||
  isAllowedEndpoint(project.id, placeOf(purpose, project.storePath), words(endpoint))

export const allow = (endpoint: Endpoint, { id, storePath }: Project, purpose: Purpose = 'embedder'): void =>
  allowEndpoint(id, placeOf(purpose, storePath), words(endpoint))

/** Takes the user's leave back; false where there was none. */
export function forbid(endpoint: Endpoint, { id, storePath }: Project, purpose: Purpose = 'embedder'): boolean {
  const place = placeOf(purpose, storePath)
  const wasAllowed = isAllowedEndpoint(id, place, words(endpoint))
  allowEndpoint(id, place)
  return wasAllowed
}

/** Where it goes, whole, for a person to judge. */
export const shownWhole = ({ url, model, keyFrom }: Endpoint): string =>
  `${url}${model === undefined ? '' : `, model ${model}`}${keyFrom === undefined ? '' : `, with the key in $${keyFrom}`}`

/** The endpoints that the committed configuration asks for and nobody has allowed, each with the command that allows it. */
export function waitingEndpoints(project: Project): { readonly told: string; readonly allow: string }[] {
  const { embedder, reranker } = (project.recall ?? {}) as Partial<Pick<RecallConfig, Purpose>>
  const waits = (asked: RecallConfig[Purpose] | undefined, purpose: Purpose, instead: string, command: string) =>
    asked?.use !== 'http' || mayBeSent(asked, project, undefined, purpose)
      ? []
      : [
          {
            told: `.tidemark/config.json sends the texts of this project to ${shownWhole(asked)}; you have not allowed that, so ${instead}`,
            allow: command,
          },
        ]
  return [
    ...waits(embedder, 'embedder', 'the built-in embedder is used', ALLOW_HTTP),
    ...waits(reranker, 'reranker', 'nothing is reranked', ALLOW_RERANKER),
  ]
}
