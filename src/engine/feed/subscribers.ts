import type { Env } from '../../base/env.ts'
import { attempt } from '../../base/errors.ts'
import type { Db } from '../store/db.ts'
import { watchCommits } from '../store/doorbell.ts'
import { lastArrival } from '../store/log.ts'
import { type News, newsSince } from './news.ts'

const PAGE = 1000

export interface SubscribeOptions {
  /** The cursor to start after; from now on unless given. */
  since?: number
  /** Called with what a subscriber throws; else it goes to the log. */
  onError?: (error: unknown) => void
  /** Called where something came of which no batch tells: a folded state. */
  onFolded?: () => void
}

export class Subscribers {
  readonly #db: Db
  readonly #log: Env['log']
  readonly #all = new Set<() => void>()
  #stopWatching: (() => void) | undefined

  constructor(db: Db, log: Env['log']) {
    this.#db = db
    this.#log = log
  }

  add(onNews: (news: News) => void, { since, onError, onFolded = () => {} }: SubscribeOptions): () => void {
    const log = (error: unknown) =>
      this.#log(`tidemark: a subscriber failed: ${error instanceof Error ? error.stack : String(error)}`)
    const tell = (error: unknown) => attempt(() => (onError ?? log)(error), log)
    const telling = (part: () => void) => attempt(part, tell)
    let cursor = since ?? lastArrival(this.#db)
    let delivering = false
    let more = false
    const deliver = () => {
      more = true
      if (delivering) return // a subscriber that writes hears of it after this page
      delivering = true
      telling(() => {
        while (more && this.#all.has(deliver)) {
          const last = lastArrival(this.#db)
          const page = newsSince(this.#db, cursor, PAGE)
          more = page.length === PAGE
          for (const news of page) {
            if (!this.#all.has(deliver)) return
            if (news.seq > cursor + 1) telling(onFolded)
            cursor = news.seq
            telling(() => onNews(news))
          }
          if (more || cursor >= last) continue
          cursor = last
          attempt(onFolded)
        }
      })
      delivering = false
    }
    this.#all.add(deliver)
    this.#stopWatching ??= watchCommits(this.#db, () => this.notify())
    deliver()
    return () => {
      this.#all.delete(deliver)
      if (this.#all.size === 0) this.close()
    }
  }

  notify(): void {
    for (const deliver of this.#all) deliver()
  }

  close(): void {
    this.#all.clear()
    this.#stopWatching?.()
    this.#stopWatching = undefined
  }
}
