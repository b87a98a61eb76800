import { UserError } from '../../../base/errors.ts'
import { EMBEDDERS, type RecallConfig } from '../config.ts'
import type { Embedder } from './embedder.ts'

/** Which embedder a project uses: part of its configuration of recall. */
export type EmbedderConfig = RecallConfig['embedder']

/** Makes the embedder that was configured, and loads nothing of the others; undefined for `none`. */
export async function loadEmbedder(config: EmbedderConfig): Promise<Embedder | undefined> {
  switch (config.use) {
    case 'none':
      return undefined
    case 'static':
      return (await import('./static.ts')).staticEmbedder()
    case 'onnx':
      return (await import('./onnx.ts')).onnxEmbedder()
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
