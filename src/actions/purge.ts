import type { Planning } from '../memory/plan.ts'
import type { Verb } from '../memory/verb.ts'
import type { Report } from '../schema/validate.ts'
import { textArg } from '../schema/validate.ts'

/** Marks every batch that touched an entity: its content for that entity is erased from the log. */
function markAll(p: Planning, id: string): number {
  let n = 0
  for (const { replica, seq } of p.view.batchesOf(id)) {
    const hash = p.view.batchHash(replica, seq)
    p.purge({ replica, seq, hash: hash ?? '', entity: id })
    n++
  }
  return n
}

function target(p: Planning, args: Readonly<Record<string, unknown>>, report: Report): string[] | undefined {
  const secret = args.secret
  if (secret === undefined) {
    const found = p.resolve(args.ref, 'ref', report, { deleted: true })
    return found && [found.id, ...[...p.links('src', found.id), ...p.links('dst', found.id)].map((l) => l.id)]
  }
  if (typeof secret !== 'string' || secret.trim().length < 4) {
    report({ field: 'secret', message: 'not a text of at least four characters', accepted: 'the exact text to erase' })
    return undefined
  }
  const ids = [...new Set(p.view.eventsHolding(secret.normalize('NFC')).map((e) => e.event.entity))]
  if (ids.length === 0) {
    report({
      field: 'secret',
      message: 'this text stands nowhere in the knowledge',
      accepted: 'a text that was recorded',
    })
    return undefined
  }
  return ids
}

/**
 * Erases from rows, events, log, documents, indexes and snapshots (K15). With `ref` the whole entity; with `secret`
 * every entity that ever held the text, which then has to be recorded anew without it.
 */
export const purge: Verb = {
  verb: 'purge',
  about:
    'erases an entity, or every entity that ever held a secret text, from everything that is stored; cannot be undone',
  args: { ref: 'reference?', secret: 'text? (instead of ref)', reason: 'text' },
  example: { ref: 'use-json-files', reason: 'held a customer name' },
  unscreened: true,
  plan(p, args, report) {
    const reason = textArg(args, 'reason', report)
    const ids = target(p, args, report)
    if (!ids || reason === undefined) return undefined
    const secret = typeof args.secret === 'string' ? args.secret : undefined
    if (secret && reason.includes(secret)) {
      report({ field: 'reason', message: 'holds the secret itself', accepted: 'a reason without it' })
      return undefined
    }
    let batches = 0
    for (const id of ids) {
      batches += markAll(p, id)
      p.wipe(id, true)
      p.remove(id, undefined, true)
    }
    p.note(
      'erased here; replicas that are offline and the git history keep it until they sync or are rewritten: if it was a secret, change it',
    )
    return { id: ids[0]!, erased: ids.length, batches }
  },
}
