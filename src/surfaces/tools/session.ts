import { isRunning, processRef } from '../../base/env.ts'
import { UsageError, UserError } from '../../base/errors.ts'
import { gitState } from '../../base/git.ts'
import { screen } from '../../base/secrets/screen.ts'
import { placeOf } from '../../engine/claims/part.ts'
import type { Json } from '../../model/field.ts'
import { defined, type JsonObject } from '../../model/object.ts'
import { shellWord } from '../../model/shell.ts'
import { hookTimeOf } from '../../session/hooks/log.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { namedWithId, titleOfSession } from '../../work/coordination/labels.ts'
import { knownSession, liveSession } from '../../work/coordination/session-lookup.ts'
import { type SessionInfo, sessionsOf } from '../../work/coordination/sessions.ts'
import { ago, oneLine, oneOf } from './format.ts'
import { defineTool, type Output, type ToolContext } from './tool.ts'

const STEPS = ['start', 'heartbeat', 'end', 'list', 'show'] as const

function sessionJson(s: SessionInfo): { [key: string]: Json } {
  const time = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString())
  const { id, state, client, agent, role, user, parent, root, branch, pid, task, files, contextUsed, reason } = s
  const known = { client, agent, role, user, parent, root, branch, pid, task, contextUsed, reason }
  const times = { started: time(s.started), seen: time(s.seen), ended: time(s.ended) }
  return defined({ id, title: titleOfSession(s), state, ...known, ...times, files }) as JsonObject
}

/** A session on a line: who, how alive, what it works on. */
function sessionLine(context: ToolContext, s: SessionInfo): string {
  const now = context.memory.env.now()
  const task = s.task === undefined ? undefined : context.memory.reader.entity(s.task)
  const holds = claimsOf(context.memory)
    .held()
    .filter((c) => c.session === s.id)
    .map((c) => (c.what === 'task' ? (context.memory.reader.entity(c.on)?.name ?? c.on) : placeOf(c)))
  const parts = [
    s.state === 'ended'
      ? `${namedWithId(s)} ended ${ago(s.ended!, now)}${s.reason && s.reason !== 'other' ? `: ${s.reason}` : ''}`
      : `${namedWithId(s)} ${s.state} · seen ${ago(s.seen, now)}`,
    ...(s.parent === undefined ? [] : [`child of ${s.parent}`]),
    ...(s.branch === undefined ? [] : [`on ${s.branch}`]),
    ...(task ? [`task "${oneLine(task.name, 60)}"`] : []),
    ...(s.contextUsed === undefined ? [] : [`context ${Math.round(s.contextUsed)} %`]),
    ...(holds.length > 0 ? [`holds ${oneLine(holds.join(', '), 120)}`] : []),
    ...(s.files.length > 0 ? [`edited ${s.files.length} ${s.files.length === 1 ? 'file' : 'files'}`] : []),
  ]
  return oneLine(parts.join(' · '), 400)
}

/** The session that is meant; one that somebody writes out must be there. */
function named(context: ToolContext, text: string | undefined): string {
  if (text !== undefined) return knownSession(context.memory, text).id
  if (context.session !== undefined) return sessionsOf(context.memory).resolve(context.session)
  throw new UserError('no-session', 'no session is named', 'give its id, --session ID, or set TIDEMARK_SESSION')
}

/** What is said of a session is shown to all others, and kept beside the log: the same holds for it as for knowledge. */
function refuseSecrets(args: Readonly<Record<string, unknown>>): void {
  const [secret] = screen(args, false).secrets
  if (secret)
    throw new UserError(
      'secret',
      `${secret.path}: looks like a secret (${secret.category})`,
      'leave it out; nothing was written',
    )
}

export const session = defineTool({
  name: 'session',
  title: 'Sessions',
  about:
    'says who is at work: starts, keeps alive, ends, shows or lists sessions. Hooks and MCP do this by themselves; scripts and people may',
  example: 'tidemark session list',
  params: {
    do: { type: 'text', about: STEPS.join(', '), required: true, place: 0, choices: STEPS },
    id: { type: 'text', about: 'the session (start: made up unless given; else the acting one)', place: 1 },
    client: { type: 'text', about: 'start: what runs it' },
    agent: { type: 'text', about: 'start: the name of the agent' },
    role: { type: 'text', about: 'start: what it does in the swarm; task assign looks for it' },
    parent: { type: 'text', about: 'start: the session that it is a child of' },
    pid: { type: 'number', about: 'start: the process by which it lives and dies' },
    reason: { type: 'text', about: 'end: why' },
    all: { type: 'flag', about: 'list: also those that ended or crashed' },
  },
  needsSession: (args) => args.do === 'heartbeat',
  ofSession: (args) => ['heartbeat', 'end', 'show'].includes(args.do) && oneOf(args.id) === undefined,
  run(context, args): Output {
    const { memory, project } = context
    const sessions = sessionsOf(memory)
    const id = oneOf(args.id)
    refuseSecrets(args)
    switch (args.do) {
      case 'start': {
        const wanted = id ?? context.session
        if (args.pid !== undefined && isRunning(processRef(args.pid)) !== true)
          throw new UserError(
            'bad-argument',
            `there is no process ${args.pid}, so the session would be dead at once`,
            'give the id of a process that runs, such as $$; without --pid the session lives 30 minutes after each sign of life',
          )
        const parent = oneOf(args.parent)
        const isOwn = parent !== undefined && wanted !== undefined && sessions.resolve(parent) === wanted
        const started = sessions.start({
          ...(wanted === undefined ? {} : { id: wanted }),
          client: oneOf(args.client) ?? context.agent,
          agent: oneOf(args.agent),
          role: oneOf(args.role),
          // a hook may come before the one of its parent; whoever types it means one that is there
          parent: parent === undefined || isOwn ? parent : liveSession(memory, parent).id,
          ...(args.pid === undefined ? {} : { pid: args.pid }),
          root: project.root,
          branch: gitState(project.root).branch,
        })
        return {
          text: `session ${started.id}\n  export TIDEMARK_SESSION=${shellWord(started.id)}`,
          json: sessionJson(started),
        }
      }
      case 'heartbeat': {
        const it = named(context, id)
        sessions.heartbeat(it, { client: context.agent, root: project.root })
        return { text: `session ${it} is alive`, json: sessionJson(sessions.get(it)!) }
      }
      case 'end': {
        const it = named(context, id)
        knownSession(memory, it)
        sessions.end(it, oneOf(args.reason))
        return { text: `session ${it} ended`, json: sessionJson(sessions.get(it)!) }
      }
      case 'show': {
        const it = knownSession(memory, named(context, id))
        const told = sessions.toldOf(it.id)
        const tokens = told.reduce((n, t) => n + t.tokens, 0)
        const ms = hookTimeOf(context.project, it.id)
        const costs = `told ${told.length} ${told.length === 1 ? 'time' : 'times'}, ${tokens} tokens; its hooks took ${Math.round(ms)} ms`
        return {
          text: [sessionLine(context, it), costs, ...it.files.map((f) => `  ${f}`)].join('\n'),
          json: { ...sessionJson(it), told: told as unknown as Json, tokens, ms },
        }
      }
      default: {
        if (id !== undefined)
          throw new UsageError(
            `session list lists them all: \`tidemark session show ${shellWord(oneLine(id, 40))}\` shows one`,
          )
        sessions.sweep()
        const all = sessions.list({ all: args.all ?? false })
        const lines = all.map((s) => sessionLine(context, s))
        if (all.length === 0) lines.push('no session is live')
        return { text: lines.join('\n'), json: all.map(sessionJson) }
      }
    }
  },
})
