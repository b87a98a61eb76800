import type { Author } from '../../engine/store/line.ts'
import type { ClaimRow, SessionRow } from '../../engine/store/presence.ts'
import { ago } from '../../model/times.ts'
import { factsOf } from './clients.ts'

/** An id that a client made up: it tells a reader nothing. */
const MADE_UP = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-|ses_)/i
const TITLE_MAX = 60

/** The first line of a request in short, as the name of a session; none for a command of the client. */
export function titleOf(request: string): string | undefined {
  const line = request.slice(0, 2_000).trim().split('\n')[0]!.trim()
  if (line === '' || line.startsWith('/') || line.startsWith('<')) return undefined
  if (line.length <= TITLE_MAX) return line
  const cut = line.slice(0, TITLE_MAX - 1).toWellFormed()
  return `${cut.lastIndexOf(' ') > TITLE_MAX / 2 ? cut.slice(0, cut.lastIndexOf(' ')) : cut}…`
}

type Named = Pick<SessionRow, 'id' | 'client' | 'agent' | 'role' | 'user' | 'parent' | 'seen' | 'data'>

/** What a session is called, without who and when: `Claude "add a discount field"`. */
export function titleOfSession(s: Named): string {
  const client = s.client === undefined ? 'session' : (factsOf(s.client)?.label ?? s.client)
  const said = typeof s.data.title === 'string' ? ` "${s.data.title}"` : ''
  if (!MADE_UP.test(s.id)) return `${s.id}${said}`
  if (s.parent !== undefined) return `${client} subagent ${s.id.split('/').at(-1)!.slice(0, 8)}`
  return `${client}${said || ` ${s.id.slice(0, 8)}`}`
}

/** A session for a reader: `Claude "add a discount field" (Ana, 1 min ago)`. */
export function nameOfSession(s: Named, now?: number, more: readonly (string | undefined)[] = []): string {
  const client = MADE_UP.test(s.id) ? undefined : s.client
  const seen = now === undefined ? undefined : ago(s.seen, now)
  const role = s.role !== undefined && s.id.startsWith(s.role) ? undefined : s.role
  const about = [role, s.agent ?? client, s.user, ...more, seen].filter((a) => a !== undefined)
  return `${titleOfSession(s)}${about.length > 0 ? ` (${about.join(', ')})` : ''}`
}

/** The same where somebody may want to name it in turn: a made-up id with its beginning. */
export const namedWithId = (s: Named): string =>
  titleOfSession(s).startsWith(s.id) ? nameOfSession(s) : `${nameOfSession(s)} ${s.id.slice(0, 8)}`

/** Who wrote something: `ana, Claude "add a discount field"`. `row` is the session's, where it is known here. */
export function nameOfAuthor({ user, agent, session }: Author, row: Named | undefined): string {
  const client = agent === undefined || agent === 'cli' ? undefined : (factsOf(agent)?.label ?? agent)
  const made = session !== undefined && MADE_UP.test(session)
  const of = row ? titleOfSession(row) : made ? `${client ?? 'session'} ${session.slice(0, 8)}` : (session ?? client)
  const by = client !== undefined && of?.startsWith(client) === false ? `${client} in ${of}` : of
  return [user, by].filter(Boolean).join(', ')
}

/** Where a claim of another work tree holds; nobody waits for it. */
export const elsewhere = ({ root }: Pick<ClaimRow, 'root'>, holder: Pick<SessionRow, 'branch'> | undefined): string =>
  `in another work tree (${root}${holder?.branch === undefined ? '' : `, branch ${holder.branch}`}): the two will meet at merge`
