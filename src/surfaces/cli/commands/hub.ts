import { join } from 'node:path'
import { systemEnv } from '../../../env.ts'
import { UsageError, UserError } from '../../../errors.ts'
import type { HubStore } from '../../../hub/store.ts'
import type { Role } from '../../../hub/tokens.ts'
import type { Json } from '../../../model/field.ts'
import { localMinute } from '../../../model/times.ts'
import { stateDirectory } from '../../../store/state.ts'
import { refuseAgents } from '../ask.ts'
import type { Command, CommandCall } from '../command.ts'

const DAY_MS = 24 * 3600_000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

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
    const { openPostgresStore } = await import('../../../hub/postgres.ts')
    return openPostgresStore(place, { ...systemEnv, log: call.err }, { listen: call.place[0] !== 'token' })
  }
  return (await import('../../../hub/sqlite.ts')).openSqliteStore(place)
}

async function start(call: CommandCall): Promise<undefined> {
  const { port = 4750, host = '127.0.0.1' } = call.flags
  const { Hub } = await import('../../../hub/hub.ts')
  const store = await openStore(call)
  const hub = new Hub({
    store,
    env: { ...systemEnv, log: call.err },
    host: String(host),
    port: Number(port),
    behindProxy: call.flags['behind-proxy'] === true,
  })
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const end = () => void hub.close().then(resolve)
  for (const signal of SIGNALS) process.on(signal, end)
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

async function tokens(call: CommandCall): Promise<Json> {
  const [, step, ...rest] = call.place
  const { addToken, isLive, listTokens, revokeToken } = await import('../../../hub/tokens.ts')
  const store = await openStore(call)
  const now = systemEnv.now()
  try {
    if (step === 'add') {
      refuseAgents()
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
      refuseAgents()
      const { id, member } = await revokeToken(store, systemEnv, rest[0] ?? '')
      call.out(`revoked ${id} of ${member}`)
      return { revoked: id }
    }
    throw new UsageError(`there is no \`tidemark hub token ${step ?? ''}\``, 'it takes add, list and revoke')
  } finally {
    await store.close()
  }
}

export const hub: Command = {
  name: 'hub',
  about: 'serves a team: stores what its members record and passes it on; `hub token` says who may',
  usage: '[token add MEMBER PROJECT… | token list | token revoke ID]',
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
    role: { type: 'text', value: 'ROLE', about: 'of a new token: reader, writer or admin (writer)' },
    days: { type: 'number', value: 'N', about: 'how long a new token holds (365)' },
  },
  async run(call) {
    if (call.place[0] === 'token') return { json: await tokens(call) }
    if (call.place[0] !== undefined)
      throw new UsageError(
        `there is no \`tidemark hub ${call.place[0]}\``,
        '`tidemark hub` starts it; `hub token` is the other',
      )
    return start(call)
  },
}
