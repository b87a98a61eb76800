import { join } from 'node:path'
import { systemEnv } from '../../../base/env.ts'
import { UsageError, UserError } from '../../../base/errors.ts'
import { stateDirectory } from '../../../engine/store/user-state.ts'
import type { Json } from '../../../model/field.ts'
import { isProjectId } from '../../../model/names.ts'
import { DAY_MS, localMinute } from '../../../model/times.ts'
import type { Role } from '../../../travel/hub/access-tokens.ts'
import { LIMITS, type Limits, storedByMember } from '../../../travel/hub/quotas.ts'
import type { HubStore } from '../../../travel/hub/store.ts'
import { keyOf, replicaOfKey } from '../../../travel/sync/hub-protocol.ts'
import { refuseAgents } from '../ask.ts'
import type { Command, CommandCall } from '../command.ts'

/** Where the hub keeps what it has: a file, or the address of a PostgreSQL. */
function placeOf({ flags }: CommandCall): string {
  const place = String(flags.store ?? process.env.TIDEMARK_HUB_STORE ?? join(stateDirectory(), 'hub.db'))
  if (flags.store !== undefined && URL.canParse(place) && new URL(place).password !== '')
    throw new UsageError(
      '--store: every user of this machine can read the arguments of a process, and the password with them',
      'put the address into TIDEMARK_HUB_STORE',
    )
  return place
}

async function openStore(call: CommandCall): Promise<HubStore> {
  const place = placeOf(call)
  if (/^postgres(ql)?:/.test(place)) {
    const { openPostgresStore } = await import('../../../travel/hub/postgres.ts')
    return openPostgresStore(place, { ...systemEnv, log: call.err }, { listen: call.place[0] === undefined })
  }
  return (await import('../../../travel/hub/sqlite.ts')).openSqliteStore(place)
}

const MB = 1024 * 1024

function limitsOf({ flags }: CommandCall): Limits {
  const bytes = (flag: string, otherwise: number): number => {
    const mb = flags[flag] === undefined ? otherwise / MB : Number(flags[flag])
    if (!(mb > 0)) throw new UsageError(`--${flag} takes a number above 0`)
    return mb * MB
  }
  return {
    member: bytes('member-mb', LIMITS.member),
    project: bytes('project-mb', LIMITS.project),
    hour: bytes('hour-mb', LIMITS.hour),
  }
}

/** Shows what each member has stored, or takes a replica out. */
async function space(call: CommandCall, store: HubStore): Promise<Json> {
  const [step, project = '', replica = ''] = call.place
  if (step === 'usage') {
    const all = await storedByMember(store)
    for (const u of all) call.out(`${u.project}  ${u.member}  ${(u.stored / MB).toFixed(1)} MB`)
    if (all.length === 0) call.out('nobody has pushed anything')
    return { usage: all }
  }
  refuseAgents(call.directory)
  if (!isProjectId(project) || replicaOfKey(keyOf(replica, 1)) === undefined)
    throw new UsageError('`tidemark hub drop` takes a project id and a replica', 'doctor of a member names both')
  const again = call.flags.again === true
  const { HubLog } = await import('../../../travel/hub/log.ts')
  const updates = await new HubLog(store, systemEnv).drop(project, replica, again)
  call.out(again ? `${replica} may push again` : `${updates} updates of ${replica} taken out; it may push no more`)
  if (!again) call.out('members keep what they have; a running hub knows it at once')
  return { project, replica, updates, again }
}

async function start(call: CommandCall): Promise<undefined> {
  const { port = 4750, host = '127.0.0.1' } = call.flags
  const { Hub } = await import('../../../travel/hub/hub.ts')
  const store = await openStore(call)
  const hub = new Hub({
    store,
    env: { ...systemEnv, log: call.err },
    host: String(host),
    port: Number(port),
    behindProxy: call.flags['behind-proxy'] === true,
    limits: limitsOf(call),
  })
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void hub.close().then(resolve))
  try {
    const bound = await hub.start()
    call.out(`tidemark hub listens on http://${String(host).includes(':') ? `[${host}]` : host}:${bound.port}`)
  } catch (error) {
    await store.close()
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new UserError('cannot-listen', `cannot listen on ${host}:${port} (${code})`, 'give another --port')
  }
  await ended
  return undefined
}

