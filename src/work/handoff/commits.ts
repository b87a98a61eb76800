import { attempt } from '../../base/errors.ts'
import { readEndInside } from '../../base/files.ts'
import { reflogOf } from '../../base/git.ts'

/** How many bytes of the end of a reflog are read: a few hundred entries. */
const TAIL = 128 * 1024

interface Entry {
  commit: string
  /** Seconds since the epoch. */
  at: number
  /** It brought a commit that was not there before. */
  brings: boolean
}

const BRINGS = /^(?:commit(?! \(amend\))|merge|pull|cherry-pick|revert|rebase[^:]*\((?:pick|finish)\)|am)(?![\w-])/

const entriesOf = (text: string): Entry[] =>
  text.split('\n').flatMap((line) => {
    const m = /^[0-9a-f]{1,64} ([0-9a-f]{1,64}) [^>]*> (\d{1,15}) [+-]\d{4}\t(.*)$/.exec(line)
    return m ? [{ commit: m[1]!, at: Number(m[2]), brings: BRINGS.test(m[3]!) }] : []
  })

/** Reads git's files once. Tells how many commits came in after a moment, at which it stood at `commit` if that is known. */
export function commitsOf(root: string): (ms: number, commit?: string) => number | undefined {
  // git may be at work in it, or it may not be read
  const log = attempt(() => reflogOf(root))
  const end = log && attempt(() => readEndInside(log.dir, log.path, TAIL))
  if (end === undefined) return () => undefined
  const entries = entriesOf(end.toString('utf8'))
  return (ms, commit) => {
    const second = Math.floor(ms / 1000)
    // the clock of a reflog has seconds only: of those within the one in question the commit says which came before
    const stood =
      commit === undefined ? -1 : entries.findLastIndex((e) => e.at <= second && e.commit.startsWith(commit))
    return entries.filter((e, i) => e.brings && (e.at > second || (e.at === second && stood >= 0 && i > stood))).length
  }
}
