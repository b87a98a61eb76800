import { createHash } from 'node:crypto'
import { readObservationLine } from '../../../../work/handoff/views/observations.ts'
import type { Item } from '../types.ts'
import { type AddFolder, lineItems, numbering } from './folder.ts'

/** Lines of observations.md: `2026-02-19 14:30 | operation | what happened | cost or benefit` (rule P1). */
export function observationItems(folder: AddFolder): Item[] {
  const numbered = numbering()
  return lineItems(folder, 'observations.md', 'an observation', (line, where) => {
    const said = readObservationLine(line)
    if (!said) return undefined
    if (said.what === '') {
      folder.leaveOut(where, line.slice(0, 80), 'nothing stands where it should say what happened')
      return []
    }
    // three equal observations count three: the line and how often it stood above tell them apart
    const lineId = numbered(createHash('sha256').update(line).digest('hex').slice(0, 12))
    const [at = ''] = line.replace(/^[-*] /, '').split('|')
    const args = { ...said, attrs: { at: at.trim(), lineId } }
    return [{ verb: 'record-observation', args, where, same: ['lineId', lineId] }]
  })
}
