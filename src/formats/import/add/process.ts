import { partsOf } from '../../../handoff/views/decisions.ts'
import { readBlocks } from '../../../handoff/views/swarm.ts'
import type { Json } from '../../../model/field.ts'
import { toTime } from '../../../model/validate.ts'
import { plainLine } from '../classify.ts'
import { firstSentence } from '../text.ts'
import type { Item } from '../types.ts'
import type { AddFolder } from './folder.ts'

type Args = { [arg: string]: Json }

const withAttrs = (args: Args, attrs: Args): Args => (Object.keys(attrs).length > 0 ? { ...args, attrs } : args)

const day = (text: string): string | undefined => toTime(/^\d{4}-\d{2}-\d{2}/.exec(text)?.[0])

/** decisions.md: a line for each, `time | decision | rationale`, or without the time; fields of its own make up the rationale. */
export function decisionItems(folder: AddFolder): Item[] {
  const page = folder.page('decisions.md')
  if (page === undefined) return []
  let prose = 0
  const items = page.split('\n').flatMap((line, i): Item[] => {
    const text = line.trim().replace(/^[-*]\s+/, '')
    const parts = partsOf(text)
    if (text === '' || /^(?:#|<!--|>|---|\|)/.test(text)) return []
    const at = parts.length > 1 && day(parts[0]!) !== undefined ? parts.shift() : undefined
    const what = plainLine(parts[0] ?? '')
    if (what === '' || (at === undefined && parts.length < 2)) {
      prose++
      return []
    }
    const name = firstSentence(what)
    const where = `${folder.label('decisions.md')}:${i + 1}`
    const rationale = parts.slice(1).filter(Boolean).join(' | ')
    const args: Args = { name, locations: [where], ...(rationale === '' ? {} : { rationale }) }
    if (name !== what) args.description = what
    return [{ verb: 'record-decision', args: withAttrs(args, at === undefined ? {} : { at }), where }]
  })
  folder.count('decisions', items.length)
  if (prose > 0) folder.leaveOut(folder.label('decisions.md'), `${prose} lines`, 'not in the form of a decision')
  return items
}

const MUTATION_FIELDS = ['change', 'trigger', 'skill', 'outcome'] as const
const MUTATION_STATUSES = ['proposed', 'approved', 'applied', 'rejected', 'reverted']

/** mutations.md: a section for each, `## M-001 (2026-02-16, approved)`, with `**Key:** value` below. */
export function mutationItems(folder: AddFolder): Item[] {
  const page = folder.page('mutations.md')
  if (page === undefined) return []
  const file = folder.label('mutations.md')
  const sections: { head: string; line: number; said: Map<string, string> }[] = []
  let key: string | undefined
  page.split('\n').forEach((line, i) => {
    const head = /^##\s+(\S.*)$/.exec(line)?.[1]
    const pair = /^(?:[-*]\s+)?\*\*([^*:]{1,60}):?\*\*:?(.*)$/.exec(line)
    const said = sections.at(-1)?.said
    if (head !== undefined) sections.push({ head: head.trim(), line: i + 1, said: new Map() })
    else if (pair && said) said.set((key = pair[1]!.trim().toLowerCase()), pair[2]!.trim())
    else if (key !== undefined && said?.has(key) && line.trim() !== '') said.set(key, `${said.get(key)} ${line.trim()}`)
  })
  return sections.flatMap(({ head, line, said }): Item[] => {
    const where = `${file}:${line}`
    const change = said.get('change')
    if (!change) {
      folder.leaveOut(where, head, 'a mutation without a change')
      return []
    }
    const [id = '', notes = ''] = head.split(/[()]/).map((part) => part.trim())
    const args: Args = {}
    const attrs: Args = {}
    for (const [name, value] of said)
      if ((MUTATION_FIELDS as readonly string[]).includes(name)) args[name] = value
      else if (value !== '' && name !== 'status') attrs[name] = value
    args.skill ??= /^`([^`]{1,80})`/.exec(change)?.[1] ?? null
    const words = [...notes.split(','), said.get('status') ?? ''].map((w) => w.trim())
    const status = words.findLast((w) => MUTATION_STATUSES.includes(w.toLowerCase()))?.toLowerCase()
    if (status !== undefined) args.status = status
    else if (said.get('status')) attrs.status = said.get('status')!
    const date = words.find((w) => day(w) !== undefined)
    if (date !== undefined) attrs.date = date
    if (id !== '') attrs.addId = id
    if (args.skill === null) delete args.skill
    folder.count('mutations', 1)
    const same = id === '' ? {} : { same: ['addId', id] as const }
    return [{ verb: 'record-mutation', args: withAttrs(args, attrs), where, ...same }]
  })
}

/** swarm-state.md: what came of each role's work. Nobody is at work any more for what another tool wrote. */
export function swarmItems(folder: AddFolder): Item[] {
  const page = folder.page('swarm-state.md')
  if (page === undefined) return []
  const { blocks, strange } = readBlocks(page)
  const file = folder.label('swarm-state.md')
  for (const line of strange) folder.leaveOut(file, line, 'no part of a block')
  folder.count('blocks of the swarm state', blocks.size)
  return [...blocks.values()].map(({ role, at, lines }): Item => {
    const block = at === undefined ? role : `${role} (${at})`
    const { status = 'active', result, ...more } = Object.fromEntries(lines)
    const done = result && result !== 'pending' ? result : [more.claimed, more.handoff].filter(Boolean).join('; ')
    const attrs: Args = { ...more, role, block, ...(at === undefined ? {} : { at }) }
    const text = done ? `${role}: ${done}` : role
    return { verb: 'record-result', args: { text, outcome: status, attrs }, where: file, same: ['block', block] }
  })
}
