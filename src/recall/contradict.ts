import { stemOf, type Token, tokensOf } from './wording.ts'

export interface Said {
  readonly id: string
  readonly kind: string
  /** What it is called and says. */
  readonly text: string
  readonly topics?: readonly string[]
}

/** A link between two of them, by id. */
export interface Linked {
  readonly from: string
  readonly to: string
  readonly type: string
}

export interface Contradiction {
  /** The better-ranked one. */
  readonly a: string
  readonly b: string
  /** Somebody said so, or it cannot be read otherwise; else it may hang on where each of them applies. */
  readonly certain: boolean
  readonly why: string
}

const LINKS = new Set(['contradicts', 'conflicts-with', 'supersedes'])

/** Kinds that say how things are or ought to be. What happened, was measured or was said in passing is no rule. */
const RULES = new Set(['decision', 'principle', 'fact', 'pattern', 'learning', 'insight'])
/** Of these a plain sentence is a choice too: "sessions live in Redis". A learning about Redis excludes none about Postgres. */
const BINDING = new Set(['decision', 'principle', 'fact'])

/** So many results are held against each other; sentences of one. */
const MAX_ITEMS = 60
const MAX_CLAIMS = 4
/** A longer sentence is a story. */
const MAX_CLAIM_WORDS = 24

/**
 * Pairs among results that contradict each other: those that are linked so, and those whose words say so. The words are
 * read with care: the same sentence negated, the same sentence with one of two things that exclude each other, a choice
 * of one where the other rejects it. Not seen: what follows only from meaning ("sessions live in memory" against "the
 * server keeps no state"), alternatives nobody listed here outside equal sentences, and any language but English.
 */
export function contradictions(ranked: readonly Said[], links: readonly Linked[] = []): Contradiction[] {
  const place = new Map(ranked.map((r, i) => [r.id, i]))
  const found = new Map<string, Contradiction>()
  const add = (x: string, y: string, certain: boolean, why: string) => {
    const [a, b] = place.get(x)! < place.get(y)! ? [x, y] : [y, x]
    const key = JSON.stringify([a, b])
    if (!found.has(key)) found.set(key, { a, b, certain, why })
  }
  for (const { from, to, type } of links)
    if (LINKS.has(type) && from !== to && place.has(from) && place.has(to)) add(from, to, true, type)
  const claims = ranked.slice(0, MAX_ITEMS).map((r) => (RULES.has(r.kind) ? claimsOf(r) : []))
  for (const [i, mine] of claims.entries())
    for (let j = 0; j < i; j++) {
      if (apart(ranked[i]!.topics, ranked[j]!.topics)) continue
      const verdicts = claims[j]!.flatMap((theirs) => mine.flatMap((m) => judge(theirs, m) ?? []))
      const verdict = verdicts.find((v) => v.certain) ?? verdicts[0]
      if (verdict) add(ranked[j]!.id, ranked[i]!.id, verdict.certain, verdict.why)
    }
  const order = (c: Contradiction) => place.get(c.a)! * ranked.length + place.get(c.b)!
  return [...found.values()].sort((x, y) => order(x) - order(y))
}

/** For each id the ids that contradict it. */
export function byId(pairs: readonly Contradiction[]): Map<string, string[]> {
  const marks = new Map<string, string[]>()
  const mark = (id: string, other: string) => marks.set(id, [...(marks.get(id) ?? []), other])
  for (const { a, b } of pairs) {
    mark(a, b)
    mark(b, a)
  }
  return marks
}

/** Two areas of the work without anything in common may do as each likes. */
const apart = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length > 0 && b.length > 0 && !a.some((t) => b.some((u) => t.toLowerCase() === u.toLowerCase()))

/** What one sentence says. */
interface Claim {
  readonly words: ReadonlySet<string>
  /** What is chosen: the words behind the verb of choice, up to the next preposition. */
  readonly object: ReadonlySet<string>
  /** What is turned down in passing: "rather than …", ", not …". */
  readonly rejected: ReadonlySet<string>
  readonly chosen: boolean
  /** What stands behind "with", "in" or "as": by what means. */
  readonly means: ReadonlySet<string>
  readonly binding: boolean
  readonly negative: boolean
}

