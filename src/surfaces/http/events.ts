import { attempt } from '../../base/errors.ts'
import { EventStream, type StreamEvent } from '../../engine/feed/feed.ts'
import type { Memory, News } from '../../engine/memory.ts'
import { jsonShown } from '../../session/briefing/fence.ts'
import { sameSession } from '../../work/coordination/session-ids.ts'

const KEEP_ALIVE_MS = 15_000
/** Batches read at once: what a slow reader has not taken stays in the store, not in memory. */
const PAGE = 64

/** News for those who watch: what changed, without the clocks by which replicas agree, and as events of the stream. */
const shown = ({ seq, batch, at, received, author, summary, events, presence }: News, stream: StreamEvent[]) => ({
  ...{ seq, batch, at, received, author, summary },
  events: events.map(({ id, event: { entity, field, op, value, path, purged } }) => ({
    ...{ id, entity, field, op, value, path, purged },
  })),
  ...(presence ? { presence } : {}),
  stream,
})

/** What others than `session` commit after a cursor, as server-sent events; the id of each is the cursor after it. */
export function eventStream(
  memory: Memory,
  since: number | undefined,
  signal: AbortSignal,
  session?: string,
): Response {
  const isOwn = session === undefined ? () => false : sameSession(memory, session)
  const encoder = new TextEncoder()
  const stream = new EventStream(memory.db)
  let cursor = since ?? memory.cursor
  let wake = () => {}
  let stop = () => {}
  let over = false
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(`: after ${cursor}\n\n`))
      const timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': here\n\n'))
      }, KEEP_ALIVE_MS)
      timer.unref()
      const unsubscribe = memory.subscribe(() => wake())
      stop = () => {
        if (over) return
        over = true
        clearInterval(timer)
        unsubscribe()
        wake()
      }
      const close = () => {
        stop()
        attempt(() => controller.close()) // the reader may have closed it
      }
      if (signal.aborted) close()
      else signal.addEventListener('abort', close, { once: true })
    },
    async pull(controller) {
      while (!over) {
        const { promise: waited, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const page = memory.newsSince(cursor, PAGE)
        for (const news of page) {
          cursor = news.seq
          const told = stream.eventsOf(news)
          if (isOwn(news.author.session ?? '')) continue
          const data = jsonShown(JSON.stringify(shown(news, told)))
          const type = news.presence ? 'presence' : 'batch'
          controller.enqueue(encoder.encode(`id: ${news.seq}\nevent: ${type}\ndata: ${data}\n\n`))
        }
        if (page.length > 0) return
        await waited
      }
    },
    cancel: () => stop(),
  })
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  })
}
