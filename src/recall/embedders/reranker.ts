/** How many of the first results are read. */
export const RERANKED = 30

/** Reads a question and texts together, and says how well each answers. */
export interface Reranker {
  /** One number for each text, in order, or for as many of the first as time allows: the higher, the better. */
  rerank(question: string, texts: readonly string[]): Promise<number[]>
  /** Frees what the model holds. */
  close?(): void
}
