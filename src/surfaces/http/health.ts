import type { Memory } from '../../engine/memory.ts'
import { gaps, head, known, lineOf } from '../../engine/store/log.ts'
import { ownIdentities } from '../../engine/store/own-lines.ts'
import type { Project } from '../../engine/store/project.ts'
import { hubOf } from '../../engine/store/state.ts'
import { hookSummaries } from '../../session/hooks/doctor.ts'
import { pendingIn } from '../../travel/sync/publish.ts'
import { segmentsIn } from '../../travel/sync/segments.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { checkMemory } from '../cli/doctor-checks.ts'

const iso = (ms: number) => new Date(ms).toISOString()

/** What the page Health shows: what doctor finds in the store, and the figures it reads for that. */
export async function healthOf(memory: Memory, project: Project): Promise<object> {
  const { db } = memory
  const checks: object[] = []
  await checkMemory(memory, project, (check) => checks.push(check), { deep: false })
  checks.push({
    ...{ id: 'store', state: 'off', text: 'whether the store agrees with its log is not looked at here' },
    fix: '`tidemark doctor` compares them, which takes seconds',
  })
  const own = new Set(ownIdentities(db).map((i) => i.replica))
  const missing = Map.groupBy(gaps(db), (g) => g.replica)
  const replicas = [...known(db).keys()].map((replica) => {
    const { seq: lines } = head(db, replica)
    const last = lineOf(db, replica, lines)?.at
    return {
      ...{ replica, lines, isOwn: own.has(replica), missing: missing.get(replica)?.length ?? 0 },
      ...(last === undefined ? {} : { last: iso(last) }),
    }
  })
  const isShared = segmentsIn(project.root).length > 0
  const unsent = isShared ? pendingIn(memory, project.root).lines : []
  const sessions = sessionsOf(memory)
  const told = sessions.list({ all: true }).flatMap((s) => sessions.toldOf(s.id))
  return {
    checks,
    hooks: hookSummaries(project).map(({ last, ...summary }) => ({ ...summary, last: iso(last) })),
    replicas,
    hub: hubOf(project.id, project.storePath)?.url ?? null,
    isShared,
    unsent: { batches: unsent.length, since: unsent[0] ? iso(unsent[0].at) : null },
    told: told.map(({ at, tokens }) => ({ at: iso(at), tokens })),
  }
}
