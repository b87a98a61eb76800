import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { errorJson, UserError, unlessRefused } from '../../base/errors.ts'
import { keptIn } from '../../base/lookup.ts'
import type { Memory } from '../../engine/memory.ts'
import { createProject, findProject, type Project } from '../../engine/store/project.ts'
import { exactOr } from '../../model/exact-json.ts'
import { nearest, orNear } from '../../model/names.ts'
import { isObject } from '../../model/object.ts'
import { openProject } from '../../project/open.ts'
import { shown } from '../../scheme/invisible.ts'
import { jsonShown } from '../../session/briefing/fence.ts'
import { hubUrl } from '../../travel/sync/hub-url.ts'
import { actAs } from '../../work/coordination/caller.ts'
import type { Connection } from '../../work/coordination/connection.ts'
import { knownSession } from '../../work/coordination/session-lookup.ts'
import { errorText, mcpTools, readCall, runTool } from '../mcp/call.ts'
import type { Extension, McpCall } from '../mcp/mcp.ts'
import { Projects, type ProjectsOptions } from '../mcp/projects.ts'
import { TOOLS } from '../tools/index.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import { VERSION } from '../version.ts'
import { AGREED_HEADER, type Dashboard, questionId } from './dashboard.ts'
import { eventStream } from './events.ts'
import { hostAllowed, LOOPBACK, originAllowed, ownOrigin, tokenFor, tokenMatches } from './guard.ts'
import type { ServerOptions, TidemarkServer } from './types.ts'

/** A batch of 50 actions with every field at its limit is under it. */
const MAX_BODY_BYTES = 10 * 1024 * 1024
/** What the stream of events takes; anything else would be taken for a filter, and filter nothing. */
const EVENT_QUERY: readonly string[] = ['since', 'session', 'project', 'projectId']

type Settings = { Variables: { isBrowser?: boolean } }
type App = Hono<Settings>
type Resolve = (call: McpCall, connection?: Connection, ofSession?: boolean) => Promise<ToolContext>

/** What `createServer` makes; `extend`: what the tests put on every MCP server; `dashboard`: the pages for browsers. */
export function createApp(options: ServerOptions, extend?: Extension, dashboard?: Dashboard): TidemarkServer {
  const hub = hubOf(options)
  const project = projectOf(options)
  const others = (options.projects ?? []).map((path) => findProject(path).root) // each is a project, or the server does not start
  const { env, persistencePath } = options
  const memory = openProject(project, { env })
  const projects = new Projects({ roots: [project.root, ...others], exact: true, persistencePath, env, hub })
  projects.adopt(project, memory)
  let token: string | undefined
  try {
    token = options.token === false ? undefined : (options.token ?? tokenFor(project.storePath))
  } catch (error) {
    projects.close()
    throw error
  }
  const closing = new AbortController()
  const resolve: Resolve = async (call, connection, ofSession = false) => {
    const { agent, progress } = call
    const opened = await projects.open(call.project)
    if (ofSession && call.session) knownSession(opened.memory, call.session)
    const origin = { named: call.session, call: call.call, elsewhere: true }
    const about = { client: agent, root: opened.project.root }
    const session = connection
      ? connection.acting(opened.memory, origin, about, { begins: call.acts ?? false })
      : actAs(opened.memory, origin, about)
    return { ...opened, by: 'agent', served: projects.list(), session, agent, progress }
  }
  const endpoints = mcpEndpoints(projects, resolve, extend)
  const app: App = new Hono()
  app.onError(answerError)
  app.notFound((c) => refuse(c, 404, 'not-found', `nothing at ${c.req.path}`, 'see GET /api/tools, or use /mcp'))
  app.use(admission([...LOOPBACK, ...(options.allowedHosts ?? [])], token, dashboard))
  app.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (c) => refuse(c, 413, 'too-large', `the body is over ${MAX_BODY_BYTES} bytes`, 'send smaller batches'),
    }),
  )
  app.get('/healthz', (c) => c.json({ ok: true, name: 'tidemark', version: VERSION }))
  app.all('/mcp', async (c) => (await endpoints.of(c.req.query('project'))).fetch(c.req.raw))
  serveTools(app, resolve, dashboard)
  serveEvents(app, projects, closing.signal)
  if (dashboard) serveDashboard(app, dashboard, memory, project)

  return {
    app: app as unknown as Hono,
    memory,
    project,
    token,
    async close() {
      closing.abort()
      await endpoints.close()
      projects.close()
    },
  }
}

