import { createHash } from 'node:crypto'
import type { Json } from '../../../model/field.ts'
import type { Item } from '../types.ts'
import type { AddFolder } from './folder.ts'

const NAME = 'observations.md'

/** Lines of observations.md: `2026-02-19 14:30 | operation | what happened | cost or benefit` (rule P1). */
export function observationItems(folder: AddFolder): Item[] {
  const page = folder.page(NAME)
  if (page === undefined) return []
  const counted = new Map<string, number>()
  let prose = 0
  const items = page.split('\n').flatMap((line, i): Item[] => {
    const m = /^(?:[-*]\s+)?(\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2})?)\s*\|(.*)$/.exec(line.trim())
    if (!m) {
      if (line.trim() !== '' && !/^(?:#|<!--|>|---)/.test(line.trim())) prose++
      return []
    }
    const parts = m[2]!.split(/(?<!\\)\|/).map((p) => p.trim().replaceAll('\\|', '|'))
    const [operation, what, cost] = parts.length > 1 ? parts : [undefined, parts[0], undefined]
    const where = `${folder.label(NAME)}:${i + 1}`
    if (!what) {
      folder.leaveOut(where, line.slice(0, 80), 'nothing stands where it should say what happened')
      return []
    }
    // three equal observations count three: the line and how often it stood above tell them apart
    const hash = createHash('sha256').update(line.trim()).digest('hex').slice(0, 12)
    const n = (counted.get(hash) ?? 0) + 1
    counted.set(hash, n)
    const lineId = n > 1 ? `${hash} (${n})` : hash
    const args: { [arg: string]: Json } = { what, attrs: { at: m[1]!, lineId } }
    if (operation) args.operation = operation
    if (cost) args.cost = [cost, ...parts.slice(3)].join(' | ')
    return [{ verb: 'record-observation', args, where, same: ['lineId', lineId] as const }]
  })
  folder.count('observations', items.length)
  if (prose > 0) folder.leaveOut(folder.label(NAME), `${prose} lines`, 'not in the form of an observation')
  return items
}