/** The reasons begin here; they are not what is claimed. */
const REASON =
  /\s(?:because|since|so that|so we|so it|due to|as (?:it|they|we|this)\b|given that|which)\b|\s[–—-]\s|\(/i
const INSTEAD =
  /(?:,\s*(?:and )?not|\binstead of|\brather than|\bover|\bin place of|\bnot)\s+(\p{L}[\p{L}\p{N}_+#.-]{0,60}(?:\s+\p{L}[\p{L}\p{N}_+#.-]{0,60}){0,2}?)(?=\s*(?:[,;.]|$|\b(?:for|in|on|to|as|when|with|by|at)\b))/iu
/** Words that say only what sort of thing something is. */
const SORTS = new Set(
  'algorithm librari framework databas db tool approach method packag modul style option engin system'.split(' '),
)
/** A number behind one of these says which, not how much. */
const LABEL =
  /^(?:issue|step|phase|stage|migration|pr|ticket|rule|section|chapter|bug|task|milestone|sprint|release|figure|table)s?$/i
const MEANS = /^(?:with|in|as|by|via|through)$/i
const PREPOSITION = /^(?:for|in|on|to|as|when|with|by|at|from|into|of|and|or|if|unless|while|before|after|only|per)$/i

function claimsOf({ text, kind }: Said): Claim[] {
  return text
    .split(/\n+|(?<=[.!?;])\s+/)
    .flatMap((sentence) => claimOf(sentence, BINDING.has(kind)) ?? [])
    .slice(0, MAX_CLAIMS)
}

function claimOf(sentence: string, binding: boolean): Claim | undefined {
  if (/\?\s*$/.test(sentence)) return undefined
  const reason = REASON.exec(sentence)
  let claim = reason && reason.index > 0 ? sentence.slice(0, reason.index) : sentence
  const rejected = new Set<string>()
  const instead = INSTEAD.exec(claim)
  // "do not use" negates what follows; only what stands behind an object is turned down in passing
  if (instead && tokensOf(claim.slice(0, instead.index)).some((t) => t.type === 'word')) {
    for (const token of tokensOf(instead[1]!)) if (isContent(token)) rejected.add(token.stem)
    claim = claim.slice(0, instead.index) + claim.slice(instead.index + instead[0].length)
  }
  const tokens = tokensOf(claim).map((t, i, all) => {
    const label = t.type === 'number' && LABEL.exec(all[i - 1]?.raw ?? '')
    return label ? { ...t, type: 'word' as const, stem: `${label[0].toLowerCase()}#${t.stem}` } : t
  })
  const content = tokens.filter(isContent)
  if (content.length === 0 || content.length > MAX_CLAIM_WORDS) return undefined
  const negations = tokens.filter((t) => t.type === 'negation').length
  const verb = tokens.findIndex((t) => t.type === 'choice' || t.type === 'negation')
  const object = new Set<string>()
  // "use … with" is a choice at the head of the sentence; "the module that uses …" is none
  const heads = verb >= 0 && !tokens.slice(0, verb).some((t) => t.type === 'word' || t.type === 'number')
  if (heads)
    for (const token of tokens.slice(verb)) {
      if (PREPOSITION.test(token.raw) && object.size > 0) break
      if (isContent(token)) object.add(token.stem)
    }
  return {
    words: new Set(content.map((t) => t.stem)),
    object,
    rejected,
    chosen: heads,
    means: new Set(tokens.flatMap((t, i) => (MEANS.test(tokens[i - 1]?.raw ?? '') ? [t.stem] : []))),
    binding,
    negative: negations % 2 === 1,
  }
}

const isContent = ({ type, stem }: Token): boolean => (type === 'word' && !SORTS.has(stem)) || type === 'number'

interface Verdict {
  readonly certain: boolean
  readonly why: string
}

const without = (a: ReadonlySet<string>, b: ReadonlySet<string>): string[] => [...a].filter((w) => !b.has(w))
const common = (a: ReadonlySet<string>, b: ReadonlySet<string>): string[] => [...a].filter((w) => b.has(w))
const within = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => a.size > 0 && [...a].every((w) => b.has(w))

function judge(a: Claim, b: Claim): Verdict | undefined {
  if (a.negative !== b.negative) return opposite(a, b)
  if (a.negative) return undefined // two refusals go together
  return turnedDown(a, b) ?? turnedDown(b, a) ?? substituted(a, b)
}

/** One says it, the other says not. */
function opposite(a: Claim, b: Claim): Verdict | undefined {
  const [onlyA, onlyB] = [without(a.words, b.words), without(b.words, a.words)]
  const shared = common(a.words, b.words)
  if (shared.length === 0) return undefined
  if (onlyA.length === 0 && onlyB.length === 0)
    return shared.length > 1 || (a.chosen && b.chosen) ? { certain: true, why: 'one says the opposite' } : undefined
  // each applies to something else
  if (onlyA.length > 0 && onlyB.length > 0) return undefined
  const [narrow, wide] = onlyA.length === 0 ? [a, b] : [b, a]
  const about = narrow.chosen && wide.chosen ? within(narrow.object, wide.object) : shared.length > 1
  return about && onlyA.length + onlyB.length <= 4
    ? { certain: false, why: 'one says the opposite, perhaps of a part' }
    : undefined
}

/** One chooses what the other turns down for something else. */
function turnedDown(a: Claim, b: Claim): Verdict | undefined {
  if (a.rejected.size === 0 || !b.chosen || !within(b.object, a.rejected)) return undefined
  const context = without(b.words, b.object)
  const theirs = without(a.words, a.object)
  const shared = context.filter((w) => a.words.has(w))
  if (context.length > 0 && theirs.length > 0 && shared.length === 0) return undefined
  return { certain: context.length === shared.length, why: `one turns down ${[...b.object].join(' ')}` }
}

/** The same sentence with something else in one place. */
function substituted(a: Claim, b: Claim): Verdict | undefined {
  const [onlyA, onlyB] = [without(a.words, b.words), without(b.words, a.words)]
  if (onlyA.length === 0 || onlyB.length === 0) return undefined
  const shared = common(a.words, b.words)
  const choice = a.chosen && b.chosen
  for (const x of onlyA)
    for (const y of onlyB) {
      const sort = excludes(x, y)
      if (!sort || (choice && sort !== 'opposite' && !(a.object.has(x) && b.object.has(y)))) continue
      const extra = [onlyA.length - 1, onlyB.length - 1]
      const both = Math.min(...extra) > 0
      const any = Math.max(...extra) > 0
      const why = `${x} against ${y}`
      if (!choice || sort === 'opposite' || sort === 'number') {
        // a plain sentence must be the same but for this
        if (!choice && !(a.binding && b.binding)) continue
        const enough = shared.length > 1 || (shared.length === 1 && a.means.has(x) && b.means.has(y))
        if (enough && !any) return { certain: true, why }
        if (shared.length > 2 && !both && Math.max(...extra) === 1 && sort !== 'number') return { certain: false, why }
      } else if (!any) return { certain: true, why }
      else if (sort === 'shape') return { certain: !both, why }
      else if (!both || shared.length > 1) return { certain: false, why }
    }
  // things nobody listed, chosen for the very same
  const objects = without(a.object, b.object).length + without(b.object, a.object).length
  const context = shared.filter((w) => !a.object.has(w) && !b.object.has(w))
  const alone = onlyA.every((w) => a.object.has(w)) && onlyB.every((w) => b.object.has(w))
  if (choice && alone && objects === 2 && context.length > 1)
    return { certain: false, why: `${onlyA.join(' ')} against ${onlyB.join(' ')}` }
  return undefined
}

const groups = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .trim()
      .split('\n')
      .flatMap((line, i) =>
        line
          .trim()
          .split(/\s+/)
          .map((word) => [stemOf(word), i] as const),
      ),
  )

/** Of each line one is chosen for one purpose. */
const ALTERNATIVES = groups(`
  postgres postgresql mysql mariadb sqlite mongodb dynamodb cassandra cockroachdb oracle
  redis memcached
  kafka rabbitmq nats sqs
  npm yarn pnpm bun
  jest vitest mocha ava
  eslint biome oxlint tslint
  prettier dprint
  webpack vite rollup esbuild parcel
  react vue svelte angular solid
  express fastify koa hono hapi
  rest graphql grpc soap trpc
  json yaml toml xml protobuf msgpack
  jwt cookies
  localstorage sessionstorage indexeddb
  bcrypt argon2 scrypt pbkdf2
  tabs spaces
  rebase merge squash
  monorepo polyrepo multirepo
  camelcase snake_case kebab-case pascalcase
  polling websockets webhooks
  docker podman
  terraform pulumi cloudformation
  github gitlab bitbucket
  aws azure gcp
  prisma drizzle typeorm sequelize kysely
  zod yup joi valibot
  uuid ulid autoincrement
  inheritance composition
  classes functions
  crdt ot
`)

/** The two words of a line are opposites. */
const OPPOSITES = groups(`
  before after
  sync async
  synchronous asynchronous
  public private
  mutable immutable
  required optional
  mandatory optional
  eager lazy
  strict loose
  increase decrease
  optimistic pessimistic
  stateless stateful
  static dynamic
  sql nosql
  push pull
  singular plural
  ascending descending
  centralized decentralized
`)

/** Whether two words exclude each other, and how it is known. */
function excludes(x: string, y: string): 'listed' | 'opposite' | 'number' | 'shape' | undefined {
  if (/^\d/.test(x) && /^\d/.test(y)) return 'number'
  if (OPPOSITES.has(x) && OPPOSITES.get(x) === OPPOSITES.get(y)) return 'opposite'
  if (ALTERNATIVES.has(x) && ALTERNATIVES.get(x) === ALTERNATIVES.get(y)) return 'listed'
  // HS256 and RS256, sha1 and sha256: letters and digits of one pattern
  const shape = (w: string) => /^(\p{L}{1,6})(\d+)$/u.exec(w)
  const [p, q] = [shape(x), shape(y)]
  return p && q && (p[1] === q[1] || (p[2] === q[2] && p[1]!.length === q[1]!.length)) ? 'shape' : undefined
}
