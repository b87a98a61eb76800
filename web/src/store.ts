import { useEffect, useState } from 'preact/hooks'

export interface Store<T> {
  get(): T
  set(value: T): void
  /** The value, and a new rendering whenever it changes. */
  use(): T
}

/** One value that several parts of the page look at. */
export function createStore<T>(value: T): Store<T> {
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
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
