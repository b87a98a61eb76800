import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { UserError } from '../../../base/errors.ts'
import { ADD_MINILM, findRuntime } from './models.ts'

/** A run holds up everything else in the process; one twice as large was no faster. */
const PIECES_PER_RUN = 512

/** As much of onnxruntime-node as is used. */
interface Runtime {
  readonly InferenceSession: {
    create(graph: Uint8Array | string, options: Readonly<Record<string, unknown>>): Promise<Session>
  }
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dimensions: readonly number[]) => unknown
}

export interface Session {
  run(feeds: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, { readonly data: Float32Array }>>>
  release(): Promise<void>
}

/** @throws UserError `no-runtime` where onnxruntime-node is missing or does not load. */
export function loadRuntime(models: string): Runtime {
  const file = findRuntime(models)
  if (file === undefined)
    throw new UserError(
      'no-runtime',
      'onnxruntime-node, which runs the model, is not installed',
      `run \`${ADD_MINILM}\`, which brings it, or set recall in .tidemark/config.json to what needs none`,
    )
  try {
    return createRequire(import.meta.url)(file) as Runtime
  } catch (error) {
    throw new UserError(
      'no-runtime',
      `onnxruntime-node does not load here: ${(error as Error).message.split('\n')[0]}`,
      `run \`tidemark models remove minilm\` and \`${ADD_MINILM}\`, or use the built-in embedder`,
      { file },
    )
  }
}

/** More threads than idle cores wait for each other: on two busy cores, two threads took twice as long as one. */
export const threads = () => ({
  intraOpNumThreads: Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
  interOpNumThreads: 1,
})

/** Inputs of equal length together, so that none is padded: the result for one is the same in whatever company. */
export const batches = (tokens: readonly (readonly number[])[]): number[][] =>
  [...Map.groupBy(tokens.keys(), (i) => tokens[i]!.length)].flatMap(([length, members]) => {
    const size = Math.max(1, Math.floor(PIECES_PER_RUN / Math.max(1, length)))
    return Array.from({ length: Math.ceil(members.length / size) }, (_, b) => members.slice(b * size, (b + 1) * size))
  })

/** What a model of BERT's family is fed: inputs of one length. */
export function feedsOf({ Tensor }: Runtime, inputs: readonly (readonly number[])[]): { [input: string]: unknown } {
  const shape = [inputs.length, inputs[0]!.length]
  const ids = BigInt64Array.from(inputs.flat(), BigInt)
  const tensor = (data: BigInt64Array) => new Tensor('int64', data, shape)
  return {
    input_ids: tensor(ids),
    attention_mask: tensor(new BigInt64Array(ids.length).fill(1n)),
    token_type_ids: tensor(new BigInt64Array(ids.length)),
  }
}
