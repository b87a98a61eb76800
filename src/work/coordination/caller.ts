import { isLive } from '../../engine/claims/lease.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Actor } from '../../engine/write/plan.ts'
import { slug } from '../../model/names.ts'
import { nearestAbove, processAlias, sameProcess } from './client-process.ts'
import { ALL_FACTS, factsOf } from './clients.ts'
import type { Said } from './session-info.ts'
import { type Sessions, sessionsOf } from './sessions.ts'

/** Where clients tell what they start which session it belongs to. */
const VARIABLES = ['TIDEMARK_SESSION', ...ALL_FACTS.flatMap((f) => f.sessionVariable ?? [])]

/** What clients leave in the environment of their agents' programs; several others agree on `AGENT` and `AI_AGENT`. */
const AGENT_VARIABLES = [
  ...VARIABLES.slice(1),
  ...ALL_FACTS.flatMap((f) => f.agentVariables),
  ...['AI_AGENT', 'AGENT', 'TIDEMARK_AGENT'],
]

/** What the command line calls itself where no agent is named. */
export const COMMAND_LINE = 'cli'

/** Who writes on the command line: the client whose agent's session it is, by the name that its server has too. */
export function clientOf(memory: Memory, session: string | undefined): string {
  const { client = COMMAND_LINE } = (session && sessionsOf(memory).get(session)) || {}
  return typist(memory) === 'person' ? COMMAND_LINE : (factsOf(client)?.mcpName ?? client)
}

/** The variable by which a client says in the environment that its agent runs this. */
export const markOfAgent = (but: readonly string[] = []): string | undefined =>
  AGENT_VARIABLES.find((name) => !but.includes(name) && !['', '0', 'false'].includes(process.env[name] ?? ''))

/** Whether somebody can read and answer at the other end. */
export const isTerminal = (): boolean => Boolean(process.stdin.isTTY && process.stdout.isTTY)

/** A client is above this process, as its hooks have told: its agent may have started it, whatever the environment says. */
export const isBelowClient = (memory: Memory): boolean =>
  sessionsOf(memory).ofClient(({ client = COMMAND_LINE }) => client !== COMMAND_LINE) !== undefined

/** Whether an agent may have started this process. */
export function isOfClient(memory: Memory): boolean {
  if (markOfAgent() !== undefined) return true
  const named = process.env.TIDEMARK_SESSION
  const sessions = sessionsOf(memory)
  const { client = COMMAND_LINE } = (named && sessions.get(sessions.resolve(named))) || {}
  return client !== COMMAND_LINE || isBelowClient(memory)
}

/** Who types this command line: a person sits at a terminal with no client above. Pipes and scripts give no yes. */
export const typist = (memory: Memory): Actor => (isTerminal() && !isOfClient(memory) ? 'person' : 'agent')

/** What a call tells of the session that it belongs to. */
export interface CallOrigin {
  named?: string | undefined
  /** The client's id of the call, which a hook may have announced. */
  call?: string | undefined
  /** The caller is another process: our environment and parent processes say nothing of it. */
  elsewhere?: boolean
  /** An MCP client that started this process, by what it calls itself. */
  speaks?: string | undefined
}

const isSame = (client: string, speaks: string): boolean => {
  const name = factsOf(client)?.mcpName
  return name === undefined ? speaks.toLowerCase().includes(client) : speaks === name
}

/** The client's session, named in the environment or found by its process. Inherited variables do not count. */
function ofClient(sessions: Sessions, speaks: string): string | undefined {
  const above = nearestAbove()
  /** Of a client that lives elsewhere: our own has it from a shell that is another's. */
  const isInherited = (id: string): boolean => {
    const { process, client = COMMAND_LINE } = sessions.get(id) ?? {}
    if (process === undefined || above === undefined || client === COMMAND_LINE) return false
    return !sameProcess(process, above) && sessions.ofAlias(processAlias(process)) === id
  }
  for (const variable of VARIABLES) {
    const given = process.env[variable]
    if (!given) continue
    const id = sessions.resolve(given)
    const client = variable.split('_')[0]!.toLowerCase()
    if (variable === 'TIDEMARK_SESSION' ? !isInherited(id) : isSame(client, speaks)) return id
  }
  return sessions.ofClient(({ client }, pid) => pid === above?.pid || (client !== undefined && isSame(client, speaks)))
}

/** The acting session (X7), in order: named, announced by the call, named in the environment, found by a parent process. */
export function actingSession(
  memory: Memory,
  { named, call, elsewhere = false, speaks }: CallOrigin,
): string | undefined {
  const sessions = sessionsOf(memory)
  const said = named || (call === undefined ? undefined : sessions.ofAlias(`tool:${call}`))
  if (said) return sessions.resolve(said)
  if (elsewhere) return undefined
  if (speaks !== undefined) return ofClient(sessions, speaks)
  const given = VARIABLES.map((name) => process.env[name]).find((value) => value !== undefined && value !== '')
  return given === undefined ? sessions.ofProcess() : sessions.resolve(given)
}

/** The session of a person who names none: it is there from the first call on that needs one (`make`). */
export function ownSession(memory: Memory, user: string, root: string, make: boolean): string | undefined {
  const sessions = sessionsOf(memory)
  const id = sessions.resolve(slug(user))
  const known = sessions.get(id)
  if (!make && !(known && isLive(known.state))) return undefined
  sessions.heartbeat(id, { client: COMMAND_LINE, root })
  if (known && known.root !== root) sessions.moved(id, root)
  return id
}

/** The session that acts, seen alive. */
export function actAs(memory: Memory, origin: CallOrigin, said: Said = {}): string | undefined {
  const session = actingSession(memory, origin)
  if (session !== undefined) sessionsOf(memory).heartbeat(session, said)
  return session
}
