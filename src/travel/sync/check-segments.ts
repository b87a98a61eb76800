import { isKeyed, unsigned } from '../../engine/store/keys.ts'
import { readSegment, segmentsIn, textsOf } from './segments.ts'
import { secretIn } from './share.ts'

/** What is wrong with the segments of a work tree, without a store: for CI and `doctor`. */
export function checkSegments(root: string): { segments: number; lines: number; problems: string[] } {
  const problems: string[] = []
  const segments = segmentsIn(root)
  let count = 0
  for (const segment of segments) {
    const { lines, damage } = readSegment(textsOf(root, segment))
    count += lines.length
    if (damage !== undefined) problems.push(`${segment.path}: ${damage}`)
    for (const line of lines) {
      const why = isKeyed(line.replica) ? unsigned(line) : undefined
      if (why !== undefined) problems.push(`${segment.path}: line ${line.seq} ${why}`)
      const secret = secretIn(line)
      if (secret)
        problems.push(`${segment.path}: ${secret.entity ?? 'a header'} looks like a secret (${secret.category})`)
    }
  }
  return { segments: segments.length, lines: count, problems }
}
