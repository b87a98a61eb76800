/**
 * Follows the server's events. One tab of the browser reads the stream and tells the others: a browser keeps six
 * connections to a host, and each stream is one.
 */
import { access, changes, headers, here, lookAround } from './api.ts'
import { createStore } from './store.ts'

type Following = 'connecting' | 'live' | 'stopped'
export const following = createStore<Following>('connecting')

type Message = { is: 'asks' } | { is: 'state'; state: Following } | { is: 'change' }
const channel = new BroadcastChannel('tidemark')
const FIRST_WAIT = 300
const LONGEST_WAIT = 3_000

function tell(message: Message): void {
  channel.postMessage(message)
  heed(message)
}

let isDue = false
function heed(message: Message): void {
  if (message.is === 'state') following.set(message.state)
  if (message.is === 'state' && message.state === 'live' && access.get() === 'out') void lookAround()
  if (message.is !== 'change' || isDue) return
  isDue = true // a burst of changes is one
  setTimeout(() => {
    isDue = false
    changes.set(changes.get() + 1)
  }, 60)
}

/** Reads the stream until it ends. `isFresh`: nothing was asked before `since`. */
async function read(since: string | undefined, isFresh: boolean, heard: (cursor: string) => void): Promise<void> {
  const response = await fetch(`/api/events${since === undefined ? '' : `?since=${since}`}`, { headers: headers() })
  if (response.status === 401) access.set('out')
  if (!response.ok || !response.body) throw new Error(`events: ${response.status}`)
  if (access.get() === 'out') await lookAround()
  tell({ is: 'state', state: 'live' })
  if (!isFresh) tell({ is: 'change' }) // whatever happened while nobody listened
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      if (line.startsWith('id: ')) heard(line.slice(4))
      if (line.startsWith('data: ')) tell({ is: 'change' })
    }
  }
}

export function follow(): void {
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.is !== 'asks') heed(data)
    else if (isReader) channel.postMessage({ is: 'state', state: following.get() } satisfies Message)
  }
  let isReader = false
  channel.postMessage({ is: 'asks' } satisfies Message)
  void navigator.locks.request('tidemark-events', async () => {
    isReader = true
    const born = following.get() === 'connecting' ? here.get()?.cursor : undefined
    let since = born === undefined ? undefined : String(born)
    let isFresh = born !== undefined
    for (let pause = FIRST_WAIT; ; pause = Math.min(pause * 2, LONGEST_WAIT)) {
      try {
        await read(since, isFresh, (cursor) => {
          since = cursor
          pause = FIRST_WAIT
        })
      } catch {} // told below
      isFresh = false
      tell({ is: 'state', state: 'stopped' })
      await new Promise((done) => setTimeout(done, pause))
    }
  })
}
