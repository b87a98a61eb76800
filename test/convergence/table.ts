/**
 * Three people's stores, each with a key of its own. Their people and agents do to each other's knowledge whatever the table of
 * authority speaks of. What must hold follows from what each of them did and said yes to, which is noted here as it happens.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { UserError } from '../../src/base/errors.ts'
import type { ActResult } from '../../src/engine/memory.ts'
import { entityOf } from '../../src/engine/read/reader.ts'
import { acceptReviewers } from '../../src/engine/replication/reviewers.ts'
import { vouchedFor } from '../../src/engine/replication/vouched.ts'
import { waitingChanges } from '../../src/engine/replication/waiting.ts'
import { publicKey } from '../../src/engine/store/keys.ts'
import { printLine } from '../../src/engine/store/line.ts'
import { entitiesOf, newsAfter } from '../../src/engine/store/log.ts'
import { ownIdentities } from '../../src/engine/store/own-lines.ts'
import { openClaims } from '../../src/engine/store/presence.ts'
import { createProject, findProject, type Project } from '../../src/engine/store/project.ts'
import { getRow } from '../../src/engine/store/rows.ts'
import type { Entity } from '../../src/model/entity.ts'
import { brief } from '../../src/session/briefing/brief.ts'
import { dump, PROJECT, tempDir } from './harness.ts'
import { Stage } from './stage.ts'

type Player = Stage['players'][number]

const NAMES = ['ana', 'ben', 'cid'] as const
const RECIPE = 'project-kind:recipe'
const WORDS = /words \d+ of r\d/g
const MINUTE = 60_000

/** Who wants something at a store: its person, or one of two sessions of agents. */
const WHO = ['person', 'agent', 'other'] as const
type Who = (typeof WHO)[number]

interface Thing {
  readonly kind: 'fact' | 'decision'
  readonly name: 'one' | 'two'
}
const THINGS: readonly Thing[] = (['fact', 'decision'] as const).flatMap((kind) =>
  (['one', 'two'] as const).map((name) => ({ kind, name })),
)
/** Recorded anew after an erasure, a thing has another id that begins alike. */
const thingIn = (id: string): string => /^(?:fact|decision):(?:one|two)/.exec(id)?.[0] ?? id

/** What sessions at a store are told of something; `gone`: they are not. */
type Reading =
  | { readonly words: string; readonly sort: string; readonly binds: boolean; readonly isFound: boolean }
  | 'gone'

/** What said nothing says something: that changes nobody's words. */
const onlyAdds = (was: Reading, now: Reading): boolean =>
  was !== 'gone' &&
  now !== 'gone' &&
  (['words', 'sort'] as const).every((part) => was[part] === '' || was[part] === now[part])

/** Of what a person confirmed the words may not have come yet: whoever says some changes none. */
const saysNothing = ({ fields }: Entity): boolean =>
  Object.keys(fields).every((f) => f === 'provenance' || f === 'standing')

const json = (value: unknown): string => JSON.stringify(value)
const keyIn = (replica: string): string => replica.slice(4)

/** What somebody at a store did and said yes to. */
class Deeds {
  /** What they recorded, edited or confirmed. */
  readonly stands = new Set<string>()
  /** What the person had a hand in; and what of that no agent changes. */
  readonly ofPerson = new Set<string>()
  readonly guarded = new Set<string>()
  /** What is as they want it. */
  readonly decided = new Set<string>()
  /** What they took away, or agreed to have taken away. */
  readonly took = new Set<string>()
  /** Things and words that they erased. */
  readonly erased = new Set<string>()
  /** What they wrote or agreed to, and what they saw when they first stood by it; each with its id. */
  readonly said = new Set<string>()
  readonly saw = new Set<string>()

  standsBy(id: string, who: Who): void {
    this.stands.add(id)
    if (who !== 'person') return
    this.ofPerson.add(id)
    this.guarded.add(id)
  }
  erase(id: string): void {
    this.erased.add(thingIn(id))
    this.took.add(id)
    this.stands.delete(id)
    this.ofPerson.delete(id)
    this.guarded.delete(id)
  }
  /** Whether they ever decided anything about it. */
  concerns(id: string): boolean {
    return this.stands.has(id) || this.decided.has(id) || this.took.has(id) || this.erased.has(thingIn(id))
  }
}

