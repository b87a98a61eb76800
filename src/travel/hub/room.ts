import type { HubLog, Kept, Page } from './log.ts'

/** Who follows a project at this process. */
export interface Follower {
  /** The log has grown: send what is missing. */
  wake(): void
  /** Sends something that is not in the log. */
  relay(frame: string): void
  readonly id: string
}

/** So much of the log's end is kept at hand, for all who follow. */
const TAIL_UPDATES = 1000
const TAIL_BYTES = 2 * 1024 * 1024
/** What one frame takes of it. */
const MOST_AT_ONCE = 100

/** One project at this process: who follows it, and the end of its log, which is read once for all of them. */
export class Room {
  readonly project: string
  readonly followers = new Set<Follower>()
  readonly #log: HubLog
  readonly #failed: (error: unknown) => void
  #head: number | undefined
  /** The updates after `#start`, up to `end`. */
  #tail: Kept[] = []
  #start = 0
  #bytes = 0
  #loading = false
  /** Up to where there is something to send. */
  end = 0

  constructor(project: string, log: HubLog, failed: (error: unknown) => void) {
    this.project = project
    this.#log = log
    this.#failed = failed
  }

  rise(head: number): void {
    if (this.#head === undefined) this.#start = this.end = head // those who are behind read the database
    this.#head = Math.max(this.#head ?? 0, head)
    if (this.end < this.#head && !this.#loading) void this.#load()
  }

  async #load(): Promise<void> {
    this.#loading = true
    try {
      while (this.end < this.#head!) {
        const { last, items } = await this.#log.page(this.project, this.end)
        if (last === this.end) break // it was told before it can be read: whoever looks next reads it
        this.#tail.push(...items)
        this.#bytes += items.reduce((n, i) => n + (i.body?.length ?? 0), 0)
        this.end = last
        this.#trim(TAIL_UPDATES, TAIL_BYTES)
        for (const follower of this.followers) follower.wake()
      }
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#loading = false
    }
  }

  #trim(updates: number, bytes: number): void {
    let drop = 0
    while (this.#tail.length - drop > updates || (this.#bytes > bytes && drop < this.#tail.length))
      this.#bytes -= this.#tail[drop++]!.body?.length ?? 0
    this.#tail.splice(0, drop)
    this.#start += drop
  }

  async page(after: number): Promise<Page> {
    if (after < this.#start) return this.#log.page(this.project, after)
    const items = this.#tail.slice(after - this.#start, after - this.#start + MOST_AT_ONCE)
    return { after, last: items.at(-1)?.n ?? after, items }
  }

  /** Frees what everybody has. */
  rest(): void {
    if (!this.#loading) this.#trim(0, 0)
  }
}
