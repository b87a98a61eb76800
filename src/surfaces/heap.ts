import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

/** A first answer takes far less; by then all is compiled that a start needs. */
const STARTED_MS = 300

/** V8 collects garbage early, and its young space does not grow: docs/benchmarks.md has what that saves and costs. */
const FLAGS = ['--optimize-for-size', '--semi-space-growth-factor=1', '--heap-growing-percent=20']

/**
 * For a process that lives as long as its client, of which each agent has one: its heap is kept small from soon after
 * its start. The code that was compiled until then is kept first, as V8 takes none that was kept under other flags.
 */
export function keepHeapSmall(): void {
  setTimeout(() => {
    flushCompileCache()
    for (const flag of FLAGS) setFlagsFromString(flag)
  }, STARTED_MS).unref()
}
