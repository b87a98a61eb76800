import { randomBytes } from 'node:crypto'

/** What the outside world gives: time, chance and a place for diagnostics. Passed in, so that tests can move the clock. */
export interface Env {
  /** Wall clock, milliseconds since the Unix epoch. */
  now(): number
  /** `n` random bytes. */
  random(n: number): Uint8Array
  /** One line of diagnostics for a human; never protocol output. */
  log(line: string): void
}

export const systemEnv: Env = {
  now: () => Date.now(),
  random: (n) => randomBytes(n),
  log: (line) => void process.stderr.write(line + '\n'),
}
