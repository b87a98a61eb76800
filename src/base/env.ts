import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { attempt } from './errors.ts'
import { randomBytes } from './random.ts'

/** What the outside world gives: time, chance and a place for diagnostics. Passed in, so that tests can move the clock. */
export interface Env {
  /** Wall clock, milliseconds since the Unix epoch. */
  now(): number
  /** `n` random bytes. */
  random(n: number): Uint8Array
  /** One line of diagnostics for a human; never protocol output. */
  log(line: string): void
  /** How long this machine has run, in ms; no change of the wall clock touches it. `boot` names the start. */
  sinceBoot?(): { boot: string; ms: number } | undefined
  /** Whether a process is there; asked of the system unless given. */
  isRunning?(process: ProcessRef): boolean | undefined
}

/** One process, for ever: a process id alone comes round again. */
export interface ProcessRef {
  readonly pid: number
  /** When it started, as the system counts; empty where that cannot be told. */
  readonly born: string
  /** Where its id means something: the machine and the namespace of process ids. */
  readonly host: string
}

/** Milliseconds since this process started. The global `performance` takes a hook 2 ms to load. */
export const sinceStart = (): number => process.uptime() * 1000

let here: string | undefined

/** The machine and the namespace of process ids that this process lives in. */
export function thisHost(): string {
  if (here !== undefined) return here
  const namespace = attempt(() => readlinkSync('/proc/self/ns/pid')) ?? '' // no such thing on this system
  return (here = `${hostname()} ${namespace}`.trim())
}

/** A process's state, its parent and when it started, as the system tells (proc_pid_stat(5)); nothing where it does not. */
export function processStat(pid: number): { state: string; parent: number; born: string; name: string } | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (stat === undefined) return undefined
  const close = stat.lastIndexOf(')') // the name in parentheses may hold anything
  const rest = stat.slice(close + 2).split(' ')
  return { state: rest[0]!, parent: Number(rest[1]), born: rest[19]!, name: stat.slice(stat.indexOf('(') + 1, close) }
}

export const processRef = (pid: number): ProcessRef => ({ pid, born: processStat(pid)?.born ?? '', host: thisHost() })

/** Whether it is still there; nothing where that cannot be told from here. */
export function isRunning(process: ProcessRef): boolean | undefined {
  if (process.host !== thisHost()) return undefined
  if (!Number.isInteger(process.pid) || process.pid <= 0) return false // to the system 0 and below mean whole groups of processes, which always are there
  const stat = processStat(process.pid) // first: who is gone by the next look has not lived
  if (stat?.state === 'Z' || stat?.state === 'X') return false // dead, and nobody has looked yet
  try {
    globalThis.process.kill(process.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return stat === undefined || process.born === '' || stat.born === process.born
}

let boot: string | undefined
/** What the system was asked last, and when: each time costs .1 ms, and a hook asks twenty times. */
let asked = { at: -1e9, ms: 0 }

function sinceBoot(): { boot: string; ms: number } | undefined {
  // no such thing on other systems
  boot ??= attempt(() => `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${thisHost()}`) ?? ''
  if (boot === '') return undefined
  const at = sinceStart() // stands still while the machine sleeps
  if (at - asked.at > 100) asked = { at, ms: uptime() * 1000 }
  return { boot, ms: asked.ms + at - asked.at }
}

export const systemEnv: Env = {
  sinceBoot,
  now: () => Date.now(),
  random: (n) => randomBytes(n),
  log: (line) => void process.stderr.write(line + '\n'),
}