async function tokens(call: CommandCall, store: HubStore): Promise<Json> {
  const [, step, ...rest] = call.place
  const { addToken, isLive, listTokens, revokeToken } = await import('../../../travel/hub/access-tokens.ts')
  const now = systemEnv.now()
  if (step === 'add') {
    refuseAgents(call.directory)
    const [member = '', ...projects] = rest
    const days = Number(call.flags.days ?? 365)
    if (!(days > 0)) throw new UsageError('--days takes a number above 0')
    const role = String(call.flags.role ?? 'writer') as Role
    const expires = now + days * DAY_MS
    const { token, id } = await addToken(store, systemEnv, { member, projects, role, expires })
    call.out(`token ${token}`)
    call.out(`id ${id}: ${member}, ${role} in ${projects.join(' ')}, until ${localMinute(expires)}`)
    call.out(`the token is shown this once; ${member} runs: tidemark join URL TOKEN`)
    return { id, token, member, role, projects: [...projects], expires }
  }
  if (step === 'list') {
    const all = await listTokens(store)
    for (const t of all) {
      const state = t.revoked !== null ? 'revoked' : isLive(t, now) ? t.role : 'expired'
      const until = t.expires === null ? '' : `, until ${localMinute(t.expires)}`
      call.out(`${t.id}  ${t.member}  ${state}  ${t.projects}${until}`)
    }
    if (all.length === 0) call.out('no tokens; `tidemark hub token add MEMBER PROJECT` makes one')
    return { tokens: all.map((t) => ({ ...t })) }
  }
  if (step === 'revoke') {
    refuseAgents(call.directory)
    const { id, member } = await revokeToken(store, systemEnv, rest[0] ?? '')
    call.out(`revoked ${id} of ${member}`)
    return { revoked: id }
  }
  throw new UsageError(`there is no \`tidemark hub token ${step ?? ''}\``, 'it takes add, list and revoke')
}

export const hub: Command = {
  name: 'hub',
  about:
    'serves a team: stores what its members record and passes it on; `hub token` says who may, `hub usage` what they fill, `hub drop` takes a replica out',
  usage: '[token add MEMBER PROJECT… | token list | token revoke ID | usage | drop PROJECT REPLICA]',
  example: 'tidemark hub --port 4750',
  flags: {
    port: { type: 'number', about: 'the port (4750; 0: any free one, which is printed)' },
    host: { type: 'text', about: 'the address to listen on (127.0.0.1)' },
    store: {
      type: 'text',
      value: 'FILE|URL',
      about: 'an SQLite file, or postgres://HOST/DATABASE (default: $TIDEMARK_HUB_STORE, else hub.db in your state)',
    },
    'behind-proxy': { type: 'flag', about: 'take the address of callers from X-Forwarded-For, for limits' },
    'member-mb': { type: 'number', value: 'MB', about: 'what it keeps of one member in a project (1024)' },
    'project-mb': { type: 'number', value: 'MB', about: 'what it keeps of a project (8192)' },
    'hour-mb': { type: 'number', value: 'MB', about: 'what it takes of one member within an hour (256)' },
    again: { type: 'flag', about: 'drop: take the replica in again' },
    role: { type: 'text', value: 'ROLE', about: 'of a new token: reader, writer or admin (writer)' },
    days: { type: 'number', value: 'N', about: 'how long a new token holds (365)' },
  },
  async run(call) {
    const [step] = call.place
    if (step === undefined) return start(call)
    if (!['token', 'usage', 'drop'].includes(step))
      throw new UsageError(
        `there is no \`tidemark hub ${step}\``,
        '`tidemark hub` starts it; `hub token`, `hub usage` and `hub drop` are the others',
      )
    const store = await openStore(call)
    try {
      return { json: await (step === 'token' ? tokens : space)(call, store) }
    } finally {
      await store.close()
    }
  },
}
