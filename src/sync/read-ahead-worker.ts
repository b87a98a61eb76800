import { type MessagePort, workerData } from 'node:worker_threads'
import { type Prepared, prepare } from '../materialize/apply.ts'
import { KINDS } from '../model/kinds/index.ts'
import { createRegistry } from '../model/registry.ts'
import { RELATIONS } from '../model/relations.ts'
import { type Author, type LineHead, parseLine, printLine, unsigned } from '../store/line.ts'

/** A line that the worker has checked and prepared; a message between threads. */
export interface Checked {
  readonly head: LineHead
  readonly text: string
  readonly signed: Author | undefined
  readonly prepared: Prepared
}

/** Lines in one message: few, so that they leave memory soon. */
const AT_ONCE = 100

const registry = createRegistry(KINDS, RELATIONS)

/** Undefined for a damaged line, which the main thread reports, and for one that needs the store. */
function check(text: string): Checked | undefined {
  try {
    const read = parseLine(text)
    const line = unsigned(read)
    const what = prepare(registry, line)
    if (!what) return undefined
    const { updates: _u, events: _e, purges: _p, forks: _f, ...head } = line
    return { head, text: printLine(line), signed: read.whole ? read.author : undefined, prepared: what }
  } catch {
    return undefined
  }
}

const { port, answers } = workerData as { port: MessagePort; answers: Int32Array }
port.on('message', (texts: readonly string[]) => {
  for (let at = 0; at < texts.length; at += AT_ONCE) {
    port.postMessage(texts.slice(at, at + AT_ONCE).map(check))
    Atomics.add(answers, 0, 1)
    Atomics.notify(answers, 0)
  }
})
