/**
 * recall: finds what answers a question and packs it into a token budget. This file holds the embedder and the vectors of
 * an open memory; `answer.ts` scores and prints. `rank.ts` fuses words and vectors (`vector-index.ts`), `scope.ts`,
 * `recency.ts` and `importance.ts` weigh, `pack.ts` cuts. The models are in `embedders/`.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { UserError, unlessRefused, when } from '../../base/errors.ts'
import { keptIn } from '../../base/lookup.ts'
import type { Memory } from '../../engine/memory.ts'
import { readAsOf } from '../../engine/read/past.ts'
import type { LineName } from '../../engine/read/view.ts'
import { PROJECT_DIR, type Project } from '../../engine/store/project.ts'
import { countDue, countVectors } from '../../engine/store/vectors.ts'
import { answer } from './answer.ts'
import { DEFAULTS, type RecallConfig, type RecallSettings, recallConfig } from './config.ts'
import { storeCorpus } from './corpus.ts'
import { mayBeSent } from './embedders/consent.ts'
import type { Embedder } from './embedders/embedder.ts'
import { loadEmbedder } from './embedders/index.ts'
import { staticEmbedder } from './embedders/static.ts'
import { type Asked, resolveOptions } from './options.ts'
import { pastCorpus } from './past-corpus.ts'
import type { VectorLeg } from './rank.ts'
import { placeOfTask } from './scope.ts'
import type { RecallOptions, RecallResult } from './types.ts'
import { fill, fillNow, lacksVectors, modelOf } from './vector-fill.ts'
import { type Near, VectorIndex } from './vector-index.ts'

/** How long missing vectors are made before an answer. The rest is made later. */
const FILL_FIRST_MS = 60
/** After the answer the process makes them in steps of this length, with pauses. */
const FILL_STEP_MS = 25
const FILL_PAUSE_MS = 50
/** No answer waits longer for a model. */
const ANSWER_MS = 2_000
/** An embedder that failed is tried again after this long. */
const RETRY_MS = 60_000

/** Recall over one open memory. Keeps the vectors and the embedder for as long as the memory is open. */
export class Recaller {
  readonly #memory: Memory
  readonly #project: Project | undefined
  readonly #said: RecallSettings | undefined
  #embedder: Embedder | undefined
  #loading: Promise<Embedder | undefined> | undefined
  #index: VectorIndex | undefined
  #failed: { readonly error: UserError; readonly until: number } | undefined
  #later: NodeJS.Timeout | undefined
  #config: RecallConfig | undefined

  constructor(memory: Memory, project: Project | undefined, settings?: RecallSettings) {
    this.#memory = memory
    this.#project = project
    this.#said = settings
  }

