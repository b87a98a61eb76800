import { UserError } from '../../../base/errors.ts'
import { EMBEDDERS, type RecallConfig } from '../config.ts'
import type { Embedder } from './embedder.ts'
import type { HttpConfig } from './http.ts'

/** Makes the embedder that was configured, and loads nothing of the others; undefined for `none`. */
export async function loadEmbedder(config: RecallConfig['embedder']): Promise<Embedder | undefined> {
  if (config.use === 'static') return (await import('./static.ts')).staticEmbedder()
  if (config.use === 'onnx') return (await import('./onnx.ts')).onnxEmbedder()
  if (config.use === 'http') return (await import('./http.ts')).httpEmbedder(config as HttpConfig)
  if (config.use === 'none') return undefined
  throw new UserError(
    'bad-embedder',
    `there is no embedder ${JSON.stringify(config.use)}`,
    `one of ${EMBEDDERS.join(', ')}`,
  )
}
