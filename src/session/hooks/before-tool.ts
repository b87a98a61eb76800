import { processRef } from '../../base/env.ts'
import { clientProcess, processAlias } from '../../work/coordination/client-process.ts'
import { type HookReply, NOTHING } from './call.ts'
import type { Hook } from './hook.ts'

/** Before a shell command, or a call of our own tool: that tells the server whose call it is (X7), by its id or by the process. */
export async function beforeTool(hook: Hook): Promise<HookReply> {
  const { call, session, sessions } = hook
  const { tool } = call
  if (tool === undefined || session === '') return NOTHING
  if (tool.command !== undefined) return (await import('./before-edit.ts')).beforeCommand(hook, tool.command)
  if (!/tidemark/i.test(tool.name)) return NOTHING
  const { id } = tool
  if (id !== undefined) hook.attempt('session alias', () => sessions.addAlias(`tool:${id}`, session))
  const process = call.shared ? (call.pid === undefined ? clientProcess() : processRef(call.pid)) : undefined
  if (process) hook.attempt('session alias', () => sessions.addAlias(processAlias(process), session))
  return NOTHING
}
