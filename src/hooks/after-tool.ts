import { noteEdited } from './backlog.ts'
import { claimImplicitly } from './before-edit.ts'
import type { HookReply } from './call.ts'
import { type Hook, joined } from './hook.ts'
import { filesOf, inTree } from './paths.ts'

const told = (context: string | undefined): HookReply => (context === undefined ? {} : { context })

/** A file was written: it is in the session's hands. */
export async function afterEdit(hook: Hook): Promise<HookReply> {
  const paths = filesOf(hook)
  const { tool, cwd } = hook.call
  const lines = new Map([...(tool?.lines ?? [])].map(([path, n]) => [inTree(hook.root, cwd, path) ?? '', n]))
  if (tool?.command === undefined) noteEdited(hook, paths, undefined, lines) // else see expectEdited
  if (hook.session === '') return {}
  if (hook.call.client === 'cursor') hook.attempt('implicit claim', () => claimImplicitly(hook, paths)) // tells only afterwards
  return told(await full(hook))
}

/** The context fills up within a turn too: an agent that works for an hour does not stop meanwhile. */
async function full(hook: Hook): Promise<string | undefined> {
  return hook.attemptLater('context used', async () => (await import('./context-warning.ts')).nearlyFull(hook))
}

/** What is known of files that were read. */
async function known(hook: Hook, read: readonly string[]): Promise<string | undefined> {
  const paths = filesOf(hook, read)
  if (paths.length === 0) return undefined
  return hook.attemptLater('known of the file', async () => (await import('./file-knowledge.ts')).knownOf(hook, paths))
}

export async function afterTool(hook: Hook): Promise<HookReply> {
  const { tool } = hook.call
  if (tool?.reads) return told(await known(hook, tool.reads))
  const command = tool?.command
  if (command === undefined) return told(await full(hook))
  await hook.attemptLater('command worked', async () => (await import('./failures.ts')).commandWorked(hook))
  const shell = await hook.attemptLater('shell', async () => {
    const { afterShell, readByShell } = await import('./shell.ts')
    return joined(await known(hook, readByShell(command)), afterShell(hook))
  })
  return told(joined(shell, await full(hook)))
}

export async function toolFailed(hook: Hook): Promise<HookReply> {
  if (hook.call.tool?.command === undefined) return {}
  const failed = await hook.attemptLater('failing', async () => (await import('./failures.ts')).commandFailed(hook))
  const shell = await hook.attemptLater('shell', async () => (await import('./shell.ts')).afterShell(hook))
  return told(joined(failed, shell))
}

export async function afterBatch(hook: Hook): Promise<HookReply> {
  return told(await full(hook))
}
