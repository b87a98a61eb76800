import { statSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../../base/errors.ts'
import { outsideJson } from '../../../model/exact-json.ts'
import type { Json } from '../../../model/field.ts'
import { isObject, type JsonObject } from '../../../model/object.ts'
import { labelOf, readText } from './files.ts'
import { asStrings, text, unlessEmpty, unlessNone } from './json-values.ts'
import type { Importer, Item, Unplaced } from './types.ts'

/** What beads calls a dependency, and the relation that says the same; of a child its epic is a field. */
const DEPENDENCIES: Readonly<Record<string, string>> = {
  blocks: 'blocked-by',
  'conditional-blocks': 'blocked-by',
  'waits-for': 'blocked-by',
  related: 'relates-to',
  'relates-to': 'relates-to',
  'discovered-from': 'discovered-from',
  supersedes: 'supersedes',
  duplicates: 'similar-to',
  'parent-child': 'child-of',
  child: 'child-of',
}
/** Of an issue below one that is no epic: no relation of ours says it. */
const CHILD = { name: 'child-of', about: 'is a part of the other, an issue of beads' }
const NAMES = ['issues.jsonl', 'beads.jsonl']

export const beads: Importer = {
  name: 'beads',
  about: 'issues of beads (`.beads`, or its JSONL file): epics become activities, the others tasks, dependencies links',
  read(path, root) {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
    const name = isFolder ? (NAMES.find((n) => statSync(join(path, n), { throwIfNoEntry: false })) ?? NAMES[0]!) : ''
    const at = isFolder ? join(path, name) : path
    const file = labelOf(at, root)
    const unplaced: Unplaced[] = []
    const issues = new Map<string, { issue: JsonObject; where: string }>()
    const deleted = new Set<string>()
    for (const [i, line] of readText(at, root).split('\n').entries()) {
      if (line.trim() === '') continue
      const where = `${file}:${i + 1}`
      const issue = outsideJson(line)
      if (!isObject(issue) || typeof issue.id !== 'string' || text(issue.title) === undefined)
        unplaced.push({ where, what: line, why: 'not an issue with id and title' })
      else if (issue.status === 'tombstone') deleted.add(issue.id)
      else issues.set(issue.id, { issue, where })
    }
    const hint = 'it has one JSON object per line: `bd export`'
    if (issues.size === 0 && unplaced.length > 0)
      throw new UserError('bad-format', `${file} holds no issue of beads`, hint)
    const links: Item[] = []
    const items: Item[] = [...issues.values()].map(({ issue, where }) => {
      const parent = dependenciesOf(issue).find((d) => d.type === 'parent-child' && issues.has(d.on))?.on
      const epic = parent !== undefined && isEpic(issues.get(parent)!.issue) && !isEpic(issue) ? parent : undefined
      for (const { type, on } of dependenciesOf(issue)) {
        const relation = DEPENDENCIES[type]
        const leaveOut = (why: string) => void unplaced.push({ where, what: `${issue.id} ${type} ${on}`, why })
        if (type === 'parent-child' && on === epic) continue
        if (deleted.has(on)) leaveOut('that issue was deleted')
        else if (!issues.has(on)) leaveOut('there is no such issue')
        else if (relation === undefined) leaveOut(`no relation says "${type}"`)
        else {
          const args = { from: aliasOf(issue.id), to: aliasOf(on), type: relation }
          links.push({ verb: 'link-entities', args, where })
        }
      }
      return itemOf(issue, epic, where)
    })
    // an epic comes before what belongs to it
    const isActivity = (item: Item) => Number(item.verb === 'record-activity')
    items.sort((a, b) => isActivity(b) - isActivity(a) || byUrgency(a, b))
    const child = links.find((l) => l.args.type === CHILD.name)
    if (child) items.unshift({ verb: 'define-relation', args: CHILD, where: child.where })
    const counts = { issues: issues.size, dependencies: links.length }
    return { items: [...items, ...links], unplaced, counts, files: [file] }
  },
}

/** What an issue says in a place of its own, or only of its record: no attribute of the task. */
const PLACED = new Set(
  'id title status close_reason labels dependencies comments updated_at content_hash source_repo'.split(' '),
)

/** The most urgent first, and of those the oldest: in this order `next` tells them. */
const urgency = ({ args: { attrs } }: Item): [number, string] => {
  const { priority = 2, created_at: at = '' } = attrs as JsonObject
  const level = Number(String(priority).replace(/^p/i, ''))
  return [Number.isNaN(level) ? 2 : level, String(at)]
}
const byUrgency = (a: Item, b: Item): number => {
  const [[p, at], [q, other]] = [urgency(a), urgency(b)]
  return p - q || (at < other ? -1 : Number(at > other))
}

const aliasOf = (id: Json | undefined) => `beads ${String(id)}`
const isEpic = ({ issue_type: type }: JsonObject) => type === 'epic'

/** What an issue depends on; `type` is called `dep_type` by some. */
const dependenciesOf = ({ dependencies }: JsonObject): { type: string; on: string }[] =>
  (Array.isArray(dependencies) ? dependencies : []).flatMap((d) =>
    isObject(d) && typeof d.depends_on_id === 'string'
      ? [{ type: String(d.type ?? d.dep_type ?? 'blocks'), on: d.depends_on_id }]
      : [],
  )

function itemOf(issue: JsonObject, epic: string | undefined, where: string): Item {
  const id = String(issue.id)
  const isClosed = issue.status === 'closed'
  const comments = (Array.isArray(issue.comments) ? issue.comments : []).flatMap((c) => {
    const said = isObject(c) ? (text(c.text) ?? text(c.body)) : undefined
    return said === undefined ? [] : [`${String((c as JsonObject).author ?? '')}: ${said}`]
  })
  const more = Object.entries(issue).flatMap(([key, value]) => {
    const isWhole = typeof value === 'number' || value === true || isObject(value)
    const said = text(value) ?? (isWhole ? value : asStrings(value).join(', '))
    return PLACED.has(key) || said === '' ? [] : [[key, said] as const]
  })
  const args = {
    description: String(issue.title).trim(),
    state: isClosed ? 'complete' : 'open',
    result: isClosed ? (text(issue.close_reason) ?? 'closed') : undefined,
    ...(epic !== undefined && { activity: aliasOf(epic) }),
    topics: unlessNone(asStrings(issue.labels)),
    attrs: unlessEmpty({
      ...Object.fromEntries(more),
      beads: id,
      ...(isClosed ? {} : { status: String(issue.status ?? 'open') }),
      ...(comments.length > 0 && { comments: comments.join('\n') }),
    })!,
  }
  const verb = isEpic(issue) ? 'record-activity' : 'record-task'
  return { verb, args, where, as: aliasOf(id), same: ['beads', id] }
}
