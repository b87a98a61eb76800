import type { MessagePort, Worker } from 'node:worker_threads'
import { keepPrepared } from '../materialize/apply.ts'
import { type Line, lineOfHead, unsigned } from '../store/line.ts'
import type { Checked } from './read-ahead-worker.ts'

// loaded only for a large first sync
const threads = () => process.getBuiltinModule('node:worker_threads')

/** For fewer lines a worker thread costs more than it saves. */
export const isMuch = (lines: number): boolean => lines >= 2_000

/** A worker that is silent for so long is given up. */
const ANSWER_MS = 5_000

/**
 * Parses, checks and prepares lines on a worker thread while the main thread writes earlier ones. The caller reads every line
 * that the worker left out, for any reason, so only the duration depends on it.
 */
export class ReadAhead {
  readonly #worker: Worker
  readonly #port: MessagePort
  /** The number of texts of each `give`. */
  readonly #given: number[] = []
  /** Counts the worker's answers; each wakes whoever waits. */
  readonly #answers = new Int32Array(new SharedArrayBuffer(4))
  #isGone = false

  constructor() {
    const { MessageChannel, Worker } = threads()
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    const file = import.meta.url.endsWith('.ts') ? './read-ahead-worker.ts' : './read-ahead-worker.js'
    this.#worker = new Worker(new URL(file, import.meta.url), {
      execArgv: [],
      workerData: { port: port2, answers: this.#answers },
      transferList: [port2],
    })
    this.#worker.on('error', () => (this.#isGone = true))
    this.#worker.unref()
  }

  give(texts: readonly string[]): void {
    this.#given.push(texts.length)
    this.#port.postMessage(texts)
  }

  /** The lines of the oldest texts given; undefined for a line that the worker left out. Waits for the worker. */
  take(): (Line | undefined)[] {
    const size = this.#given.shift() ?? 0
    const lines: (Line | undefined)[] = []
    while (lines.length < size && !this.#isGone) {
      const count = Atomics.load(this.#answers, 0)
      const answer = threads().receiveMessageOnPort(this.#port) as { message: (Checked | undefined)[] } | undefined
      if (answer) for (const checked of answer.message) lines.push(checked && lineOf(checked))
      else this.#isGone = Atomics.wait(this.#answers, 0, count, ANSWER_MS) === 'timed-out'
    }
    return lines
  }

  close(): void {
    this.#port.close()
    void this.#worker.terminate()
  }
}

function lineOf({ head, text, signed, prepared }: Checked): Line {
  const line = lineOfHead(head, text, signed)
  keepPrepared(unsigned(line), prepared)
  return line
}
