import { isProposedInFile } from '../../model/entity.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { nameOfSession } from '../../work/coordination/labels.ts'
import type { HookReply } from './call.ts'
import { dataLine } from './delivery.ts'
import type { Hook } from './hook.ts'

const MAX_COUNTED = 20

/** Keeps how full the context is, and prints in a line what is at hand: the task, who else is here, what waits. */
export function statusLine(hook: Hook): HookReply {
  const { call, session, sessions, memory } = hook
  const used = call.contextUsed
  const live = sessions.list()
  const info = live.find((s) => s.id === session)
  if (info && used !== undefined) {
    const whole = Math.round(used)
    const contextWindow = call.contextWindow ?? info.data.contextWindow ?? null
    if (info.contextUsed !== whole || memory.env.now() - Number(info.data.contextAt ?? 0) > 60_000)
      hook.attempt('context used', () =>
        sessions.patch(session, { contextUsed: whole, contextAt: memory.env.now(), contextWindow }),
      )
  }
  const { task } = memory.place(session)
  const doing = task === undefined ? undefined : memory.reader.entity(task)?.name
  const others = live.filter((s) => s.id !== session && s.parent === undefined && s.state === 'active')
  const foreign = claimsOf(memory)
    .held()
    .filter((c) => c.session !== session && !c.implicit).length
  const waiting = memory.reader
    .registry()
    .kinds()
    .flatMap((k) => memory.reader.list(k.name, { standing: 'proposed', limit: MAX_COUNTED }))
    .filter((e) => !isProposedInFile(e)).length
  const parts = [
    ...(doing === undefined ? [] : [dataLine(doing, 60)]),
    ...(others.length === 1 ? [`also here: ${dataLine(nameOfSession(others[0]!), 100)}`] : []),
    ...(others.length > 1 ? [`${others.length} others here`] : []),
    ...(foreign > 0 ? [`${foreign} claimed by others`] : []),
    ...(waiting > 0 ? [`${waiting < MAX_COUNTED ? waiting : `${MAX_COUNTED} and more`} to review`] : []),
    ...(used === undefined ? [] : [`context ${Math.round(used)}%`]),
    ...(hook.paused === undefined ? [] : ['capture paused']),
  ]
  return { line: parts.length === 0 ? 'tidemark' : `tidemark: ${parts.join(' · ')}` }
}
