import { defined, type JsonObject } from '../../../../model/object.ts'
import { toTime } from '../../../../model/validate.ts'
import { readBlocks } from '../../../../work/handoff/views/swarm.ts'
import { partsOf } from '../../../../work/handoff/views/view.ts'
import { plainLine } from '../classify.ts'
import { unlessEmpty } from '../json-values.ts'
import { firstSentence } from '../text.ts'
import type { Item } from '../types.ts'
import { type AddFolder, lineItems } from './folder.ts'

const day = (text: string): string | undefined => toTime(/^\d{4}-\d{2}-\d{2}/.exec(text)?.[0])

/** decisions.md: a line for each, `time | decision | rationale`, or without the time; further parts are rationale. */
export const decisionItems = (folder: AddFolder): Item[] =>
  lineItems(folder, 'decisions.md', 'a decision', (line, where) => {
    if (line.startsWith('|')) return [] // a table
    const parts = partsOf(line.replace(/^[-*]\s+/, ''))
    const at = parts.length > 1 && day(parts[0]!) !== undefined ? parts.shift() : undefined
    // behind a time nothing is a mark of a list
    const what = at === undefined ? plainLine(parts[0] ?? '') : (parts[0] ?? '')
    if (what === '' || (at === undefined && parts.length < 2)) return undefined
    const name = firstSentence(what)
    const args = {
      name,
      locations: [where],
      rationale: parts.slice(1).filter(Boolean).join(' | ') || undefined,
      description: name === what ? undefined : what,
      attrs: at === undefined ? undefined : { at },
    }
    return [{ verb: 'record-decision', args, where }]
  })

/** What was decided elsewhere is kept beside it: only a person here decides what stands in `status`. */
const MUTATION_STATUSES = ['proposed', 'approved', 'applied', 'rejected', 'reverted']

/** mutations.md: a section for each, `## M-001 (2026-02-16, approved)`, with `**Key:** value` below. */
export function mutationItems(folder: AddFolder): Item[] {
  const file = folder.label('mutations.md')
  const sections: { head: string; line: number; said: Map<string, string> }[] = []
  let key: string | undefined
  folder
    .page('mutations.md')
    .split('\n')
    .forEach((line, i) => {
      const head = /^##\s+(\S.*)$/.exec(line)?.[1]
      const pair = /^(?:[-*]\s+)?\*\*([^*:]{1,60}):?\*\*:?(.*)$/.exec(line)
      const said = sections.at(-1)?.said
      if (head !== undefined) sections.push({ head: head.trim(), line: i + 1, said: new Map() })
      else if (pair && said) said.set((key = pair[1]!.trim().toLowerCase()), pair[2]!.trim())
      else if (key !== undefined && said?.has(key) && line.trim() !== '')
        said.set(key, `${said.get(key)} ${line.trim()}`)
      else if (line.trim() !== '' && !line.startsWith('# '))
        folder.leaveOut(`${file}:${i + 1}`, line, 'no part of a mutation')
    })
  return sections.flatMap(({ head, line, said }): Item[] => {
    const where = `${file}:${line}`
    const change = said.get('change')
    if (!change) {
      folder.leaveOut(where, head, 'a mutation without a change')
      return []
    }
    const [id = '', notes = ''] = head.split(/[()]/).map((part) => part.trim())
    const args: JsonObject = {}
    const attrs: JsonObject = {}
    for (const [name, value] of said)
      if (['change', 'trigger', 'skill', 'outcome'].includes(name)) args[name] = value
      else if (value !== '' && name !== 'status') attrs[name] = value
    const skill = args.skill ?? /^`([^`]{1,80})`/.exec(change)?.[1]
    const stated = said.get('status') ?? ''
    const words = [...notes.split(','), stated].map((w) => w.trim())
    const status = words.findLast((w) => MUTATION_STATUSES.includes(w.toLowerCase()))?.toLowerCase()
    if (stated !== '' || status !== undefined) attrs.status = status ?? stated
    const date = words.find((w) => day(w) !== undefined)
    if (date !== undefined) attrs.date = date
    if (id !== '') attrs.addId = id
    folder.count('mutations', 1)
    const same = id === '' ? undefined : (['addId', id] as const)
    return [{ verb: 'record-mutation', args: { ...args, skill, attrs: unlessEmpty(attrs) }, where, same }]
  })
}

/** swarm-state.md: what came of each role's work. Nobody is at work any more for what another tool wrote. */
export function swarmItems(folder: AddFolder): Item[] {
  const { blocks, strange } = readBlocks(folder.page('swarm-state.md'))
  const file = folder.label('swarm-state.md')
  for (const line of strange) folder.leaveOut(file, line, 'no part of a block')
  const earlier = (folder.page('swarm-state.md').match(/^##[ \t]+\S/gm)?.length ?? 0) - blocks.size
  if (earlier > 0) folder.leaveOut(file, `${earlier} earlier blocks`, 'the last block of a role counts')
  folder.count('blocks of the swarm state', blocks.size)
  return [...blocks.values()].map(({ role, at, lines }): Item => {
    const block = at === undefined ? role : `${role} (${at})`
    const { status = 'active', result, ...more } = Object.fromEntries(lines)
    const done = result && result !== 'pending' ? result : [more.claimed, more.handoff].filter(Boolean).join('; ')
    const attrs = defined({ ...more, role, block, at, result: result === 'pending' ? result : undefined }) as JsonObject
    const text = done ? `${role}: ${done}` : role
    return { verb: 'record-result', args: { text, outcome: status, attrs }, where: file, same: ['block', block] }
  })
}