/** One MCP endpoint for each project that a client's URL names, and one for those that name none. */
function mcpEndpoints(projects: Projects, resolve: Resolve, extend: Extension | undefined) {
  const endpoints = new Map<string | undefined, ReturnType<typeof mcpEndpoint>>()
  return {
    of(named: string | undefined) {
      const pinned = named === undefined ? undefined : projects.find(named).id
      const pin = (call: McpCall, connection?: Connection) =>
        resolve({ ...call, project: call.project ?? pinned }, connection)
      return keptIn(endpoints, pinned, () => mcpEndpoint(pin, extend))
    },
    async close() {
      await Promise.all([...endpoints.values()].map(async (e) => (await e).close()))
    },
  }
}

/** Who may call: those who address this server by its names, from no foreign page, with the token or a key of the dashboard. */
const admission =
  (
    hosts: readonly string[],
    token: string | undefined,
    dashboard: Dashboard | undefined,
  ): MiddlewareHandler<Settings> =>
  async (c, next) => {
    if (!hostAllowed(c.req.raw, hosts))
      return refuse(c, 403, 'bad-host', 'this Host is not served here', 'use 127.0.0.1')
    if (!originAllowed(c.req.raw, hosts)) return refuse(c, 403, 'bad-origin', 'pages of this Origin may not call', '')
    if (c.req.path === '/healthz' || token === undefined || tokenMatches(c.req.raw, token)) return next()
    if (dashboard && isOpenToBrowsers(c)) return next()
    if (dashboard && c.req.path.startsWith('/api/') && dashboard.knows(c.req.raw)) {
      c.set('isBrowser', true)
      return next()
    }
    c.header('WWW-Authenticate', 'Bearer realm="tidemark"')
    const hint = `send Authorization: Bearer <token>; it is in the file "token" beside the store`
    return refuse(c, 401, 'unauthorized', 'the token is missing or wrong', hint)
  }

/** The list of the tools, and each under its name. */
function serveTools(app: App, resolve: Resolve, dashboard: Dashboard | undefined): void {
  app.get('/api/tools', async (c) => {
    const told = ({ name, title, about, example, params, readOnly, destructive = false }: Tool) => ({
      name,
      title,
      about,
      example,
      params,
      mcp: TOOLS[name]!.mcp === true,
      readOnly,
      destructive,
    })
    return c.json({ tools: (await offered()).map(told) })
  })
  app.post('/api/tools/:name', async (c) => {
    const name = c.req.param('name')
    const load = Object.hasOwn(TOOLS, name) ? TOOLS[name]!.load : undefined
    if (!load) {
      const names = (await offered()).map((t) => t.name)
      const near = nearest(name, names)
      const hint = orNear(near, `there are: ${names.join(', ')}`)
      throw new UserError('unknown-tool', `there is no tool "${name}"`, hint, { nearest: near })
    }
    const tool = await load()
    const isBrowser = c.get('isBrowser') === true
    if (tool.local && !(isBrowser && tool.dashboard))
      throw new UserError(
        'unknown-tool',
        `${name} works on files of this machine and is not offered over HTTP`,
        `use \`tidemark ${name}\` on the command line`,
      )
    const { args, ...named } = readCall(tool, await jsonBody(c))
    const agent = isBrowser ? 'dashboard' : (c.req.header('x-tidemark-agent') ?? 'http')
    const context = await resolve({ agent, ...named }, undefined, tool.ofSession?.(args))
    const person = isBrowser && dashboard?.isPersons ? personAt(c) : undefined
    const asked = person && { ...context, by: 'person' as const, ...(tool.dashboard ? { ask: person.ask } : {}) }
    const done = await runTool(tool, asked ?? context, args).catch((error: unknown) => {
      if (person?.asked === undefined) throw error
    })
    if (person?.asked !== undefined || !done)
      return c.json({ asks: { question: shown(person!.asked!), agree: questionId(person!.asked!) } }, 409)
    return c.body(jsonShown(JSON.stringify(done)), 200, { 'content-type': 'application/json' })
  })
}

function serveEvents(app: App, projects: Projects, closing: AbortSignal): void {
  app.get('/api/events', async (c) => {
    const unknown = Object.keys(c.req.query()).find((name) => !EVENT_QUERY.includes(name))
    if (unknown !== undefined)
      throw new UserError(
        'bad-arguments',
        `${unknown.slice(0, 80)}: not a parameter of the stream, which tells everything`,
        `parameters: ${EVENT_QUERY.join(', ')}; POST /api/tools/events answers once and takes type, key and limit`,
      )
    const { memory: followed } = await projects.open(c.req.query('projectId') ?? c.req.query('project'))
    const since = c.req.header('last-event-id') ?? c.req.query('since')
    if (since !== undefined && !/^\d+$/.test(since))
      throw new UserError('bad-arguments', 'since: a cursor expected', 'take it from the id of the last event')
    const signal = AbortSignal.any([closing, c.req.raw.signal])
    return eventStream(followed, since === undefined ? undefined : Number(since), signal, c.req.query('session'))
  })
}

