import { useEffect, useState } from 'preact/hooks'

/** One value that several parts of the page look at. */
export function createStore<T>(value: T) {
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next: T) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    /** The value, and a new rendering whenever it changes. */
    use() {
      const [, render] = useState({})
      useEffect(() => {
        const listener = () => render({})
        listeners.add(listener)
        return () => void listeners.delete(listener)
      }, [])
      return value
    },
  }
}
