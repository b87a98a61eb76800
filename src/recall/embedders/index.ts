import { UserError } from '../../errors.ts'
import type { Embedder } from './embedder.ts'

export const EMBEDDERS = ['static', 'onnx', 'http', 'none'] as const

/** Which embedder a project uses. The key of an endpoint never stands here, only the variable's name. */
export interface EmbedderConfig {
  readonly use: (typeof EMBEDDERS)[number]
  /** http: the endpoint. */
  readonly url?: string
  /** http: the model, as the endpoint calls it. */
  readonly model?: string
  /** http: the name of the environment variable that holds the key. */
  readonly keyFrom?: string
  /** http: the length of vectors to ask for. */
  readonly dimensions?: number
}

/** Makes the embedder that was configured, and loads nothing of the others; undefined for `none`. */
export async function loadEmbedder(config: EmbedderConfig, directory?: string): Promise<Embedder | undefined> {
  switch (config.use) {
    case 'none':
      return undefined
    case 'static':
      return (await import('./static.ts')).staticEmbedder()
    case 'onnx':
      return (await import('./onnx.ts')).onnxEmbedder(directory)
    case 'http': {
      const { url, model } = config
      if (!url || !model)
        throw new UserError(
          'bad-embedder',
          `the http embedder needs ${url ? 'a model' : 'a url'}`,
          'for instance {"use": "http", "url": "http://localhost:11434/v1", "model": "nomic-embed-text"}',
        )
      return (await import('./http.ts')).httpEmbedder({ ...config, url, model })
    }
    default:
      throw new UserError(
        'bad-embedder',
        `there is no embedder ${JSON.stringify(config.use satisfies never)}`,
        `one of ${EMBEDDERS.join(', ')}`,
      )
  }
}
