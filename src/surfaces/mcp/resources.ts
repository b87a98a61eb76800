import type { McpServer, ServerContext } from '@modelcontextprotocol/server'
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server'
import { attempt } from '../../base/errors.ts'
import type { Memory, News } from '../../engine/memory.ts'
import { lookAgain } from '../../find/code/look.ts'
import { holdsJson, holdsOf } from '../../find/recall/told.ts'
import { kindOf, LINK_KIND } from '../../model/entity.ts'
import { jsonData } from '../../session/briefing/fence.ts'
import type { ToolContext } from '../tools/tool.ts'

/** The project and the session that a request means. @throws ProtocolError where there is no such project. */
export type Resolve = (ctx: ServerContext) => Promise<ToolContext>

export const entityUri = (ref: string): string => `tidemark://entity/${encodeURIComponent(ref).replaceAll('%3A', ':')}`

interface View {
  readonly name: string
  readonly title: string
  readonly about: string
  /** Sections of the briefing that it shows, without its limits. */
  readonly sections: readonly string[]
  readonly none: string
  /** Whether what happened may have changed it. */
  changes(news: News): boolean
}

const touches = (news: News, ...kinds: string[]) => news.events.some((e) => kinds.includes(kindOf(e.event.entity)))

/** What a client may show or follow under an address of its own. */
const VIEWS: readonly View[] = [
  {
    name: 'handoff',
    title: 'Handoff',
    about: 'where the work was left: handoffs that are current, newest first, and what crashed sessions had in hand',
    sections: ['handoff'],
    none: 'no handoff is current',
    changes: (news) => touches(news, 'handoff', 'task') || news.presence?.type === 'session-crashed',
  },
  {
    name: 'rules',
    title: 'Project rules',
    about: 'the rules of the project that somebody here has confirmed, and how many wait for it',
    sections: ['rules', 'unconfirmed'],
    none: 'no rule is recorded',
    changes: (news) => touches(news, 'fact', LINK_KIND),
  },
  {
    name: 'sessions',
    title: 'Live sessions',
    about: 'who is at work, on what, and what they have claimed',
    sections: ['sessions'],
    none: 'nobody else is at work',
    changes: (news) => news.presence !== undefined,
  },
]

const viewUri = (view: View): string => `tidemark://${view.name}`

/** What changed, by whatever process, as the addresses of resources. */
export const onResourceChange = (memory: Memory, onChange: (uri: string) => void): (() => void) =>
  memory.subscribe((news) => {
    for (const id of new Set(news.events.map((e) => e.event.entity))) {
      const name = memory.reader.entity(id)?.name
      const refs = name === undefined ? [id] : [id, name, `${kindOf(id)}:${name}`]
      for (const ref of new Set(refs)) onChange(entityUri(ref))
    }
    for (const view of VIEWS) if (view.changes(news)) onChange(viewUri(view))
  })

export function registerResources(server: McpServer, resolve: Resolve): void {
  registerEntities(server, resolve)
  for (const view of VIEWS) registerView(server, view, resolve)
}

/** Every entity is a resource under its id; any reference that is not ambiguous works. */
function registerEntities(server: McpServer, resolve: Resolve): void {
  const template = new ResourceTemplate('tidemark://entity/{id}', { list: undefined })
  const about = 'one piece of knowledge with its links; the id as it is printed, e.g. decision:use-sqlite'
  const config = { title: 'Entity', description: about, mimeType: 'application/json' }
  server.registerResource('entity', template, config, async (uri, { id }, ctx) => {
    const { memory, project } = await resolve(ctx)
    const { reader } = memory
    const ref = decodeURIComponent(String(id))
    const there = reader.entity(ref)
    const found = there ? [there] : reader.find(ref, true)
    if (found.length !== 1) throw new ResourceNotFoundError(uri.href)
    const entity = found[0]!
    const ends = (end: 'from' | 'to') =>
      reader.links(end, entity.id).map((l) => ({ type: l.type, from: l.from, to: l.to }))
    await lookAgain(memory, project)
    const holds = holdsJson(holdsOf(memory, project.root, [entity]).get(entity.id)!)
    const text = jsonData(JSON.stringify({ ...entity, ...holds, links: [...ends('from'), ...ends('to')] }, null, 1))
    return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] }
  })
}

/** As the briefing tells it: rules as rules, all else behind the fence. */
function registerView(server: McpServer, view: View, resolve: Resolve): void {
  const config = { title: view.title, description: view.about, mimeType: 'text/markdown' }
  server.registerResource(view.name, viewUri(view), config, async (uri, ctx) => {
    const { memory, project, session } = await resolve(ctx)
    const { sectionsOf } = await import('../../session/briefing/brief.ts')
    const text = sectionsOf(memory, project, view.sections, { session })
    return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text: text === '' ? view.none : text }] }
  })
}

/** The 2025 way of following resources; in the modern era the SDK serves `subscriptions/listen`. */
export function serveSubscriptions(mcp: McpServer, resolve: Resolve): void {
  const { server } = mcp
  const followed = new Map<string, string>() // as we write it → as the client does
  let stop: (() => void) | undefined
  const end = () => {
    stop?.()
    stop = undefined
  }
  server.setRequestHandler('resources/subscribe', async ({ params }, ctx) => {
    const uri = sameUri(params.uri)
    if (uri === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `no change of ${params.uri.slice(0, 200)} is ever told`)
    if (!stop) {
      const { memory } = await resolve(ctx)
      stop ??= onResourceChange(memory, (uri) => {
        const asked = followed.get(uri)
        if (asked !== undefined) server.sendResourceUpdated({ uri: asked }).catch(() => {}) // the client has gone
      })
    }
    followed.set(uri, params.uri)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    followed.delete(sameUri(params.uri) ?? params.uri)
    if (followed.size === 0) end()
    return {}
  })
  const before = server.onclose
  server.onclose = () => {
    end()
    before?.()
  }
}

/** An address as it is told when it changes, however the client escapes it; nothing for one of which nothing is told. */
function sameUri(uri: string): string | undefined {
  if (VIEWS.some((view) => viewUri(view) === uri)) return uri
  const [, ref] = /^tidemark:\/\/entity\/([^/?#]+)$/.exec(uri) ?? []
  if (ref === undefined) return undefined
  return attempt(() => entityUri(decodeURIComponent(ref))) // there may be no such escape
}

/** A modern client is told what it may follow by the acknowledgement: what is never told of is taken out before. */
export function onlyFollowable(message: unknown): void {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { notifications?: unknown } }
  if (method !== 'subscriptions/listen') return
  const filter = params?.notifications as { resourceSubscriptions?: unknown } | undefined
  if (Array.isArray(filter?.resourceSubscriptions))
    filter.resourceSubscriptions = filter.resourceSubscriptions.filter((u) => sameUri(String(u)) !== undefined)
}
