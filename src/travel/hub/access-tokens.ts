import { randomBytes } from 'node:crypto'
import type { Env } from '../../base/env.ts'
import { UsageError, UserError } from '../../base/errors.ts'
import { isProjectId } from '../../model/names.ts'
import { digestOf } from './log.ts'
import type { HubStore } from './store.ts'

const ROLES = ['reader', 'writer', 'admin'] as const
export type Role = (typeof ROLES)[number]

const ALL_PROJECTS = '*'

export interface Token {
  readonly id: string
  readonly member: string
  readonly role: Role
  /** Project ids with a space between them, or `*`. */
  readonly projects: string
  readonly created: number
  readonly expires: number | null
  readonly revoked: number | null
}

export const isLive = (t: Token, now: number): boolean => t.revoked === null && (t.expires === null || t.expires > now)
export const reaches = ({ projects }: Token, project: string): boolean =>
  projects === ALL_PROJECTS || projects.split(' ').includes(project)

const COLUMNS = 'id, member, role, projects, created, expires, revoked'
const MEMBER = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/

/** Makes a token. The hub keeps its hash alone, so it can be shown only now. */
export async function addToken(
  store: HubStore,
  env: Env,
  wanted: Pick<Token, 'member' | 'role'> & { projects: readonly string[]; expires?: number },
): Promise<{ token: string; id: string }> {
  const { member, projects, role, expires } = wanted
  if (!MEMBER.test(member))
    throw new UsageError(`"${member}" is no name of a member`, 'use letters, digits and . _ @ -, such as ana')
  if (!ROLES.includes(role)) throw new UsageError(`there is no role "${role}"`, `roles are ${ROLES.join(', ')}`)
  const odd = projects.find((p) => p !== ALL_PROJECTS && !isProjectId(p))
  if (odd !== undefined || projects.length === 0) {
    const hint = 'give the "id" of .tidemark/config.json, or several, or \'*\' for every project'
    throw new UsageError(odd === undefined ? 'a project is missing' : `"${odd}" is no id of a project`, hint)
  }
  const token = `tmh_${randomBytes(32).toString('base64url')}`
  const id = randomBytes(4).toString('hex')
  const sql = 'INSERT INTO hub_tokens (id, hash, member, role, projects, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?)'
  await store.all(sql, ...[id, digestOf(token), member, role, projects.join(' '), env.now(), expires ?? null])
  return { token, id }
}

export const listTokens = (store: HubStore): Promise<Token[]> =>
  store.all<Token>(`SELECT ${COLUMNS} FROM hub_tokens ORDER BY created, id`)

export async function tokensOf(store: HubStore, ids: readonly string[]): Promise<Token[]> {
  if (ids.length === 0) return []
  return store.all<Token>(`SELECT ${COLUMNS} FROM hub_tokens WHERE id IN (${ids.map(() => '?').join(', ')})`, ...ids)
}

export async function revokeToken(store: HubStore, env: Env, id: string): Promise<Token> {
  const [token] = await tokensOf(store, [id])
  if (!token) throw new UserError('no-token', `there is no token ${id}`, '`tidemark hub token list` shows them')
  await store.all('UPDATE hub_tokens SET revoked=? WHERE id=? AND revoked IS NULL', env.now(), id)
  await store.tell('revoked', id)
  return token
}

/** The token that somebody shows, whether or not it still holds. It is found by its hash: its text is compared nowhere. */
export async function findToken(store: HubStore, shown: string): Promise<Token | undefined> {
  const sql = `SELECT ${COLUMNS} FROM hub_tokens WHERE hash=?`
  return shown.length > 200 ? undefined : (await store.all<Token>(sql, digestOf(shown)))[0]
}
