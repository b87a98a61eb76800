import { keptIn } from '../base/lookup.ts'
import { choice, type Field, type Given, type Json, map, set, text, time } from './field.ts'

/** How an entity of the kind is recognised when it is recorded again (design §3.2). */
export type Identity = 'name' | 'content' | 'event'

export interface Kind {
  readonly name: string
  readonly plural: string
  readonly about: string
  readonly identity: Identity
  /** The fields that identify it (`content` may need several); the first is what it is called. All that is required. */
  readonly key: readonly [string, ...string[]]
  /** Fields printed by position; the rest follow by name in declared order. */
  readonly positional: readonly string[]
  readonly fields: Readonly<Record<string, Field>>
  /** Further verbs that record it. */
  readonly aliases?: readonly string[]
  readonly halfLifeDays?: number
  /** How far an entity of the kind travels. */
  readonly travels: 'machine' | 'project' | 'user'
  /** Arguments of a `record-<kind>` that runs as it stands. */
  readonly example: Readonly<Record<string, Json>>
  /** What the arguments of `record-<kind>` mean, where that is not what they say. */
  read?(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined
  /** Later sessions are told to follow it: only a person's yes makes one bind, or changes one that does. */
  readonly binding?: boolean
  /** Kinds that Tidemark itself keeps: no verbs are derived from them. */
  readonly internal?: boolean
}

export const COMMON = {
  topics: set('what area of the work it belongs to', { weight: 1 }),
  tags: set('free labels', { weight: 1 }),
  standing: choice(['proposed', 'confirmed', 'rejected'], 'whether somebody has agreed to it', {
    default: 'confirmed',
  }),
  source: text('where it comes from: a file, a URL, an import'),
  validFrom: time('true in the world since', { also: ['date'] }),
  validTo: time('true in the world until'),
  attrs: map('free structure of your own: {key: value}, deep', { weight: 0.5 }),
  retired: text('why it was retired', { system: true }),
  provenance: set('who recorded it, and where: session, agent, user, branch, commit, task (else activity, else goal)', {
    system: true,
  }),
} as const satisfies Record<string, Field>

type Optional<F extends Readonly<Record<string, Field>>> = { -readonly [K in keyof F]?: Given<F[K]> }

/** Arguments of `record-<kind>`, derived from its declaration. */
export type RecordArgs<K extends Kind> = Optional<K['fields']> &
  Optional<Omit<typeof COMMON, 'retired' | 'provenance'>> & { ref?: string; anew?: boolean; expectedVersion?: number }

type Unsaid = 'plural' | 'travels' | 'positional'

/** Declares a kind. Unless said, `plural` is the name with an s, `travels` is `project` and `positional` the key. */
export const defineKind = <const K extends Omit<Kind, Unsaid> & Partial<Pick<Kind, Unsaid>>>(
  spec: K,
): K & Pick<Kind, Unsaid> => ({ plural: `${spec.name}s`, travels: 'project', positional: spec.key, ...spec })

/** Every field an entity of the kind can have, in the order it is printed. */
export const fieldsOf = (kind: Kind): Readonly<Record<string, Field>> =>
  keptIn(ALL_FIELDS, kind, () => ({ ...kind.fields, ...COMMON }))

const ALL_FIELDS = new WeakMap<Kind, Readonly<Record<string, Field>>>()
