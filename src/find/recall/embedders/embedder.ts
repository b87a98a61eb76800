/** Turns texts into vectors. */
export interface Embedder {
  /** Model and version: vectors of another id are of no use beside these. */
  readonly id: string
  readonly dimensions: number
  /** The cosine at and below which two texts have nothing to do with each other, as calibrated for this model. */
  readonly floor: number
  /** The cosine of texts that say the same; scales relevance. */
  readonly ceiling: number
  /** How much its cosines count beside the words of a text, where measurement has told; the more, the better it is. */
  readonly weight?: number
  /** Unit vectors, one for each text, in order; zeros for a text without anything the model knows. */
  embed(texts: readonly string[]): Promise<Float32Array[]>
  /** The same at once, where the model can: queries of the sandboxed Scheme cannot wait. */
  embedNow?(texts: readonly string[]): Float32Array[]
  close?(): void
}
