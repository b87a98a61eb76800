import { attempt, UserError, when } from '../../base/errors.ts'
import { type Line, parseLine } from '../../engine/store/line.ts'
import type { Joined } from '../../engine/store/user-state.ts'
import { HubLink } from './hub-link.ts'

/** Every line of a project that a hub has and that can be read. Nothing is taken in. @throws UserError where the hub cannot be reached */
export async function linesOfHub(joined: Pick<Joined, 'url' | 'token'>, project: string): Promise<Line[]> {
  const lines: Line[] = []
  const end = Promise.withResolvers<void>()
  end.promise.catch(() => {}) // whoever waits for it hears of it
  let head = Number.POSITIVE_INFINITY
  let got = 0
  using link = new HubLink(joined, project, {
    frame({ head: said, updates }) {
      if (said.t !== 'updates') return
      for (const text of updates) lines.push(...(attempt(() => [parseLine(text)], when(isNoLine)) ?? []))
      got = Number(said.last)
      if (got >= head) end.resolve()
    },
    gone: (error) => end.reject(error),
  })
  head = Number((await link.hello(0, undefined)).head) || 0
  if (got < head) await end.promise
  return lines
}

/** A folded state, what was erased, and what is damaged are no lines that can be read. */
const isNoLine = (error: unknown) => error instanceof UserError || error instanceof RangeError
