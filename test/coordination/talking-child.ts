import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export interface TalkingChild<Said> {
  readonly process: ChildProcess
  readonly said: Said[]
  readonly ended: Promise<unknown>
  errors(): string
  /** Waits until it has said so many things, or is gone. */
  until(count: number): Promise<void>
}

/** A process that says JSON, a value a line. */
export function talking<Said>(child: ChildProcess): TalkingChild<Said> {
  const said: Said[] = []
  let [rest, err, gone] = ['', '', false]
  let told = () => {}
  child.stdout!.setEncoding('utf8').on('data', (d: string) => {
    const lines = (rest + d).split('\n')
    rest = lines.pop()!
    said.push(...lines.map((l) => JSON.parse(l) as Said))
    told()
  })
  child.stderr!.setEncoding('utf8').on('data', (d: string) => (err += d))
  const ended = once(child, 'close').then(() => {
    gone = true
    told()
  })
  return {
    process: child,
    said,
    ended,
    errors: () => err.replace(/.*ExperimentalWarning.*\n|.*--trace-warnings.*\n/g, ''),
    async until(count) {
      while (said.length < count && !gone) await new Promise<void>((resolve) => (told = resolve))
    },
  }
}
