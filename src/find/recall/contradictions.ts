import { dirname } from 'node:path'
import { keptIn } from '../../base/lookup.ts'
import { isAscii } from '../../base/secrets/plain.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import type { Project } from '../../engine/store/project.ts'
import { stem } from '../../engine/store/terms.ts'
import { type Entity, isAgreed, linkId, madeAt, nameKey, standingOf } from '../../model/entity.ts'
import { unverifiedAmong } from './unverified.ts'
import { stateOf } from './validity.ts'
import { CHOICE as CHOOSING, NEGATION as NEGATING, STOP } from './word-overlap.ts'

/** One slot a line: words that say what it is for, then what fills it; of one slot a project takes one. `=` gives a second name. */
const SHIPPED = `
install dependency dependencies package: npm, pnpm, yarn, bun
install dependency package python: pip, uv, poetry, pipenv, conda
test testing unit run written: jest, vitest, mocha, ava, jasmine
test testing unit run written python: pytest, unittest
e2e end-to-end end test testing browser: cypress, playwright, puppeteer, selenium
indent indentation: tab, space, 2 space=two space, 4 space=four space, 8 space
string literal: single quote, double quote
name named naming: camelcase, snake_case=snake case, kebab-case=kebab case, pascalcase
database db data storage store persistence persist all main primary: postgres=postgresql, mysql, mariadb, sqlite, mongodb=mongo, dynamodb, cassandra, cockroachdb, oracle, mssql
cache caching: redis, memcached
orm database access query: prisma, drizzle, typeorm, sequelize, kysely, knex
validation validate schema: zod, yup, joi, valibot, ajv
format formatting formatter: prettier, dprint, biome
format formatting formatter python: black, ruff, yapf, autopep8
lint linting linter: eslint, biome, oxlint, tslint
lint linting linter python: ruff, flake8, pylint
merge merging pull request pr commit: squash=squash merge, rebase, merge commit
http server api framework: express, fastify, koa, hapi, hono, nestjs
frontend ui written framework: react, vue, svelte, angular, solid
api: rest=restful, graphql, grpc, trpc, soap
export: named export, default export
bundle bundling bundler build: webpack, vite, rollup, esbuild, parcel, turbopack
message queue event broker: kafka, rabbitmq, nats, sqs
container local development: docker=docker compose, podman
id identifier: uuid, ulid, autoincrement, nanoid
date time: moment, date-fns, dayjs, luxon
state management: redux, zustand, mobx, jotai, recoil
style styling css done: tailwind=tailwind css, styled-components, emotion, sass=scss
infrastructure deploy: terraform, pulumi, cloudformation
log logging logger: winston, pino, bunyan
http request: axios, fetch, got
ci run: github actions, circleci, gitlab ci, jenkins, travis
version control: git, mercurial, svn
component: functional component=function component, class component
`

type Slot = { readonly domain: ReadonlySet<string>; readonly values: ReadonlySet<string> }

const stemOf = (word: string): string => stem(word.toLowerCase().replaceAll('’', "'"))
const stems = (words: Iterable<string>): Set<string> => new Set(Array.from(words, stemOf))
const list = (words: string): ReadonlySet<string> => stems(words.split(' '))
const madeWords = () => ({
  silent: stems([
    ...[...STOP].filter((word) => word !== 'us'), // its stem is that of "use"
    ...'could may might only directly freely everywhere project repo repository now done everything everyone'.split(
      ' ',
    ),
  ]),
  choice: stems([...CHOOSING, 'favor', 'favour', 'stick', 'switch']),
  negation: stems([...NEGATING, "don't", "doesn't", "can't", "mustn't", "shouldn't"]),
  /** Behind these stands an exception: what such a sentence forbids or asks for cannot be told from its words. */
  exceptions: list('except unless but other besides apart'),
  moved: list('switch move migrate change'),
})
/** Stemmed when they are first needed: a hook that compares no rules spares 2 ms. */
let listed: ReturnType<typeof madeWords> | undefined
const REASONS = [' because ', ' since ', ' so that ', ' — ', ' – ', ' (', ' due to ']
const REJECTS = [', not ', ', never ', ' instead of ', ' rather than ', ' over ', ' and never ', ' and not ', ' not ']
/** A longer sentence tells a story. */
const MOST_WORDS = 20
const SENTENCES = 3

