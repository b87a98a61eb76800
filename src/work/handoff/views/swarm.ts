import { tidyPath } from '../../../engine/claims/glob.ts'
import { HAND } from '../../../engine/claims/lease.ts'
import { claimsOf, type SwarmBlock } from '../../coordination/claims.ts'
import { minute, onPage } from '../page.ts'
import { isHalf, type Taken, type View } from './view.ts'

/** What a block may say its work is (concept paper 2). */
export const ROLE_STATUSES = ['active', 'complete', 'blocked', 'abandoned'] as const
const OWN = ['status', 'claimed', 'result', 'handoff', 'depends-on']

/** A block as it is written: a role, when, and lines `key: value`. */
export type Block = Readonly<{ role: string; at?: string; lines: ReadonlyMap<string, string> }>

export const printBlock = ({ role, at, lines }: Block): string =>
  `## ${role}${at === undefined ? '' : ` (${at})`}\n${[...lines].map(([key, value]) => `${key}: ${value}\n`).join('')}`

export function blockOf(b: SwarmBlock): Block {
  const lines = new Map<string, string>([['status', b.status]])
  const say = (key: string, value: string | undefined) => value && lines.set(key, onPage(value))
  say('claimed', b.claimed.join(', '))
  say('result', b.result)
  say('handoff', b.handoff)
  say('depends-on', b.dependsOn?.join(', '))
  for (const [key, value] of Object.entries(b.more ?? {})) if (!lines.has(key)) say(key, value)
  return { role: onPage(b.role), at: minute(b.at), lines }
}

/** The blocks of a file, the last of each role, and lines that belong to none. */
export function readBlocks(text: string): { blocks: Map<string, Block>; strange: string[] } {
  const blocks = new Map<string, Block>()
  const strange: string[] = []
  let lines: Map<string, string> | undefined
  for (const line of text.replace(/\r\n?/g, '\n').split('\n')) {
    const head = /^##\s+(\S.*)$/.exec(line.trimEnd())?.[1]
    const pair = /^([A-Za-z][\w -]*?):\s*(.*)$/.exec(line)
    if (head) {
      const when = /(?<!\s)\s+\((\d{4}-\d{2}-\d{2}[^()]*)\)$/.exec(head)
      const role = head.slice(0, when?.index)
      lines = new Map()
      blocks.delete(role)
      blocks.set(role, { role, ...(when ? { at: when[1]! } : {}), lines })
    } else if (pair && lines) lines.set(pair[1]!.trim().toLowerCase(), pair[2]!.trim())
    else if (line.trim() !== '' && !/^#\s/.test(line)) strange.push(line.trim())
  }
  return { blocks, strange }
}

const listOf = (text: string | undefined): string[] =>
  (text ?? '').split(/,|\s(?:→|->)\s/).flatMap((part) => part.trim() || [])

const isTask = (on: string): boolean => on.startsWith('task:')

/** What a block that was written or changed by hand means: the role takes its claim, or gives it up with its result. */
function taken(block: Block, there: SwarmBlock | undefined): Taken[] {
  const { role, lines } = block
  const status = lines.get('status') ?? 'active'
  const session = there && there.status === 'active' ? there.session : `${HAND}${role}` // who edits the file by hand
  // what a block says of its result while it is active is kept with it, until it is given up with one
  const own = status === 'active' ? OWN.filter((key) => key !== 'result' && key !== 'handoff') : OWN
  const more = Object.fromEntries([...lines].filter(([key, value]) => !own.includes(key) && value !== ''))
  const claimed = listOf(lines.get('claimed'))
  const [tasks, paths] = [claimed.filter((on) => isTask(on)), claimed.filter((on) => !isTask(on))]
  const now = there?.status === 'active' ? there : undefined
  const before = new Set(now?.claimed)
  const added = claimed.filter((on) => !before.has(on))
  const dependsOn = listOf(lines.get('depends-on'))
  // what a block no longer says is said to be nothing, also of what is given up now
  const said = { role, ...(Object.keys(more).length > 0 || now?.more ? { more } : {}) }
  const needs = dependsOn.length > 0 || now?.dependsOn ? { dependsOn } : {}
  const out = [...before].filter((on) => !isTask(on) && !claimed.some((p) => p === on || tidyPath(p) === on))
  const all = now ? [...paths, ...out] : paths
  const wanted = [...(all.length > 0 || tasks.length === 0 ? [{ paths: all }] : []), ...tasks.map((task) => ({ task }))]
  const claims = wanted.map((on): Taken => {
    const names = 'task' in on ? on.task : paths.join(', ')
    return { action: ['claim', { ...said, ...needs, ...on }], session, says: `${role} claims ${names || 'its role'}` }
  })
  if (status === 'active' && out.length > 0) {
    // with nothing left to hold, it goes on as a role
    if (claimed.length === 0) claims.push({ action: ['claim', said], session, says: `${role} claims its role` })
    claims.push({
      action: ['release', { paths: out, status: 'active' }],
      session,
      says: `${role} gives up ${out.join(', ')}`,
    })
  }
  if (status === 'active') return claims
  const word = (key: string) => (lines.get(key) ? { [key]: lines.get(key)! } : {})
  const release: Taken = {
    action: ['release', { ...said, status, ...word('result'), ...word('handoff') }],
    session,
    says: `${role} is ${status}`,
  }
  return now && added.length === 0 ? [release] : [...claims, release]
}

/** swarm-state.md: how each role's work stands, in the block form of the concept paper; the last block of a role counts. */
export const swarmView: View = {
  name: 'swarm-state.md',
  concerns: (news) =>
    (news.presence !== undefined && news.presence.type !== 'edited') ||
    news.events.some(({ event }) => event.entity.startsWith('goal:')),
  render({ memory }) {
    const blocks = claimsOf(memory).blocks()
    return blocks.length === 0 ? '' : ['# Swarm State\n', ...blocks.map((b) => printBlock(blockOf(b)))].join('\n')
  },
  read({ memory }, text, was) {
    if (isHalf(text, was)) return { actions: [], problems: ['it ends in the middle'] }
    const { blocks, strange } = readBlocks(text)
    const before = readBlocks(was).blocks
    const there = claimsOf(memory).blocks()
    const known = new Map(there.map((b) => [onPage(b.role), b]))
    const problems = strange.map((line) => `no part of a block: "${line.slice(0, 80)}"`)
    const actions: Taken[] = []
    for (const block of blocks.values()) {
      const old = before.get(block.role)
      before.delete(block.role)
      if (old && printBlock({ ...old, at: '' }) === printBlock({ ...block, at: '' })) continue
      const status = block.lines.get('status') ?? 'active'
      if ((ROLE_STATUSES as readonly string[]).includes(status)) actions.push(...taken(block, known.get(block.role)))
      else problems.push(`${block.role}: status "${status.slice(0, 40)}" is none of ${ROLE_STATUSES.join(', ')}`)
    }
    for (const role of before.keys()) problems.push(`the block of ${role} was taken out: its claim stands`)
    return { actions, problems }
  },
}
