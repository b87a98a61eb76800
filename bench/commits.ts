// Subjects and bodies of commits: what known-item search is measured on. From a git repository (TIDEMARK_REPO, this one
// unless given), or from a file of JSON lines {subject, body} (TIDEMARK_COMMITS). This file run as a script makes such a
// file out of what `git log` printed, plain or gzip. A Debian package of X.Org ships that as its changelog:
// Packages of GNU (gnulib, coreutils) ship a ChangeLog, which serves as well.
//
//   apt-get download xserver-common && dpkg-deb -x xserver-common_*.deb x
//   node bench/commits.ts x/usr/share/doc/xserver-common/changelog.gz > xserver.jsonl
//   TIDEMARK_COMMITS=xserver.jsonl node bench/run.mjs known-item
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ROOT } from './project.ts'

export interface Commit {
  readonly subject: string
  readonly body: string
}

export interface Corpus {
  readonly name: string
  readonly commits: readonly Commit[]
}

/** Shorter bodies say too little to be looked for. */
const SHORTEST = 30
const MOST = 1000

/** Lines that say who and where, not what. */
const TRAILER =
  /^(?:[A-Z][\w-]*-by|Cc|Link|Part-of|Change-Id|Co-authored-by|git-svn-id): .*$|^\(cherry picked from .*$/gim

/** The newest commits that have something to say; of equal bodies one, for the others could not be told from it. */
function worthAsking(commits: Iterable<Commit>): Commit[] {
  const seen = new Set<string>()
  const out: Commit[] = []
  for (const { subject, body } of commits) {
    const said = body.replace(TRAILER, '').trim()
    if (said.length < SHORTEST || subject.trim() === '' || seen.has(said)) continue
    seen.add(said)
    out.push({ subject: subject.trim(), body: said })
    if (out.length === MOST) break
  }
  return out
}

/** What `git log` prints, each message indented below its head; or a ChangeLog of GNU, a message below day and author. */
export function* fromLog(log: string): Generator<Commit> {
  const gnu = /^\d{4}-\d{2}-\d{2} {2}/m.exec(log.slice(0, 1000)) !== null
  for (const entry of log.split(gnu ? /^\d{4}-\d{2}-\d{2} {2}.*$/m : /^commit [0-9a-f]{7,40}\b.*$/m)) {
    const lines = [...entry.matchAll(gnu ? /^\t(.*)$|^$/gm : /^ {4}(.*)$/gm)].map((m) => (m[1] ?? '').trimEnd())
    const message = lines.join('\n').trim()
    const at = gnu ? message.indexOf('\n') : message.search(/\n\s*\n/)
    if (at > 0) yield { subject: message.slice(0, at).replace(/\n/g, ' '), body: message.slice(at) }
  }
}

function fromRepository(dir: string): Commit[] {
  const log = execFileSync('git', ['-C', dir, 'log', '--no-merges', '--format=%x1e%s%x1f%b'], {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  return log.split('\x1e').flatMap((entry) => {
    const [subject, body] = entry.split('\x1f')
    return subject !== undefined && body !== undefined ? [{ subject, body }] : []
  })
}

const linesOf = (file: string): Commit[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Commit)

/** The commits to measure on, as the environment says. */
export function corpus(): Corpus {
  const { TIDEMARK_COMMITS: file, TIDEMARK_REPO: dir = ROOT } = process.env
  const found = file ? { name: basename(file), all: linesOf(file) } : { name: basename(dir), all: fromRepository(dir) }
  const commits = worthAsking(found.all)
  if (commits.length === 0) throw new Error(`no commit of ${found.name} has a body of ${SHORTEST} characters`)
  return { name: found.name, commits }
}

if (process.argv[1] === import.meta.filename) {
  const bytes = readFileSync(process.argv[2]!)
  const log = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('utf8')
  for (const commit of worthAsking(fromLog(log))) console.log(JSON.stringify(commit))
}