/** What the pages need beside the tools. */
function serveDashboard(app: App, dashboard: Dashboard, memory: Memory, project: Project): void {
  app.post('/api/dashboard/open', async (c) => {
    const { token: given } = await jsonBody(c)
    const opened = ownOrigin(c.req.raw) ? dashboard.open(c.req.raw, given) : undefined
    const hint = 'run `tidemark ui` in a terminal: it prints a new one'
    return opened ?? refuse(c, 401, 'link-used', 'this link was used before, or is too old', hint)
  })
  app.get('/api/dashboard', (c) => {
    return c.json({
      project: { id: project.id, name: project.name, root: project.root },
      person: dashboard.isPersons,
      version: VERSION,
      cursor: memory.cursor,
    })
  })
  app.get('*', (c, next) => (isOpenToBrowsers(c) ? dashboard.file(c.req.path) : undefined) ?? next())
}

/** The files of the page hold no knowledge, and the link is what opens the rest. */
const isOpenToBrowsers = ({ req: { path, method } }: Context): boolean =>
  path === '/api/dashboard/open' ? method === 'POST' : method === 'GET' && !/^\/(?:api|mcp|healthz)(?:\/|$)/.test(path)

/** The person at the page: says yes to a question by sending back its digest, which nobody has who has not read it. */
function personAt(c: Context) {
  const agreed = c.req.header(AGREED_HEADER)
  const person = {
    asked: undefined as string | undefined,
    async ask(question: string): Promise<boolean> {
      if (agreed === questionId(question)) return true
      person.asked = question
      return false
    },
  }
  return person
}

/** Loads the MCP SDK: embedders and the command line that only want the rest do not pay for it. */
async function mcpEndpoint(
  resolve: (call: McpCall, connection?: Connection) => Promise<ToolContext>,
  extend: Extension | undefined,
) {
  const [{ serveHttpMcp }, { buildMcpServer }, { onResourceChange }] = await Promise.all([
    import('./mcp.ts'),
    import('../mcp/mcp.ts'),
    import('../mcp/resources.ts'),
  ])
  const endpoint = serveHttpMcp({
    maxBodyBytes: MAX_BODY_BYTES,
    build: async ({ era }, connection) => {
      const own = { resolve: (call: McpCall) => resolve(call, connection), tools: await mcpTools() }
      return buildMcpServer({ era, ...own, extend }, endpoint.bus)
    },
    follow: async (onChange) => onResourceChange((await resolve({})).memory, onChange),
  })
  return endpoint
}

function hubOf({ syncUrl, syncToken }: ServerOptions): ProjectsOptions['hub'] {
  if (syncUrl === undefined) return undefined
  const url = hubUrl(syncUrl).href
  if (!syncToken)
    throw new UserError('no-token', 'syncUrl without syncToken', '`tidemark hub token add MEMBER PROJECT` makes one')
  return { url, token: syncToken }
}

function projectOf({ projectPath, projectName, persistencePath, create = true }: ServerOptions): Project {
  const find = () => findProject(projectPath, persistencePath)
  const make = () => createProject(projectPath, { name: projectName, persistencePath }).project
  return create ? unlessRefused(find, make, 'no-project') : find()
}

/** Tools that work on files of this machine are for its command line. */
const offered = async (): Promise<Tool[]> =>
  (await Promise.all(Object.values(TOOLS).map(({ load }) => load()))).filter((tool) => !tool.local)

async function jsonBody(c: Context): Promise<Record<string, unknown>> {
  const text = await c.req.text()
  if (text.trim() === '') return {}
  const bad = (why: string): never => {
    throw new UserError('bad-json', `the body is not ${why}`, 'send an object of parameters')
  }
  const body = exactOr(text, (why) => bad(`JSON: ${why}`))
  return isObject(body) ? body : bad('a JSON object')
}

const STATUS: Readonly<Record<string, ContentfulStatusCode>> = {
  'unknown-tool': 404,
  'unknown-project': 404,
  'no-project': 404,
  'ambiguous-project': 409,
  closed: 503,
}

function answerError(error: unknown, c: Context): Response {
  if (error instanceof UserError) return c.json({ error: errorJson(error) }, STATUS[error.code] ?? 400)
  return refuse(c, 500, 'bug', errorText(error), 'please report it with what the server wrote to stderr')
}

const refuse = (c: Context, status: ContentfulStatusCode, code: string, message: string, hint: string): Response =>
  c.json({ error: errorJson(new UserError(code, message, hint)) }, status)
