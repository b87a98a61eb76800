import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessRef } from '../../base/env.ts'
import { below } from '../../base/files.ts'
import { gitState } from '../../base/git.ts'
import { stateDirectory } from '../../engine/store/user-state.ts'
import { shellWord } from '../../model/shell.ts'
import { userName } from '../../project/open.ts'
import { receiveChanges } from '../../travel/sync/receive.ts'
import { clientProcess } from '../../work/coordination/client-process.ts'
import { factsOf } from '../../work/coordination/clients.ts'
import { readEdits } from '../../work/handoff/views/refresh.ts'
import { type BriefOptions, brief, wasBriefed } from '../briefing/brief.ts'
import { BRIEFING_CHARS, BRIEFING_TOKENS } from '../briefing/budget.ts'
import type { HookCall, HookReply } from './call.ts'
import { deliveredSince } from './delivery.ts'
import { type Hook, joined } from './hook.ts'

/** Tells `tidemark` in the agent's shell which session it belongs to. */
function tellShell({ client }: HookCall, session: string): void {
  const variable = factsOf(client)?.shellFileVariable
  const file = variable && process.env[variable]
  if (file) appendFileSync(file, `export TIDEMARK_SESSION=${shellWord(session)}\n`)
}

/** Whose process it is; where that holds several sessions the first sign of life tells it. */
function processOf({ pid, shared }: HookCall): { pid?: number; process?: ProcessRef | undefined } {
  if (shared) return {}
  return pid === undefined ? { process: clientProcess() } : { pid }
}

/** So much of a hook's time is left to the briefing. */
const BRIEFING_MS = 120

/** A subagent has one thing to do, and a context of its own to fill. */
const SUBAGENT_TOKENS = 800

async function widerHere() {
  if (!existsSync(join(stateDirectory(), 'library'))) return undefined
  return (await import('../../project/tiers/wider.ts')).statementsFor()
}

async function briefing(hook: Hook, session: string): Promise<HookReply> {
  const { memory, project, call, root } = hook
  const child = call.parent !== undefined
  const held = call.source === 'resume' ? deliveredSince(hook) : undefined
  const options: BriefOptions = {
    session: session === '' ? undefined : session,
    client: call.client,
    user: userName(root),
    branch: gitState(root).branch,
    budget: child ? SUBAGENT_TOKENS : BRIEFING_TOKENS,
    chars: BRIEFING_CHARS,
    held: held && held.size > 0 ? held : undefined,
    wider: await hook.attemptLater('wider tiers', widerHere),
  }
  hook.attempt('sync', () => receiveChanges(memory, project.root, () => hook.left - BRIEFING_MS))
  hook.attempt('edits by hand', () => readEdits(memory, project))
  const { cursor } = memory
  const briefed = brief(memory, project, options)
  hook.attempt('briefed', () =>
    memory.db.write(() => wasBriefed(memory, options, briefed, `${call.client} ${call.event}`, cursor)),
  )
  return {
    context: briefed.text || undefined,
    visible: child ? undefined : `Tidemark: ${briefed.line}${hook.paused === undefined ? '' : ', capture paused'}`,
  }
}

/** A session begins or goes on, from whatever source: it is there for the others, and is told what it should know. */
export async function sessionStart(hook: Hook): Promise<HookReply> {
  const { call, sessions } = hook
  if (call.parent !== undefined) return subagentStart(hook)
  const info = hook.attempt('session start', () =>
    sessions.start({
      id: hook.session || undefined,
      client: call.client,
      root: hook.root,
      folder: below(hook.root, call.cwd ?? hook.root),
      branch: gitState(hook.root).branch,
      user: userName(hook.root),
      ...processOf(call),
      source: call.source,
    }),
  )
  const id = info?.id ?? hook.session
  if (id !== '') hook.attempt('shell', () => tellShell(call, id))
  if (call.source === 'compact' && hook.session !== '') await (await import('./compaction.ts')).compacted(hook)
  const briefed = (await hook.attemptLater('briefing', () => briefing(hook, id))) ?? {}
  // what goes on holds it already
  if (!hook.captures || call.source === 'resume') return briefed
  const { TO_RECORD, toJudge } = await import('./ask-agent.ts')
  return {
    ...briefed,
    context: joined(briefed.context, TO_RECORD, call.source === 'compact' ? toJudge(hook) : undefined),
  }
}

/** A subagent is a session of its own below the one that started it, and is told who else is there. */
export async function subagentStart(hook: Hook): Promise<HookReply> {
  const { call, sessions } = hook
  hook.attempt('subagent start', () =>
    sessions.start({
      id: hook.session,
      parent: call.parent === undefined ? undefined : sessions.resolve(call.parent),
      client: call.client,
      agent: call.agent,
      root: hook.root,
      folder: below(hook.root, call.cwd ?? hook.root),
    }),
  )
  return (await hook.attemptLater('briefing', () => briefing(hook, hook.session))) ?? {}
}
