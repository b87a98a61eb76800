import { noteEdited } from './backlog.ts'
import { claimImplicitly, rulesOn } from './before-edit.ts'
import type { HookReply } from './call.ts'
import { type Hook, joined } from './hook.ts'
import { filesOf, inTree } from './paths.ts'

/** A file was written: it is in the session's hands. */
export async function afterEdit(hook: Hook): Promise<HookReply> {
  const paths = filesOf(hook)
  const { tool, cwd } = hook.call
  const lines = new Map([...(tool?.lines ?? [])].map(([path, n]) => [inTree(hook.root, cwd, path) ?? '', n]))
  if (tool?.command === undefined) noteEdited(hook, paths, undefined, lines) // else see expectEdited
  if (hook.session === '') return {}
  if (hook.call.client === 'cursor') hook.attempt('implicit claim', () => claimImplicitly(hook, paths)) // tells only afterwards
  return { context: await full(hook) }
}

/** The context fills up within a turn too: an agent that works for an hour does not stop meanwhile. */
async function full(hook: Hook): Promise<string | undefined> {
  return hook.attemptLater('context used', async () => (await import('./context-warning.ts')).nearlyFull(hook))
}

/** Of the files that a session reads, the first are kept: they show what it had to find out again. */
const READS_KEPT = 40

function noteRead({ sessions, session, captures, call }: Hook, paths: readonly string[]): void {
  if (session === '' || !captures || call.parent !== undefined) return
  const { reads: kept, edits } = sessions.get(session)?.data ?? {}
  const before = Array.isArray(kept) ? kept : []
  const reads = [...before, ...paths.filter((p) => !before.includes(p))].slice(0, READS_KEPT)
  if (reads.length === before.length) return
  sessions.patch(session, { reads, ...(edits === undefined ? { opening: reads.length } : {}) })
}

/** What is known of files that were read, and the rules for them: not every client can be told before an edit. */
async function known(hook: Hook, read: readonly string[]): Promise<string | undefined> {
  const paths = filesOf(hook, read)
  if (paths.length === 0) return undefined
  hook.attempt('read', () => noteRead(hook, paths))
  return joined(
    await rulesOn(hook, paths),
    await hook.attemptLater('known of the file', async () =>
      (await import('./file-knowledge.ts')).knownOf(hook, paths),
    ),
  )
}

/** What a command came to, for the observations. */
async function observed(hook: Hook, failed: boolean): Promise<void> {
  await hook.attemptLater('observed', async () => (await import('./observe.ts')).commandEnded(hook, failed))
}

export async function afterTool(hook: Hook): Promise<HookReply> {
  const { tool } = hook.call
  if (tool?.reads) return { context: await known(hook, tool.reads) }
  const command = tool?.command
  if (command === undefined) return { context: await full(hook) }
  await observed(hook, false)
  await hook.attemptLater('command worked', async () => (await import('./failures.ts')).commandWorked(hook))
  const shell = await hook.attemptLater('shell', async () => {
    const { afterShell, readByShell } = await import('./shell.ts')
    return joined(await known(hook, readByShell(command)), afterShell(hook))
  })
  return { context: joined(shell, await full(hook)) }
}

export async function toolFailed(hook: Hook): Promise<HookReply> {
  if (hook.call.tool?.command === undefined) return {}
  await observed(hook, true)
  const failed = await hook.attemptLater('failing', async () => (await import('./failures.ts')).commandFailed(hook))
  const shell = await hook.attemptLater('shell', async () => (await import('./shell.ts')).afterShell(hook))
  return { context: joined(failed, shell) }
}

export async function afterBatch(hook: Hook): Promise<HookReply> {
  return { context: await full(hook) }
}