let places: { states: string[]; project: Project } | undefined
function placesOf(): { states: string[]; project: Project } {
  if (places) return places
  const dir = tempDir()
  createProject(dir)
  places = { states: NAMES.map(() => mkdtempSync(join(dir, 'state-'))), project: findProject(dir) }
  return places
}
export function dropPlaces(): void {
  if (places) rmSync(places.project.root, { recursive: true, force: true })
  places = undefined
}

interface Wish {
  readonly by: number
  readonly who: Who
  readonly verb: Verb
  readonly thing: Thing
  /** Which of several, and which way. */
  readonly n: number
}
const VERBS = [
  ...['add', 'retype', 'retire', 'supersede', 'delete', 'purge', 'purge-text', 'undo', 'restore', 'define'],
] as const
type Verb = (typeof VERBS)[number]

export class Table extends Stage {
  readonly #deeds = new Map<Player, Deeds>()
  readonly #reviewers: ReadonlyMap<Player, readonly Player[]>
  readonly #claims = new Map<Player, Map<string, string>>()
  readonly #ids = new Set<string>()
  /** All words that were written, each with what it was written of. */
  readonly #words = new Map<string, string>()
  readonly #batches: string[] = []
  #isFolded = false

  /** `accepts`: whether the person of the one has accepted the other as a reviewer. */
  constructor(seed: number, accepts: readonly (readonly boolean[])[]) {
    super(NAMES.length, seed)
    for (const [i, p] of this.players.entries()) p.state = placesOf().states[i]!
    const reviewersOf = (i: number) => this.players.filter((_, j) => j !== i && accepts[i]?.[j] === true)
    this.#reviewers = new Map(this.players.map((p, i) => [p, reviewersOf(i)]))
    for (const [p, reviewers] of this.#reviewers) {
      this.#deeds.set(p, new Deeds())
      this.#claims.set(p, new Map())
      const keys = reviewers.map((o) => [o.name, [o.here(() => publicKey(PROJECT)!)]])
      if (keys.length > 0) acceptReviewers(p.memory.db, Object.fromEntries(keys))
    }
  }

  #deciding = (p: Player): Player[] => [p, ...this.#reviewers.get(p)!]
  /** Erasures of these take everybody's words away at a store. */
  override own(p: Player): string[] {
    return this.#deciding(p).flatMap((d) => ownIdentities(d.memory.db).map((o) => o.replica))
  }

