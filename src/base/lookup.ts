/** The first of so many places at which something holds that holds at all after it; their number where it holds at none. */
export function firstWhere(count: number, holds: (at: number) => boolean): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

type Kept<K, V> = { get(key: K): V | undefined; set(key: K, value: V): unknown }

/** What stands under a key; made, and kept there, where nothing does. */
export function keptIn<K, V>(map: Kept<K, V>, key: K, make: () => V): V {
  let found = map.get(key)
  if (found === undefined) map.set(key, (found = make()))
  return found
}

/** The same in a map that begins anew once so much is kept in it. */
export function keptUpTo<K, V>(most: number, map: Map<K, V>, key: K, make: () => V): V {
  if (map.size >= most && !map.has(key)) map.clear()
  return keptIn(map, key, make)
}
