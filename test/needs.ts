import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, test } from 'vitest'

/** What the machine lacks for a test, in words; false or undefined where it lacks nothing. */
type Lack = string | false | undefined

/** `test`, or a skipped one that names the reason: scripts/test.mjs lists the reasons at the end of a run. */
export const testUnless = (lack: Lack): typeof test =>
  lack ? (((name: string, ...rest: []) => test.skip(`${name} (skipped: ${lack})`, ...rest)) as typeof test) : test

/** The same for a group of tests. */
export const describeUnless = (lack: Lack): typeof describe =>
  lack
    ? (((name: string, ...rest: []) => describe.skip(`${name} (skipped: ${lack})`, ...rest)) as typeof describe)
    : describe

const isRoot = process.getuid?.() === 0
export const NOT_ROOT: Lack = !isRoot && 'needs root, to make files of another user'
export const ROOT: Lack = isRoot && 'root may write everywhere'
export const NO_TERMINAL: Lack = !existsSync('/usr/bin/script') && 'no script(1) here makes a pseudo-terminal'
export const NO_PIPES: Lack = process.platform === 'win32' && 'no named pipes here'

/** Why no small file system can be made here, for a disk that is full soon. */
export const noMount = (): Lack =>
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', tmpdir()]).status !== 0 &&
  'no right to mount a small file system'
