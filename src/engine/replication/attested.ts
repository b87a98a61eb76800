import { isKeyed, unsigned } from '../store/keys.ts'
import { follows, type Line, withoutSignature } from '../store/line.ts'

/** Lines that nobody can have made up: signed by their replica, or with a hash in `hashes` or in such a line that follows. */
export const attested = (lines: readonly Line[], hashes: ReadonlySet<string>): Line[] =>
  [...Map.groupBy(lines, (l) => l.replica).values()].flatMap((own) => {
    let next: Line | undefined
    return own
      .toSorted((a, b) => b.seq - a.seq)
      .filter((line) => {
        const isKnown = (next?.from === line.seq + 1 && follows(next, line.hash)) || hashes.has(line.hash)
        if (!isKnown && !(isKeyed(line.replica) && unsigned(line) === undefined)) return false
        next = line
        return true
      })
      .reverse()
  })

/** A line that is attested need not bear a right signature; a wrong one is not passed on. */
export const signedRight = (line: Line, key = line.signature?.key): Line =>
  line.v === 1 || !isKeyed(line.replica) || unsigned(line, key) === undefined ? line : withoutSignature(line)
