import { createStore } from './store.ts'

const read = () => ({ path: location.pathname, params: new URLSearchParams(location.search) })
export const place = createStore(read())

export function go(href: string, replace = false): void {
  if (href === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', href)
  place.set(read())
}

/** The address of what is recorded, or of a page. */
export const entityHref = (id: string): string => `/entity?id=${encodeURIComponent(id)}`

/** Links of the page change its view; everything else is the browser's. */
export function listen(): void {
  addEventListener('popstate', () => place.set(read()))
  document.addEventListener('click', (event) => {
    const anchor = (event.target as Element).closest('a')
    if (!anchor || anchor.origin !== location.origin || anchor.target || event.defaultPrevented) return
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || anchor.hash) return
    event.preventDefault()
    go(anchor.pathname + anchor.search)
    scrollTo(0, 0)
    document.querySelector<HTMLElement>('main h1')?.focus()
  })
}
