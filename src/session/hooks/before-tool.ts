import { processRef } from '../../base/env.ts'
import { clientProcess, processAlias } from '../../work/coordination/client-process.ts'
import { type HookReply, NOTHING } from './call.ts'
import type { Hook } from './hook.ts'

/**
 * A call of one of our own tools: the server that gets it learns from this whose it is (X7). Where several sessions share
 * a process and calls bear no id, the one that calls now is the one behind that process.
 */
export function beforeTool(hook: Hook): HookReply {
  const { call, session, sessions } = hook
  const { tool } = call
  if (tool === undefined || session === '' || !/tidemark/i.test(tool.name)) return NOTHING
  const { id } = tool
  if (id !== undefined) hook.attempt('session alias', () => sessions.addAlias(`tool:${id}`, session))
  const process = call.shared ? (call.pid === undefined ? clientProcess() : processRef(call.pid)) : undefined
  if (process) hook.attempt('session alias', () => sessions.addAlias(processAlias(process), session))
  return NOTHING
}