  #read(p: Player, id: string): Reading {
    return this.#reads(p, [id]).get(id)!
  }
  #readAll(p: Player): Map<string, Reading> {
    for (const id of p.memory.reader.ids(['fact', 'decision'])) this.#ids.add(id)
    return this.#reads(p, this.#ids)
  }
  #reads(p: Player, ids: Iterable<string>): Map<string, Reading> {
    const told = new Set(p.memory.reader.ids(['fact', 'decision'], { current: true }))
    return new Map([...ids].map((id) => [id, this.#readOne(p, id, told)]))
  }
  #readOne({ memory }: Player, id: string, told: ReadonlySet<string>): Reading {
    if (id === RECIPE) {
      const kind = memory.registry().kind('recipe')
      return kind ? { words: kind.about, sort: Object.keys(kind.fields).join(), binds: false, isFound: true } : 'gone'
    }
    const e = memory.reader.entity(id)
    // what was undone and restored has no name
    if (!e?.live || !told.has(id) || e.name === '' || (e.fields.standing ?? 'confirmed') !== 'confirmed') return 'gone'
    const words = String(e.fields[e.kind === 'fact' ? 'context' : 'rationale'] ?? '')
    const isFound = memory.reader.search(words === '' ? e.name : words, 50).some((o) => o.id === id)
    const sort = String(e.fields[e.kind === 'fact' ? 'category' : 'visibility'] ?? '')
    return { words, sort, binds: e.kind === 'fact' && vouchedFor(memory, [id]).has(id), isFound }
  }
  /** The words in the log of a store, each with the key that wrote the line. */
  #textsIn(p: Player): Set<string> {
    const found = newsAfter(p.memory.db, 0).flatMap(({ line }) =>
      (printLine(line).match(WORDS) ?? []).map((words) => `${keyIn(line.replica)}/${words}`),
    )
    return new Set(found)
  }

  /** Something comes to a store. No line of others changes what somebody there stands by, or takes a text away for good. */
  #comes(p: Player, body: () => void): void {
    const [before, texts] = [this.#readAll(p), this.#textsIn(p)]
    body()
    for (const [id, now] of this.#reads(p, this.#ids)) {
      const was = before.get(id) ?? 'gone'
      const why = this.#forbids(p, id, was, now)
      if (why) throw new Error(`${p.name} read ${id} as ${json(was)}, and reads it as ${json(now)}: ${why}`)
      // a reviewer took it away: anybody may say it again
      const own = this.#deeds.get(p)!
      if (was !== 'gone' && now === 'gone') own.guarded.delete(id)
      else if (now !== 'gone' && own.stands.has(id) && !now.binds && !this.#isDecided(p, id, now.words)) {
        own.guarded.delete(id)
        own.stands.delete(id)
      }
    }
    if (this.#isFolded) return
    const left = this.#textsIn(p)
    for (const text of texts)
      if (!left.has(text) && !this.#mayBeGone(p, text)) throw new Error(`"${text}" is gone at ${p.name}`)
  }

  /** Why what is read of something may not change so where lines of others come. */
  #forbids(p: Player, id: string, was: Reading, now: Reading): string | undefined {
    const own = this.#deeds.get(p)!
    const deciding = this.#deciding(p).map((d) => this.#deeds.get(d)!)
    const hasEmptied = ({ erased }: Deeds) => [...erased].some((words) => this.#words.get(words) === thingIn(id))
    if (!deciding.some((d) => d !== own && (d.concerns(id) || hasEmptied(d)))) {
      if (now !== 'gone' && now.binds && !own.ofPerson.has(id)) return 'no person has agreed that it binds'
      return own.stands.has(id) && !isDeepStrictEqual(was, now) ? 'nobody has agreed to the change' : undefined
    }
    if (!own.stands.has(id)) return undefined
    const isReviewed = deciding.some((d) => d !== own && d.took.has(id))
    const isEmpty = now !== 'gone' && now.words === '' && (isReviewed || deciding.some(hasEmptied))
    // what a reviewer took away may leave words of others, which bind nobody
    if (now !== 'gone' && !isEmpty && !this.#isDecided(p, id, now.words) && !(isReviewed && !now.binds))
      return 'nobody who decides here said these words'
    const isTaken = deciding.some(({ took, erased }) => took.has(id) || erased.has(thingIn(id)))
    return was !== 'gone' && now === 'gone' && !isTaken ? 'nobody who decides here took it away' : undefined
  }

  #isDecided(p: Player, id: string, words: string): boolean {
    const text = `${id} ${words}`
    return this.#deeds.get(p)!.saw.has(text) || this.#deciding(p).some((d) => this.#deeds.get(d)!.said.has(text))
  }

  /** Whether its author, or somebody who decides at a store, has erased a text. */
  #mayBeGone(p: Player, text: string): boolean {
    const [key, words] = text.split('/') as [string, string]
    const authors = this.players.filter((o) => super.own(o).some((replica) => keyIn(replica) === key))
    return [...authors, ...this.#deciding(p)].some((d) => {
      const { erased } = this.#deeds.get(d)!
      return erased.has(words) || erased.has(this.#words.get(words)!)
    })
  }

  /** Somebody at a store does something there. Nothing where it is refused. */
  #does(p: Player, who: Who, action: unknown): ActResult | undefined {
    p.now += 1_000
    const as = who === 'person' ? { by: 'person' as const } : { by: 'agent' as const, agent: who }
    try {
      const done = p.here(() => p.memory.act([action], { ...as, session: `${p.name} ${who}` }))
      if (done.batch !== null) this.#batches.push(done.batch)
      for (const { id } of done.results)
        if (/^(?:fact|decision):(?!purged-)/.test(id) || id === RECIPE) this.#ids.add(id)
      return done
    } catch (error) {
      if (error instanceof UserError) return undefined
      throw error
    }
  }

  wish({ by, who, verb, thing, n }: Wish): void {
    const p = this.at(by)
    const own = this.#deeds.get(p)!
    const known = [...this.#ids].filter((id) => thingIn(id) === `${thing.kind}:${thing.name}`)
    const target = known[n % Math.max(1, known.length)]
    const words = `words ${this.#words.size} of ${p.name}`
    this.#words.set(words, verb === 'define' ? RECIPE : `${thing.kind}:${thing.name}`)
    const action = this.#actionOf(p, verb, thing, n, target, words)
    if (!action) return
    const before = this.#readAll(p)
    const isLeft = (id: string) => p.memory.reader.entity(id)?.live === true
    const there = [...this.#ids].filter(isLeft)
    const bare = new Set(there.filter((id) => saysNothing(p.memory.reader.entity(id)!)))
    const done = this.#does(p, who, action)
    const after = this.#readAll(p)
    const read = (id: string) => ({ was: before.get(id) ?? 'gone', now: after.get(id) ?? 'gone' }) as const
    const changed = [...after.keys()].filter((id) => !isDeepStrictEqual(read(id).was, read(id).now))
    const fail = (why: string): never => {
      throw new Error(
        `${p.name}, ${who}, ${json(action)} ${why}: ${json(changed.map((id) => [id, read(id)]))} ${json(done)}`,
      )
    }
    if (!done) {
      if (changed.length > 0) fail('was refused, and changed something')
      return
    }
    const about = ['add', 'retype', 'define'].includes(verb) ? String(done.results[0]!.id) : (target ?? '')
    const isProposed = done.results.some((r) => r.standing === 'proposed')
    if (who !== 'person') {
      for (const id of changed) {
        const { was, now } = read(id)
        const isBinding = (was !== 'gone' && was.binds) || (now !== 'gone' && now.binds)
        if (isBinding || (own.guarded.has(id) && !bare.has(id) && !onlyAdds(was, now)))
          fail('changed what a person stands by')
      }
      const isWish = ['add', 'retire', 'supersede', 'delete', 'purge'].includes(verb) && own.guarded.has(about)
      const { was, now } = read(about)
      if (isWish && was !== 'gone' && done.batch !== null && !isProposed && !(verb === 'add' && onlyAdds(was, now)))
        fail('is no proposal')
      if (isProposed) {
        // a rule that an agent proposes is there, and waits; a reviewer's key says so too
        if (verb === 'add' && about.startsWith('fact:') && !own.stands.has(about)) {
          own.standsBy(about, who)
          own.said.add(`${about} ${words}`)
          own.took.add(about)
        }
        return
      }
    }
    if (done.batch === null) return
    const isFirst = !own.stands.has(about)
    if (verb === 'purge') own.erase(about)
    else if (verb === 'purge-text') own.erased.add(this.#wordsAt(n)!)
    else if (verb !== 'delete' && verb !== 'undo') own.standsBy(about, who)
    if (verb === 'add' || verb === 'define') own.said.add(`${about} ${words}`)
    if (isFirst) this.#sees(p, about)
    const { now } = read(about)
    if ((verb === 'add' || verb === 'define') && now !== 'gone' && now.words !== words)
      fail('does not read as it was said')
    if (['purge', 'delete', 'supersede', 'retire'].includes(verb)) own.took.add(about)
    if (!['add', 'retype', 'define'].includes(verb)) this.#decides(p, changed)
    // what is undone may read as before here, and otherwise where less has come
    if (verb === 'undo') this.#decides(p, this.#touchedBy(p, done.batch))
    // what waits for a yes is told to nobody, and can be taken away as well
    for (const id of there)
      if (!isLeft(id)) {
        own.decided.add(id)
        own.took.add(id)
      }
    if (who === 'person') for (const id of changed) own.ofPerson.add(id)
    // what was undone has left nothing that anybody could change
    if (verb === 'undo')
      for (const id of own.guarded)
        if (read(id).now === 'gone' && (changed.includes(id) || !isLeft(id))) own.guarded.delete(id)
    for (const id of changed) {
      const { now } = read(id)
      if (own.stands.has(id) && now !== 'gone' && !this.#isDecided(p, id, now.words))
        fail('shows words of nobody who decides')
    }
  }

  #touchedBy(p: Player, batch: string): string[] {
    const [replica = '', seq] = batch.split(':')
    return entitiesOf(p.memory.db, replica, Number(seq)).filter((id) => this.#ids.has(id))
  }
  #sees(p: Player, id: string): void {
    const now = this.#read(p, id)
    if (now !== 'gone') this.#deeds.get(p)!.saw.add(`${id} ${now.words}`)
  }
  /** What is read now of some things is what somebody at a store wants. */
  #decides(p: Player, ids: Iterable<string>): void {
    const own = this.#deeds.get(p)!
    for (const id of ids) {
      const now = this.#read(p, id)
      own.decided.add(id)
      if (now === 'gone') own.took.add(id)
      else own.said.add(`${id} ${now.words}`)
    }
  }

  #wordsAt = (n: number): string | undefined => [...this.#words.keys()][n % Math.max(1, this.#words.size)]

  #actionOf(p: Player, verb: Verb, { kind, name }: Thing, n: number, ref: string | undefined, words: string): unknown {
    const isFact = kind === 'fact'
    // nobody holds what takes another's place, unless they stand by it too
    const stands = [...this.#deeds.get(p)!.stands]
    const other = stands.find((id) => thingIn(id) === `${kind}:${name === 'one' ? 'two' : 'one'}`)
    const sort = isFact
      ? { category: ['tool', 'workflow'][n % 2] }
      : { visibility: ['curated', 'developmental'][n % 2] }
    const needs = (action: unknown) => (ref === undefined ? undefined : action)
    switch (verb) {
      case 'add': {
        const text = isFact ? { fact: name, context: words } : { name, rationale: words }
        return [`record-${kind}`, { ...text, ...sort, ...(n % 2 === 0 ? { anew: true } : {}) }]
      }
      case 'retype': {
        return needs([`record-${kind}`, { ref, ...sort }])
      }
      case 'retire':
        return needs(['retire', { ref, reason: 'no longer' }])
      case 'supersede':
        return other && needs(['supersede', { old: ref, new: other }])
      case 'delete':
        return needs([`delete-${kind}`, { ref }])
      case 'purge':
        return needs(['purge', { ref, reason: 'had to go' }])
      case 'purge-text':
        return ['purge', { secret: this.#wordsAt(n), reason: 'had to go' }]
      case 'restore':
        return needs(['restore', { ref }])
      case 'undo': {
        const batch = this.#batches[n % Math.max(1, this.#batches.length)]
        return batch && ['undo', { batch, ...(n % 3 === 0 ? {} : { force: true }) }]
      }
      default:
        return [
          'define-kind',
          { name: 'recipe', about: words, key: 'title', fields: { title: 'text', [`f${n % 3}`]: 'text' } },
        ]
    }
  }

  /** What the person at a store is asked about, and what they may confirm besides. */
  #asked(p: Player): string[] {
    const { db, reader } = p.memory
    const waiting = waitingChanges(db).all.map((w) => w.entity.id)
    const proposed = ['proposal', 'fact', 'relationship'].flatMap((kind) => reader.ids(kind, { standing: 'proposed' }))
    return [...new Set([...waiting, ...proposed, ...this.#ids])].sort()
  }

  answer({ by, n, isYes }: { by: number; n: number; isYes: boolean }): void {
    const p = this.at(by)
    const own = this.#deeds.get(p)!
    const all = this.#asked(p)
    const id = all[n % Math.max(1, all.length)]
    if (id === undefined) return
    const { db, reader } = p.memory
    const waiting = waitingChanges(db).all.filter((w) => w.entity.id === id)
    const isErasure = waiting.some((w) => /erase/.test(w.wants))
    const proposal = reader.entity(id)?.fields.action
    const [verb, args] =
      typeof proposal === 'string' ? (JSON.parse(proposal) as [string, { [arg: string]: string }]) : []
    // a proposal that is erased says words of its own
    const texts = verb === 'purge' && args?.ref?.startsWith('proposal:') ? this.#textsIn(p) : []
    const before = this.#readAll(p)
    const row = getRow(db, id)
    const wanted = row && entityOf(row).fields[id.startsWith('fact:') ? 'context' : 'rationale']
    const done = this.#does(p, 'person', [isYes ? 'confirm' : 'reject', { ref: id }])
    const after = this.#readAll(p)
    const changed = [...after].flatMap(([id, now]) => (isDeepStrictEqual(before.get(id) ?? 'gone', now) ? [] : [id]))
    const fail = (why: string): never => {
      const read = changed.map((id) => [id, before.get(id), after.get(id)])
      throw new Error(
        `${p.name} says ${isYes ? 'yes' : 'no'} to ${id} (${json(waiting.map((w) => w.wants))}), ${why}: ${json(read)}`,
      )
    }
    if (!done) {
      if (changed.length > 0) fail('which was refused and changed something')
      return
    }
    if (done.batch === null && changed.length === 0) return
    if (isYes) {
      if (isErasure) for (const gone of [id, ...changed.filter((id) => after.get(id) === 'gone')]) own.erase(gone)
      else if (verb === 'purge') own.erase(reader.find(args?.ref ?? '', true)[0]?.id ?? String(args?.ref))
      else if (this.#ids.has(id)) {
        own.standsBy(id, 'person')
        const now = after.get(id)!
        const was = before.get(id) ?? 'gone'
        const isShown =
          now === 'gone' || now.words === String(wanted ?? '') || (was !== 'gone' && now.words === was.words)
        if (id !== RECIPE && !isShown) fail('and reads something else')
        this.#decides(p, [id])
      }
      const left = this.#textsIn(p)
      for (const text of texts) if (!left.has(text)) own.erased.add(text.split('/')[1]!)
      for (const id of changed) own.ofPerson.add(id)
      if (verb === 'undo') {
        for (const id of changed) own.guarded.delete(id)
        // of what waits nothing is read, and it is undone all the same
        if (done.batch !== null) this.#decides(p, this.#touchedBy(p, done.batch))
      }
      this.#decides(p, changed)
      return
    }
    if (this.#ids.has(id)) own.took.add(id)
    // what its author erased is recorded again
    for (const id of changed) {
      const [was, now] = [before.get(id) ?? 'gone', after.get(id)!]
      const isAgain = [...after].some(
        ([other, n]) => thingIn(other) === thingIn(id) && n !== 'gone' && was !== 'gone' && n.words === was.words,
      )
      if (now === 'gone' && !isAgain && own.stands.has(id)) fail('and what it is about is gone')
      if (was !== 'gone' && now !== 'gone' && own.stands.has(id) && !isDeepStrictEqual(was, now)) fail('and it changes')
      if (now !== 'gone') own.standsBy(id, 'person')
      else own.stands.delete(id)
    }
    this.#decides(p, changed)
  }

  /** Lines travel: all, or some, each alone. */
  send({ from, to, which }: { from: number; to: number; which: readonly number[] }): void {
    const [a, b] = [this.at(from), this.at(to)]
    if (a === b) return
    const { snapshots, lines } = this.leaving(a, b)
    this.#comes(b, () => {
      if (which.length === 0) this.give(b, [...snapshots, ...lines])
      else if (lines.length > 0) for (const n of which) this.give(b, [lines[n % lines.length]!])
    })
  }

  compact({ by, ago }: { by: number; ago: number }): void {
    const p = this.at(by)
    for (const o of this.players) o.admitted(this) // what is folded away is known to the oracle of rows
    this.#isFolded = true
    this.#comes(p, () => p.memory.compact(p.now - ago))
  }

  again({ by, how }: { by: number; how: 'crash' | 'rebuild' }): void {
    const p = this.at(by)
    this.#comes(p, () => (how === 'crash' ? p.crash() : p.memory.rebuild()))
  }

  lease({ by, who, path, isTaken }: { by: number; who: Who; path: string; isTaken: boolean }): void {
    const p = this.at(by)
    const claims = this.#claims.get(p)!
    const session = `${p.name} ${who}`
    const done = this.#does(p, who, [isTaken ? 'claim' : 'release', { paths: [path] }])
    if (isTaken && done && !claims.has(path)) claims.set(path, session)
    if (!isTaken && claims.get(path) === session) claims.delete(path)
  }

  /** A lease ends by its holder alone. */
  checkClaims(): void {
    for (const p of this.players) {
      const held = openClaims(p.memory.db).map((c) => `${c.on} ${c.session}`)
      const noted = [...this.#claims.get(p)!].map(([path, session]) => `${path} ${session}`)
      if (!isDeepStrictEqual(held.sort(), noted.sort()))
        throw new Error(`claims at ${p.name}: ${held}, and not ${noted}`)
    }
  }

  /** Everybody has all lines, and sessions are told as rules what binds. */
  meet(): void {
    const all = (players: readonly Player[]): void => {
      const [p, ...others] = players
      if (p) this.#comes(p, () => all(others))
      else this.exchange()
    }
    all(this.players)
    for (const p of this.players) {
      const { sections } = brief(p.memory, placesOf().project, { moment: p.now })
      const told = [...(sections.find((s) => s.name === 'rules')?.ids ?? [])].sort()
      const bind = [...this.#readAll(p)].flatMap(([id, r]) => (r !== 'gone' && r.binds ? [id] : [])).sort()
      if (!isDeepStrictEqual(told, bind))
        throw new Error(`${p.name} is told ${json(told)} as rules, and not ${json(bind)}`)
    }
  }

  /** The rows are what the lines say, and the same wherever the same erasures count. */
  checkRows(): void {
    const alike = new Map<string, string>()
    for (const p of this.players) {
      this.check(p, 'at the end')
      const deciding = new Set(this.own(p).map(keyIn))
      const marks = this.marksIn(p)
        .filter(({ by, mark }) => deciding.has(keyIn(by)) || keyIn(by) === keyIn(String(mark.r)))
        .map(({ by, mark }) => json([deciding.has(keyIn(by)), mark]))
      const erasures = json([...new Set(marks)].sort())
      const rows = json(dump(p.memory))
      if ((alike.get(erasures) ?? rows) !== rows)
        throw new Error(`${p.name} has other rows:\n${rows}\n${alike.get(erasures)}`)
      alike.set(erasures, rows)
    }
  }
}

const by = fc.nat({ max: 2 })
const n = fc.nat({ max: 60 })
const who = fc.constantFrom(...WHO)
const wishes = (verbs: readonly Verb[]) =>
  fc.record({
    ...{ by, who, thing: fc.constantFrom(...THINGS), n },
    verb: fc.oneof(
      { weight: 6, arbitrary: fc.constant<Verb>('add') },
      ...verbs.map((v) => ({ weight: 1, arbitrary: fc.constant<Verb>(v) })),
    ),
  })

interface Op<T> {
  readonly weight: number
  readonly with: fc.Arbitrary<T>
  does(table: Table, step: T): void
}
const step = <T>(weight: number, given: fc.Arbitrary<T>, does: (t: Table, step: T) => void): Op<never> =>
  ({ weight, with: given, does }) as never
const op = <T>(
  weight: number,
  given: { [K in keyof T]: fc.Arbitrary<T[K]> },
  does: (t: Table, step: T) => void,
): Op<never> => step(weight, fc.record(given) as fc.Arbitrary<T>, does)

/** Everything that can happen. */
export const STEPS = {
  wish: step<Wish>(12, wishes(VERBS), (t, wish) => t.wish(wish)),
  /** Nobody erases anything. */
  mend: step<Wish>(12, wishes(VERBS.filter((v) => !v.startsWith('purge'))), (t, wish) => t.wish(wish)),
  answer: op(4, { by, n, isYes: fc.boolean() }, (t, step) => t.answer(step)),
  send: op(
    8,
    { from: by, to: by, which: fc.oneof(fc.constant<number[]>([]), fc.array(n, { minLength: 1, maxLength: 6 })) },
    (t, step) => t.send(step),
  ),
  lease: op(1, { by, who, path: fc.constantFrom('src/a', 'src/b'), isTaken: fc.boolean() }, (t, step) => t.lease(step)),
  clock: op(1, { by, ms: fc.constantFrom(1, 2, MINUTE, -MINUTE, 4 * MINUTE, -4 * MINUTE) }, (t, { by, ms }) => {
    t.at(by).now += ms
  }),
  again: op(1, { by, how: fc.constantFrom('crash' as const, 'rebuild' as const) }, (t, step) => t.again(step)),
  compact: op(1, { by, ago: fc.constantFrom(-MINUTE, 0, 1, 2 * MINUTE) }, (t, step) => t.compact(step)),
}
type StepName = keyof typeof STEPS

export interface History {
  readonly seed: number
  readonly accepts: readonly (readonly boolean[])[]
  readonly steps: readonly (readonly [StepName, never])[]
}

export const histories = (names: readonly StepName[], roles: 'writers' | 'any'): fc.Arbitrary<History> =>
  fc.record({
    seed: fc.nat({ max: 0xffffffff }),
    accepts:
      roles === 'writers'
        ? fc.constant([])
        : fc.array(fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), { minLength: 3, maxLength: 3 }),
    steps: fc.array(
      fc.oneof(
        ...names.map((name) => ({
          weight: STEPS[name].weight,
          arbitrary: STEPS[name].with.map((given) => [name, given] as const),
        })),
      ),
      { minLength: 3, maxLength: 24, size: 'max' },
    ),
  })

export function live({ seed, accepts, steps }: History): void {
  const table = new Table(seed, accepts)
  try {
    for (const [i, [name, given]] of steps.entries())
      try {
        STEPS[name].does(table, given)
        table.checkClaims()
      } catch (error) {
        throw new Error(`step ${i} (${name}): ${error instanceof Error ? error.message : error}`, { cause: error })
      }
    table.meet()
    table.checkRows()
  } finally {
    table.close()
  }
}
