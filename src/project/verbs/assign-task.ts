import { CLAIM_TTL_MS, HAND, isLive, stateOf } from '../../engine/claims/lease.ts'
import { isOpen } from '../../engine/read/work-tree.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { claimJson, describeHolder, line, liveSession } from './claim-arguments.ts'

export const assignTask = defineVerb({
  name: 'assign-task',
  about:
    'gives a task to a free session of the role, else to any free one, as its claim; never to two. Free is one that lives and has no open task',
  args: {
    task: ref('the task', { required: true, kind: 'task' }),
    role: line('a free session of this role first'),
    to: liveSession('the session, instead of choosing one'),
    note: line('what for'),
  },
  example: { task: 'refresh tokens before they expire', role: 'implementer' },
  plan(p, { task, role, to, note }, report) {
    if (!isOpen(task))
      return report({
        field: 'task',
        message: `"${task.name}" is ${String(task.fields.state)}`,
        received: task.id,
        accepted: 'an open task',
      })
    p.claims.sweep()
    const holder = p.claims.held().find((c) => c.what === 'task' && c.on === task.id)
    if (holder)
      return report({
        field: 'task',
        code: 'claimed',
        message: describeHolder(p, holder),
        received: task.id,
        hint: 'a task is never given to two',
      })
    const { view } = p.claims
    const self = p.ctx.provenance.session
    const busy = new Set(
      p.claims
        .held()
        .filter((c) => c.what === 'task' && isOpen(p.entity(c.on)))
        .map((c) => c.session),
    )
    const others = view
      .sessions()
      .filter((s) => s.id !== self && !s.id.startsWith(HAND) && isLive(stateOf(s, view.now, view.env)))
    const free = others
      .filter((s) => !busy.has(s.id) && !isOpen(p.entity(view.workOf(s.id).at(-1) ?? '')))
      .sort((a, b) => a.started - b.started || (a.id < b.id ? -1 : 1))
    const target = to ?? free.find((s) => role !== undefined && s.role === role) ?? free[0]
    if (!target)
      return report({
        field: 'task',
        message: `no other session is free${others.length > 0 ? ': each has a task in hand' : ''}`,
        received: task.id,
        hint: 'try again when one has finished, or name one: {"to": "…"}; (sessions) in discover shows them',
      })
    const granted = p.claims.grant({
      session: target.id,
      what: 'task',
      on: task.id,
      since: view.now,
      until: view.now + CLAIM_TTL_MS,
      ttl: CLAIM_TTL_MS,
      ...(role === undefined ? {} : { role, status: 'active' }),
      ...(note === undefined ? {} : { note }),
    })
    p.claims.addEvent('assigned', granted, { name: task.name, ...(typeof self === 'string' ? { by: self } : {}) })
    return { id: task.id, kind: 'task', name: task.name, to: target.id, claims: [claimJson(granted)] }
  },
})
