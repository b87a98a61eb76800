import type { RecallConfig } from '../config.ts'
import type { Embedder } from './embedder.ts'

export async function loadEmbedder(config: RecallConfig['embedder']): Promise<Embedder | undefined> {
  if (config.use === 'none') return undefined
  return (await import('./static.ts')).staticEmbedder()
}
