import { factsOf } from '../../work/coordination/clients.ts'
import { noteEdited } from './backlog.ts'
import { aboutFiles } from './before-edit.ts'
import type { HookReply } from './call.ts'
import { type Hook, joined } from './hook.ts'
import { claimImplicitly } from './implicit-claims.ts'
import { filesOf, inTree } from './paths.ts'

export async function afterEdit(hook: Hook): Promise<HookReply> {
  const paths = filesOf(hook)
  const { tool, cwd } = hook.call
  const lines = new Map([...(tool?.lines ?? [])].map(([path, n]) => [inTree(hook.root, cwd, path) ?? '', n]))
  if (tool?.command === undefined) noteEdited(hook, paths, undefined, lines) // else see expectEdited
  if (hook.session === '') return {}
  if (factsOf(hook.call.client)?.tellsEditsLate) hook.attempt('implicit claim', () => claimImplicitly(hook, paths))
  return { context: await contextWarning(hook) }
}

const contextWarning = async (hook: Hook): Promise<string | undefined> =>
  hook.attemptLater('context used', async () => (await import('./context-warning.ts')).nearlyFull(hook))

/** Not every client can be told before an edit, so reading tells as well. */
async function aboutRead(hook: Hook, read: readonly string[]): Promise<string | undefined> {
  const paths = filesOf(hook, read)
  return paths.length === 0 ? undefined : aboutFiles(hook, paths)
}

async function observed(hook: Hook, failed: boolean): Promise<void> {
  await hook.attemptLater('observed', async () => (await import('./observe.ts')).commandEnded(hook, failed))
}

export async function afterTool(hook: Hook): Promise<HookReply> {
  const { tool } = hook.call
  if (tool?.reads) return { context: await aboutRead(hook, tool.reads) }
  const command = tool?.command
  if (command === undefined) return { context: await contextWarning(hook) }
  await observed(hook, false)
  await hook.attemptLater('command worked', async () => (await import('./failures.ts')).commandWorked(hook))
  const shell = await hook.attemptLater('shell', async () => {
    const { afterShell, readByShell } = await import('./shell.ts')
    return joined(await aboutRead(hook, readByShell(command)), await afterShell(hook))
  })
  return { context: joined(shell, await contextWarning(hook)) }
}

export async function toolFailed(hook: Hook): Promise<HookReply> {
  if (hook.call.tool?.command === undefined) return {}
  await observed(hook, true)
  const failed = await hook.attemptLater('failing', async () => (await import('./failures.ts')).commandFailed(hook))
  const shell = await hook.attemptLater('shell', async () => (await import('./shell.ts')).afterShell(hook))
  return { context: joined(failed, shell) }
}
