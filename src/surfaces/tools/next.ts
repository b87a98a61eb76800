import { isToDo, type WorkNode, withBelow, workTree } from '../../engine/read/work-tree.ts'
import { problemsOf } from '../../engine/write/batch.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { findWork, oneLine, quoted } from './format.ts'
import { actingAs, defineTool, type Output } from './tool.ts'
import { placeOf, saidElsewhere, workJson } from './work.ts'

const WHY_MAX = 5

export const next = defineTool({
  name: 'next',
  title: 'The next task',
  about:
    'says what to do next. That is the task the session was given, else the oldest open task that nothing blocks and nobody has. A current goal narrows the choice. If there is none, it says why',
  example: 'tidemark next --session s1',
  params: {
    goal: { type: 'text', about: "within this goal (the session's current one; all if it has none)" },
    all: { type: 'flag', about: 'within all goals' },
    claim: {
      type: 'flag',
      about: 'claims it for the session, and makes it the current one: of several that ask at once each gets its own',
    },
  },
  needsSession: (args) => args.claim === true,
  run(context, args): Output | Promise<Output> {
    const { reader } = context.memory
    const place = placeOf(context)
    const goal =
      args.goal !== undefined
        ? findWork(reader, 'goal', args.goal)
        : !args.all && place.goal !== undefined
          ? reader.entity(place.goal)
          : undefined
    const roots = workTree(reader)
    const held = claimsOf(context.memory)
      .held()
      .filter((c) => c.what === 'task')
    const taken = new Set(held.filter((c) => c.session !== context.session).map((c) => c.on))
    const own = new Set(held.filter((c) => c.session === context.session).map((c) => c.on))
    for (const s of sessionsOf(context.memory).list())
      if (s.id !== context.session && s.task !== undefined) taken.add(s.task)
    const todo = (within: readonly WorkNode[]) =>
      within
        .flatMap(withBelow)
        .filter((n) => n.kind === 'task' && isToDo(n) && n.entity.id !== place.task && !taken.has(n.entity.id))
        .sort((a, b) => {
          const mine = Number(own.has(b.entity.id)) - Number(own.has(a.entity.id))
          const free = Number(saidElsewhere(a.entity) !== undefined) - Number(saidElsewhere(b.entity) !== undefined)
          return mine || free || a.entity.created - b.entity.created || (a.entity.id < b.entity.id ? -1 : 1)
        })
    const open = todo(goal ? roots.filter((n) => n.entity.id === goal.id) : roots)
    const found = open.find((n) => n.blockedBy.length === 0)
    if (found && args.claim) {
      try {
        const started = [
          ['claim', { task: found.entity.id }],
          ['start-task', { ref: found.entity.id }],
        ]
        context.memory.act(started, actingAs(context))
      } catch (error) {
        if (!problemsOf(error).some((p) => p.code === 'claimed')) throw error
        return this.run(context, args) // another session was faster: the next one
      }
    }
    if (found) {
      const above = found.parent ? ` (in ${found.parent.kind} ${quoted(found.parent.entity)})` : ''
      const said = saidElsewhere(found.entity)
      return {
        text: `${oneLine(found.entity.name, 200)}${above}${said === undefined ? '' : ` (${said})`}\n  ${args.claim ? `claimed and started: ${found.entity.id}` : `tidemark task start --ref ${found.entity.id}`}`,
        json: { task: workJson(found, place), ...(args.claim && { claimed: true }) },
      }
    }
    const where = goal ? ` in goal ${quoted(goal)}` : ''
    const current = place.task === undefined ? undefined : reader.entity(place.task)
    const why =
      open.length > 0
        ? `every open task${where} is blocked`
        : taken.size > 0
          ? `every open task${where} is in the hands of another session`
          : current
            ? `no other task is open${where}: ${quoted(current)} is the session's current one`
            : `no task is open${where}`
    const lines = [why]
    for (const n of open.slice(0, WHY_MAX)) lines.push(`  ${quoted(n.entity)} by ${n.blockedBy.map(quoted).join(', ')}`)
    if (open.length > WHY_MAX) lines.push(`  … ${open.length - WHY_MAX} more`)
    const elsewhere = goal ? todo(roots).filter((n) => n.blockedBy.length === 0).length : 0
    if (elsewhere > 0) lines.push(`  ${elsewhere} elsewhere: tidemark next --all`)
    return {
      text: lines.join('\n'),
      json: { task: null, why, blocked: open.map((n) => workJson(n, place)), elsewhere },
    }
  },
})
