import type { GivenArgs } from '../../model/args.ts'
import type { Json } from '../../model/field.ts'
import type { RecordArgs } from '../../model/kind.ts'
import type { KINDS } from '../../model/kinds/index.ts'
import type { VERBS } from './index.ts'

export type KindName = (typeof KINDS)[number]['name']
export type KindOf<N extends KindName> = Extract<(typeof KINDS)[number], { name: N }>

type Verb = (typeof VERBS)[number]
/** The arguments of a verb that is not derived from a kind. */
export type ArgsOf<N extends Verb['name']> = GivenArgs<Extract<Verb, { name: N }>['args']> & {
  expectedVersion?: number
}

/** An action on core kinds, checked by the compiler; verbs of run-time kinds go through `actAny`. */
export type TypedAction =
  | { [N in KindName]: readonly [verb: `record-${N}`, args: RecordArgs<KindOf<N>>] }[KindName]
  | readonly [verb: 'record-file-understanding', args: RecordArgs<KindOf<'file'>>]
  | readonly [verb: `delete-${KindName}`, args: { ref?: string; reason?: string } & { [key: string]: Json }]
  | { [N in Verb['name']]: readonly [verb: N, args: ArgsOf<N>] }[Verb['name']]

export type Batch = { intent?: string; projectId?: string; actions: readonly TypedAction[] }