  /** As the project and whoever opened it say; an endpoint that nobody allowed is left out. @throws UserError `bad-config`. */
  get config(): RecallConfig {
    if (this.#config) return this.#config
    const kinds = this.#memory.registry().kinds()
    const names = kinds.map((k) => k.name)
    const file = { from: `${PROJECT_DIR}/config.json: recall`, value: this.#project?.recall }
    const config = recallConfig([file, { from: 'recall', value: this.#said }], names)
    const { embedder } = config
    const isAllowed = embedder.use !== 'http' || mayBeSent(embedder, this.#project, this.#said?.embedder)
    return (this.#config = isAllowed ? config : { ...config, embedder: DEFAULTS.embedder })
  }

  /** What answers a question, best first; `without`: as if some lines had never come. @throws UserError for what cannot be asked. */
  async ask(
    question: string,
    options?: RecallOptions | null,
    without: readonly LineName[] = [],
  ): Promise<RecallResult> {
    const asked = { ...this.#asked(question, options ?? {}), without }
    const notes: string[] = []
    const until = sleep(ANSWER_MS, LATE, { ref: false })
    let embedder: Embedder | undefined
    let vector: Float32Array | undefined
    try {
      if (this.#failed && this.#memory.env.now() < this.#failed.until) throw this.#failed.error
      embedder = await inTime(this.#model(), until)
      if (embedder) vector = (await inTime(embedder.embed([question]), until))[0]
    } catch (error) {
      notes.push(`by words alone: ${toldOf(error)}`)
      this.#failed = { error: error as UserError, until: this.#memory.env.now() + RETRY_MS }
    }
    if (embedder && vector && asked.asOf === undefined && lacksVectors(this.#memory.db, embedder)) {
      const told = (error: unknown) => void notes.push(`vectors that are missing could not be made: ${toldOf(error)}`)
      await Promise.race([this.#fillFirst(embedder), until]).catch(told)
    }
    if (!this.#memory.isOpen)
      throw new UserError('closed', 'this memory was closed while it was asked', 'ask again with it open')
    const result = this.#answer(question, asked, embedder, vector, notes)
    if (embedder) this.#fillLater(embedder)
    return result
  }

  /** The same at once: with the vectors of a model that need not be waited for, else by words alone. */
  askNow(question: string, options: RecallOptions = {}): RecallResult {
    const asked = this.#asked(question, options)
    const embedder = this.#modelNow()
    return this.#answer(question, asked, embedder, embedder?.embedNow?.([question])[0], [])
  }

  /** Makes what `askNow` lacks, as `ask` does by itself: within a program's reading nothing can be written. */
  prepareNow(ms = FILL_FIRST_MS): void {
    const embedder = this.#modelNow()
    if (!embedder || !lacksVectors(this.#memory.db, embedder)) return
    // what lacks a vector is found by words
    unlessRefused(() => fillNow(this.#memory.db, embedder, this.#memory.registry(), performance.now() + ms))
  }

  #modelNow(): Embedder | undefined {
    if (!this.#embedder && this.config.embedder.use === 'static') this.#embedder = staticEmbedder()
    return this.#embedder?.embedNow ? this.#embedder : undefined
  }

  /** Makes every vector that is missing. @throws UserError where the model cannot be had. */
  async index(progress?: (left: number) => void): Promise<{ vectors: number; left: number }> {
    const embedder = await this.#model()
    if (!embedder) return { vectors: 0, left: 0 }
    const { db } = this.#memory
    const before = lacksVectors(db, embedder)
    while (!(await fill(db, embedder, () => this.#memory.registry(), Number.POSITIVE_INFINITY, progress)))
      await sleep(FILL_PAUSE_MS) // another process writes
    return { vectors: countVectors(db), left: before ? countDue(db) : 0 }
  }

  readonly [Symbol.dispose] = (): void => this.close()

  close(): void {
    clearTimeout(this.#later)
    this.#embedder?.close?.()
    this.#embedder = undefined
  }

  #asked(question: string, options: RecallOptions): Asked {
    if (typeof question !== 'string' || question.trim() === '')
      throw new UserError('no-question', 'there is nothing to recall: the question is empty', 'ask for something')
    return resolveOptions(this.config, options, { now: this.#memory.env.now(), registry: this.#memory.registry() })
  }

  #model(): Promise<Embedder | undefined> {
    this.#loading ??= loadEmbedder(this.config.embedder).then((embedder) => {
      this.#embedder = embedder
      return embedder
    })
    this.#loading.catch(() => {
      this.#loading = undefined // tried again when it is asked for again
    })
    return this.#loading
  }

  async #fillFirst(embedder: Embedder): Promise<void> {
    const until = performance.now() + FILL_FIRST_MS
    if (embedder.embedNow) return void fillNow(this.#memory.db, embedder, this.#memory.registry(), until)
    const whenClosed = when(() => !this.#memory.isOpen) // meanwhile: nobody waits for these vectors
    await fill(this.#memory.db, embedder, () => this.#memory.registry(), until).catch(whenClosed)
  }

  /** Goes on with it while the process has nothing else to do; never keeps it alive. */
  #fillLater(embedder: Embedder): void {
    if (this.#later || !this.#memory.isOpen || !lacksVectors(this.#memory.db, embedder)) return
    this.#later = setTimeout(async () => {
      try {
        if (!this.#memory.isOpen) return
        await fill(this.#memory.db, embedder, () => this.#memory.registry(), performance.now() + FILL_STEP_MS)
        this.#later = undefined
        this.#fillLater(embedder)
      } catch (error) {
        this.#later = undefined
        if (this.#memory.isOpen) toldOf(error) // the next question tries again, and says so; or it was closed meanwhile
      }
    }, FILL_PAUSE_MS)
    this.#later.unref()
  }

  #vectors(embedder: Embedder): VectorIndex {
    this.#index ??= new VectorIndex(this.#memory.db, modelOf(embedder), embedder.dimensions)
    this.#index.refresh()
    return this.#index
  }

  #answer(
    question: string,
    asked: Asked,
    embedder: Embedder | undefined,
    vector: Float32Array | undefined,
    notes: string[],
  ): RecallResult {
    const memory = this.#memory
    return memory.db.read(() => {
      const { asOf, without = [] } = asked
      const past = asOf === undefined ? undefined : readAsOf(memory.db, () => memory.registry(), asOf)
      const other = past ?? (without.length > 0 ? memory.view({ without }) : undefined)
      const reader = other ?? memory.reader
      const corpus = other ? pastCorpus(memory.db, other, question) : storeCorpus(memory.db)
      const changed = past ? [] : [...(other?.changes().values() ?? [])]
      const rowids = new Set(changed.map((c) => c.rowid))
      const vectors =
        !past && embedder && vector ? this.#leg(embedder, vector, notes, (rowid) => !rowids.has(rowid)) : undefined
      if (past && embedder) notes.push('as of a moment, texts are found by words alone')
      return answer(question, asked, {
        ...{ memory, root: this.#project?.root, reader, corpus, vectors, notes, config: this.config },
        place: asked.task !== undefined ? placeOfTask(reader, asked.task) : memory.place(asked.session),
      })
    })
  }

  #leg(
    embedder: Embedder,
    vector: Float32Array,
    notes: string[],
    isSame: (rowid: number) => boolean,
  ): VectorLeg | undefined {
    if (vector.every((x) => x === 0)) return undefined // nothing in it that the model knows
    const index = this.#vectors(embedder)
    const left = lacksVectors(this.#memory.db, embedder) ? countDue(this.#memory.db) : 0
    if (left > 0)
      notes.push(
        `${left} of ${left + index.size} texts have no vector yet and are found by words alone; they are made as time allows`,
      )
    if (index.size === 0) return undefined
    const cosines = new Map<number, number>()
    const without = new Set<number>()
    const known = (all: readonly Near[]) => {
      const near = all.filter(({ rowid }) => isSame(rowid))
      for (const { rowid, cosine } of near) cosines.set(rowid, cosine)
      return near
    }
    return {
      nearest: (limit) => known(index.near(vector, limit)).slice(0, limit),
      cosines: (keys) => {
        const fresh = keys.filter((key) => !cosines.has(key) && !without.has(key))
        if (fresh.length > 0) known(index.cosines(fresh, vector))
        for (const key of fresh) if (!cosines.has(key)) without.add(key)
        return cosines
      },
      spread: index.spread(vector, embedder),
      floor: embedder.floor,
      ceiling: embedder.ceiling,
    }
  }
}

/** What a disk, a model or an endpoint refused, for a note. @throws what is a bug. */
function toldOf(error: unknown): string {
  if (!(error instanceof UserError)) throw error
  return `${error.message}${error.hint ? ` → ${error.hint}` : ''}`
}

const LATE = Symbol('late')

/** What is awaited, if it comes in time. @throws UserError where it does not. */
async function inTime<T>(work: Promise<T>, until: Promise<typeof LATE>): Promise<T> {
  const made = await Promise.race([work, until])
  if (made !== LATE) return made
  throw new UserError('slow-embedder', `the embedder has not answered within ${ANSWER_MS / 1000} s`, 'is it running?')
}

const open = new WeakMap<Memory, Recaller>()

/** The one over a memory: made at first use. */
export const recallerOf = (memory: Memory, project: Project): Recaller =>
  keptIn(open, memory, () => new Recaller(memory, project))