const ASCII_WORD = /[A-Za-z0-9_@][A-Za-z0-9_@./+#'-]*/g
const wordsOf = (text: string): string[] =>
  // V8 makes the other one in 1.5 ms, when it is first reached
  Array.from(text.matchAll(isAscii(text) ? ASCII_WORD : /[\p{L}\p{N}_@][\p{L}\p{N}_@./+#'’-]*/gu), ([raw]) =>
    stemOf(raw.replace(/[.'’/-]$/, '')),
  )

const MOST_KEPT = 2_000

/** What alternatives there are: those that ship, and a project's own lists. */
export class Vocabulary {
  readonly #slots: Slot[] = []
  /** The stems of a name as one text → what it stands for. */
  readonly #names = new Map<string, string>()
  readonly #claims = new Map<string, readonly Found[]>()

  constructor(own: Readonly<Record<string, readonly string[]>> = {}) {
    for (const line of SHIPPED.trim().split('\n')) {
      const [domain = '', names = ''] = line.split(': ')
      this.#add(domain.split(' '), names.split(', '))
    }
    for (const [domain, names] of Object.entries(own)) this.#add(domain.split(' '), names)
  }

  #add(domain: readonly string[], names: readonly string[]): void {
    const values = names.map((name) => {
      const [value = '', ...others] = name.split('=').map((n) => wordsOf(n).join(' '))
      for (const n of [value, ...others]) this.#names.set(n, value)
      return value
    })
    this.#slots.push({ domain: stems(domain), values: new Set(values) })
  }

  /** Names of up to two words become what they stand for. */
  joined(words: readonly string[]): string[] {
    const out: string[] = []
    for (let i = 0; i < words.length; i++) {
      const pair = this.#names.get(`${words[i]} ${words[i + 1]}`)
      out.push(pair ?? this.#names.get(words[i]!) ?? words[i]!)
      if (pair !== undefined) i++
    }
    return out
  }

  /** The slots that two values are alternatives of: neither is the other said more closely. */
  between(a: string, b: string): Slot[] {
    if (a === b || a.endsWith(` ${b}`) || b.endsWith(` ${a}`)) return []
    return this.#slots.filter((s) => s.values.has(a) && s.values.has(b))
  }

  /** Words that say only what a value is for. */
  domainOf(value: string): ReadonlySet<string> {
    return new Set(this.#slots.flatMap((s) => (s.values.has(value) ? [...s.domain] : [])))
  }

  slotsOf(value: string): string[] {
    return this.#slots.flatMap((s, i) => (s.values.has(value) ? [`slot ${i}`] : []))
  }

  isValue(word: string): boolean {
    return this.#names.has(word)
  }

  /** What a text asks for and forbids; kept, as the same rules are compared at each start. */
  claimsOf(text: string): readonly Found[] {
    if (this.#claims.size > MOST_KEPT) this.#claims.clear()
    return keptIn(this.#claims, text, () => claimsOf(text, this).map((c) => ({ ...c, ...keysOf(c, this) })))
  }
}

/** What one part of a sentence asks for or forbids. */
interface Claim {
  readonly words: ReadonlySet<string>
  /** Of the words, those that are alternatives of something. */
  readonly values: readonly string[]
  readonly negative: boolean
  /** Of what is turned down: it only comes second. Of what is asked for: always, or before another. */
  readonly ranked: boolean
  /** It chooses something: "use …", "always …". */
  readonly chosen: boolean
}

/** With the keys under which others find it, and by which it finds others. */
interface Found extends Claim {
  readonly under: readonly string[]
  readonly by: readonly string[]
  /** What it forbids, without the words that say only what that is for; those are the domain. */
  readonly bans: { readonly words: readonly string[]; readonly domain: ReadonlySet<string> }
}

const claimsOf = (text: string, vocabulary: Vocabulary): Claim[] =>
  text
    .slice(0, 1_000)
    .split(/[.;!?]\s|\n/)
    .slice(0, SENTENCES)
    .flatMap((sentence) => claimsIn(sentence, vocabulary))

function claimsIn(sentence: string, vocabulary: Vocabulary): Claim[] {
  let said = ` ${sentence.trim().toLowerCase().replaceAll('’', "'")} `
  for (const reason of REASONS) {
    const at = said.indexOf(reason)
    if (at > 0) said = `${said.slice(0, at)} `
  }
  const words = wordsOf(said)
  const { silent, choice, negation, exceptions, moved } = (listed ??= madeWords())
  if (words.length === 0 || words.length > MOST_WORDS || words.some((w) => exceptions.has(w))) return []
  const claim = (part: string, rejects: boolean, mark?: string): Claim[] => {
    const all = wordsOf(part)
    const negative = rejects !== (all.filter((w) => negation.has(w)).length % 2 === 1)
    const kept = vocabulary.joined(all.filter((w) => !silent.has(w) && !negation.has(w)))
    const content = kept.filter((w) => !choice.has(w))
    const chosen =
      rejects || content.length < kept.length || (content[0] !== undefined && vocabulary.isValue(content[0]))
    const values = content.filter((w) => vocabulary.isValue(w))
    const ranked = negative ? rejects && mark === ' over ' : mark !== undefined || / (?:always|only|must) /.test(part)
    return content.length === 0 ? [] : [{ words: new Set(content), values, negative, ranked, chosen }]
  }
  const from = said.indexOf(' from ')
  const to = said.indexOf(' to ', from)
  if (from > 0 && to > 0 && words.slice(0, 4).some((w) => moved.has(w)))
    return [...claim(said.slice(from + 6, to), true), ...claim(`use ${said.slice(to + 4)}`, false)]
  for (const mark of REJECTS) {
    const at = said.indexOf(mark)
    // "do not use" forbids the whole; only behind something that is asked for is another turned down
    if (at < 0 || wordsOf(said.slice(0, at)).every((w) => silent.has(w) || choice.has(w))) continue
    if (mark === ' not ' && !wordsOf(said.slice(0, at)).some((w) => choice.has(w))) continue
    return [...claim(said.slice(0, at), false, mark), ...claim(said.slice(at + mark.length), true, mark)]
  }
  return claim(said, false)
}

const minus = (a: ReadonlySet<string>, value: string, domain: ReadonlySet<string>): string[] =>
  [...a].filter((w) => w !== value && !domain.has(w))
const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((w) => b.includes(w))

function isContrary(a: Found, b: Found, vocabulary: Vocabulary): boolean {
  if (a.negative && b.negative) return false
  if (!a.negative && !b.negative) {
    for (const x of a.values)
      for (const y of b.values)
        for (const { domain } of vocabulary.between(x, y))
          if (same(minus(a.words, x, domain), minus(b.words, y, domain))) return true
    return false
  }
  const [ban, wish] = a.negative ? [a, b] : [b, a]
  const { domain, words: banned } = ban.bans
  if (banned.length === 0 || !banned.every((w) => wish.words.has(w))) return false
  const wished = [...wish.words].filter((w) => !domain.has(w) || wish.values.includes(w))
  // what is forbidden altogether is forbidden for each purpose
  if (ban.ranked) return wish.ranked && same(banned, wished)
  return same(banned, wished) || (ban.chosen && wish.chosen)
}

/** Those of one slot may contradict each other, and one that forbids a word and one that holds it. */
function keysOf({ words, values, negative }: Claim, vocabulary: Vocabulary): Omit<Found, keyof Claim> {
  const [wished, banned] = ['+', '-'].map((sign) => Array.from(words, (w) => `${sign}${w}`)) as [string[], string[]]
  const domain = new Set(values.flatMap((w) => [...vocabulary.domainOf(w)]))
  const bans = { words: [...words].filter((w) => !domain.has(w) || values.includes(w)), domain }
  if (negative) return { under: banned, by: wished, bans }
  const slots = values.flatMap((w) => vocabulary.slotsOf(w))
  return { under: [...wished, ...slots], by: [...banned, ...slots], bans }
}

/** Indices of rules that ask for two alternatives, or of which one forbids what the other asks for; the second from `from` on. */
export function contraryPairs(texts: readonly string[], vocabulary: Vocabulary, from = 0): [number, number][] {
  const found: [number, number][] = []
  if (from >= texts.length) return found
  const said = texts.map((text) => vocabulary.claimsOf(text))
  const places = new Map<string, Set<number>>()
  for (const [i, claims] of said.entries()) {
    if (i >= from) {
      const near = new Set(claims.flatMap((c) => c.by.flatMap((key) => [...(places.get(key) ?? [])])))
      const isAgainst = (j: number) => said[j]!.some((a) => claims.some((b) => isContrary(a, b, vocabulary)))
      for (const j of near) if (isAgainst(j)) found.push([j, i])
    }
    for (const { under } of claims) for (const key of under) keptIn(places, key, () => new Set()).add(i)
  }
  return found
}

/** What of an entity says how things are to be done. */
export const ruleIn = ({ fields, name }: Pick<Entity, 'fields' | 'name'>): string =>
  [fields.fact, fields.description].find((v) => typeof v === 'string') ?? name.replaceAll('-', ' ')

/** The folder that an instruction file it was found in speaks of. */
function folderOf({ fields }: Entity): string {
  const [at] = Array.isArray(fields.locations) ? fields.locations.map(String) : []
  return at !== undefined && /\.mdc?(?::\d+)?$/.test(at) ? dirname(at) : '.'
}

/** Somebody decided that one takes the other's place, or that both stand. */
const isDecided = (a: string, b: string, reader: Reader): boolean =>
  [linkId(a, 'supersedes', b), linkId(b, 'supersedes', a)].some((id) => {
    const link = reader.entity(id)
    return link?.live === true && standingOf(link.fields) !== 'proposed'
  })

/** An exception to the rule, which somebody here stands by, has the other one as its scope. */
export const isExcepted = (memory: Memory, reader: Reader, rule: Entity, other: Entity): boolean =>
  reader.list('exception').some((e) => {
    const [broken, scope] = [e.fields.ruleBroken, e.fields.scope].map((v) => nameKey(String(v ?? '')))
    const isOf = (said: string, of: Entity) => said === nameKey(of.name) || said === nameKey(of.id)
    return isAgreed(e) && isOf(broken!, rule) && isOf(scope!, other) && !unverifiedAmong(memory, [e]).has(e.id)
  })

/** Pairs of entities that contradict each other and about which nobody has decided, the newer one first; `from`: one of each is there or behind. */
export const contrary = (
  memory: Memory,
  all: readonly Entity[],
  reader: Reader,
  vocabulary: Vocabulary,
  from = 0,
): [newer: Entity, older: Entity][] =>
  contraryPairs(all.map(ruleIn), vocabulary, from).flatMap(([i, j]) => {
    const [a, b] = [all[i]!, all[j]!]
    if (folderOf(a) !== folderOf(b) || isDecided(a.id, b.id, reader)) return []
    if (isExcepted(memory, reader, a, b) || isExcepted(memory, reader, b, a)) return []
    return [madeAt(a) > madeAt(b) ? [a, b] : [b, a]]
  })

const RULES_LOOKED_AT = 500

/** The rules that bind here, newest first. */
export function bindingRules(memory: Memory, reader = memory.reader, now = memory.env.now()): Entity[] {
  const facts = reader
    .list('fact', { standing: 'confirmed', limit: RULES_LOOKED_AT })
    .filter((e) => stateOf(e, reader, now) === undefined)
  const unverified = unverifiedAmong(memory, facts)
  return facts.filter((e) => !unverified.has(e.id))
}

const made = new WeakMap<object, Vocabulary>()

/** The alternatives of a project: `"alternatives": {"what it is for": ["one", "other"]}` in its configuration adds to those that ship. */
export const vocabularyOf = (project: Pick<Project, 'alternatives'>): Vocabulary =>
  keptIn(made, project, () => new Vocabulary(namesIn(project.alternatives)))

/** What a configuration gives as lists of names: so many, of so many characters. */
export function namesIn(given: unknown): Record<string, string[]> {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return {}
  return Object.fromEntries(
    Object.entries(given)
      .slice(0, 100)
      .map(([domain, names]) => [
        domain.slice(0, 200),
        (Array.isArray(names) ? names : []).slice(0, 50).map((n) => String(n).slice(0, 60)),
      ]),
  )
}
