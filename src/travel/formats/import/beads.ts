import { statSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../../base/errors.ts'
import { outsideJson } from '../../../model/exact.ts'
import type { Json } from '../../../model/field.ts'
import { isObject, type JsonObject } from '../../../model/object.ts'
import { labelOf, readText } from './files.ts'
import { asStrings, text, unlessEmpty } from './trees.ts'
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
}
const KEPT = ['priority', 'issue_type', 'assignee', 'external_ref', 'due_at', 'created_at', 'closed_at']
const NAMES = ['issues.jsonl', 'beads.jsonl']

/** The issues of beads: epics become activities, all others tasks, with what blocks them. */
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
    for (const [i, line] of readText(at, root).split('\n').entries()) {
      if (line.trim() === '') continue
      const where = `${file}:${i + 1}`
      const issue = outsideJson(line)
      if (!isObject(issue) || typeof issue.id !== 'string' || !hasTitle(issue))
        unplaced.push({ where, what: line, why: 'not an issue with id and title' })
      else if (issue.status !== 'tombstone') issues.set(issue.id, { issue, where })
    }
    if (issues.size === 0 && unplaced.length > 0)
      throw new UserError(
        'bad-format',
        `${file} holds no issue of beads`,
        'it has one JSON object per line: `bd export`',
      )
    const links: Item[] = []
    const items = [...issues.values()].map(({ issue, where }) => {
      const parent = dependenciesOf(issue).find((d) => d.type === 'parent-child' && issues.has(d.on))?.on
      for (const { type, on } of dependenciesOf(issue)) {
        const relation = DEPENDENCIES[type]
        const leaveOut = (why: string) => void unplaced.push({ where, what: `${issue.id} ${type} ${on}`, why })
        if (type === 'parent-child' && on === parent && isEpic(issues.get(on)!.issue) && !isEpic(issue)) continue
        if (!issues.has(on)) leaveOut('there is no such issue')
        else if (relation !== undefined || type === 'parent-child')
          links.push({
            verb: 'link-entities',
            args: { from: aliasOf(issue.id), to: aliasOf(on), type: relation ?? 'relates-to' },
            where,
          })
        else leaveOut(`no relation says "${type}"`)
      }
      return itemOf(issue, parent !== undefined && isEpic(issues.get(parent)!.issue) ? parent : undefined, where)
    })
    // an epic comes before what belongs to it
    items.sort((a, b) => Number(b.verb === 'record-activity') - Number(a.verb === 'record-activity'))
    return {
      items: [...items, ...links],
      unplaced,
      counts: { issues: items.length, dependencies: links.length },
      files: [file],
    }
  },
}

const aliasOf = (id: Json | undefined) => `beads ${String(id)}`
const isEpic = ({ issue_type: type }: JsonObject) => type === 'epic'
const hasTitle = ({ title }: JsonObject) => typeof title === 'string' && title.trim() !== ''

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
  const long = ['description', 'design', 'acceptance_criteria', 'notes'].flatMap((key) => {
    const said = text(issue[key])
    return said === undefined ? [] : [[key, said] as const]
  })
  const comments = (Array.isArray(issue.comments) ? issue.comments : []).flatMap((c) => {
    const said = isObject(c) ? (text(c.text) ?? text(c.body)) : undefined
    return said === undefined ? [] : [`${String((c as JsonObject).author ?? '')}: ${said}`]
  })
  const kept = KEPT.flatMap((key) =>
    typeof issue[key] === 'string' || typeof issue[key] === 'number' ? [[key, issue[key]] as const] : [],
  )
  const labels = asStrings(issue.labels)
  const args = {
    description: String(issue.title).trim(),
    state: isClosed ? 'complete' : 'open',
    result: isClosed ? (text(issue.close_reason) ?? 'closed') : undefined,
    ...(epic !== undefined && { activity: aliasOf(epic) }),
    topics: labels.length > 0 ? labels : undefined,
    attrs: unlessEmpty({
      beads: id,
      ...Object.fromEntries(kept),
      ...(isClosed ? {} : { status: String(issue.status ?? 'open') }),
      ...Object.fromEntries(long),
      ...(comments.length > 0 && { comments: comments.join('\n') }),
    })!,
  }
  const verb = isEpic(issue) ? 'record-activity' : 'record-task'
  return { verb, args, where: `${where}`, as: aliasOf(id), same: ['beads', id] }
}
