/** Up to three names that might have been meant. */
export function nearest(name: string, names: Iterable<string>): string[] {
  const limit = Math.max(1, Math.floor(name.length / 3))
  const found: { name: string; distance: number }[] = []
  for (const other of names) {
    if (Math.abs(other.length - name.length) > Math.max(limit, 8)) continue
    const distance = isPart(name, other) ? limit : editDistance(name, other, limit)
    if (distance <= limit) found.push({ name: other, distance })
  }
  return found
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map((one) => one.name)
}

const isPart = (name: string, other: string): boolean =>
  name.length >= 4 && other.length >= 4 && (other.includes(name) || name.includes(other))

/** Insertions, deletions, replacements and swaps of neighbours; anything above the limit is just above it. */
function editDistance(a: string, b: string, limit: number): number {
  if (a.length > 64 || Math.abs(a.length - b.length) > limit) return limit + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    before = last
    last = row
  }
  return last[b.length]!
}
