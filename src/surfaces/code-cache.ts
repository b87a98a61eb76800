const RAN = Symbol.for('tidemark.ran')

/**
 * Says what kind of work this process does. At its end bin/tidemark.js keeps V8's code of it for later processes, once for
 * each kind; a loader that does not ask hears nothing. Names must be few: all of them are remembered.
 */
export function ran(what: string): void {
  ;(globalThis as { [RAN]?: Set<string> })[RAN]?.add(what)
}
