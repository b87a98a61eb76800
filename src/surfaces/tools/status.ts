import { statSync } from 'node:fs'
import { isTracked } from '../../base/git.ts'
import { MAX_LEAD_MS } from '../../engine/log/clock.ts'
import { areAccepted, reviewersNamed } from '../../engine/replication/reviewers.ts'
import { countWaiting } from '../../engine/store/held.ts'
import { gaps } from '../../engine/store/log.ts'
import { ownAhead } from '../../engine/store/own-lines.ts'
import { PROJECT_DIR } from '../../engine/store/project.ts'
import { waitingEndpoints } from '../../find/recall/embedders/consent.ts'
import { costsOf } from '../../session/briefing/costs.ts'
import { many } from '../../session/briefing/format.ts'
import { meterLine, meterOf } from '../../session/hooks/extract/meter.ts'
import { offUntil, pausedSince } from '../../session/hooks/pause.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { titleOfSession } from '../../work/coordination/labels.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { unreadEdits } from '../../work/handoff/views/copies.ts'
import { ago, moment } from './format.ts'
import { unverifiedRules, waitingIn } from './review-queue.ts'
import type { Tool } from './tool.ts'

export const status: Tool = {
  name: 'status',
  title: 'Status',
  about: 'one line on what is alive and known, and when it was last written',
  example: 'tidemark status',
  params: {},
  readOnly: true,
  run({ memory, project, session, local }) {
    const { reader } = memory
    const kinds = new Map(
      reader
        .registry()
        .kinds()
        .map((k) => [k.name, k]),
    )
    const counts = reader.counts().filter((c) => c.kind === 'relationship' || !kinds.get(c.kind)?.internal)
    const entities = counts.filter((c) => c.kind !== 'relationship')
    const links = counts.find((c) => c.kind === 'relationship')?.n ?? 0
    const others = unverifiedRules(memory)
    const toReview = waitingIn(memory, others).length
    const conflicts = reader.conflicts().length
    const last = memory.lastBatch
    const total = entities.reduce((n, c) => n + c.n, 0)
    const top = entities.slice(0, 4).map((c) => `${c.n} ${c.n === 1 ? c.kind : (kinds.get(c.kind)?.plural ?? c.kind)}`)
    const who = (id: string) => titleOfSession(sessionsOf(memory).get(id) ?? { id, seen: 0, data: {} })
    const parts = [
      `${project.name}: ${total} ${total === 1 ? 'entity' : 'entities'}${total > 0 ? ` (${top.join(', ')}${entities.length > 4 ? ', …' : ''})` : ''}, ${links} ${links === 1 ? 'link' : 'links'}`,
    ]
    const live = sessionsOf(memory).list().length
    const claims = claimsOf(memory).held().length
    if (live > 0) parts.push(`${live} ${live === 1 ? 'session' : 'sessions'} live`)
    if (claims > 0) parts.push(`${claims} ${claims === 1 ? 'claim' : 'claims'} held`)
    if (toReview > 0) parts.push(`${toReview} to review`)
    const changes = countWaiting(memory.db)
    if (changes > 0) parts.push(`others want ${many(changes, 'change')}: \`tidemark review\``)
    const unread = unreadEdits(memory, project.root)
    if (unread.length > 0)
      parts.push(
        `${unread.length} hand ${unread.length === 1 ? 'edit' : 'edits'} of a view not read: \`tidemark doctor\` names them`,
      )
    if (conflicts > 0) parts.push(`${conflicts} in conflict`)
    const missing = gaps(memory.db).length
    if (missing > 0)
      parts.push(
        `${many(missing, 'batch', 'batches')} of others ${missing === 1 ? 'is' : 'are'} missing here: \`tidemark doctor\` names them`,
      )
    const ahead = ownAhead(memory.db, memory.env.now() + MAX_LEAD_MS)
    if (ahead)
      parts.push(
        `${many(ahead.lines, 'batch', 'batches')} of this machine dated up to ${new Date(ahead.last).toISOString()}: its clock was wrong; they count as of when they came`,
      )
    const off = offUntil(memory.db, memory.env.now())
    if (off !== undefined)
      parts.push(`off${off === Number.MAX_SAFE_INTEGER ? '' : ` until ${moment(off, local)}`}: \`tidemark on\``)
    const paused = pausedSince(memory.db)
    if (paused !== undefined) parts.push(`capture paused ${ago(paused, memory.env.now())}`)
    const reviewers = reviewersNamed(project.reviewers)
    const names = Object.keys(reviewers).join(', ')
    const isAccepted = areAccepted(memory.db, reviewers)
    if (names !== '')
      parts.push(
        isAccepted
          ? `reviewed by ${names}`
          : `.tidemark/config.json names ${names} as reviewers; they count for nothing until \`tidemark reviewers --accept\``,
      )
    for (const { told, allow } of waitingEndpoints(project)) parts.push(`${told}: \`${allow}\``)
    const meter = meterOf(project, memory.env.now())
    if (meter) parts.push(meterLine(meter))
    parts.push(
      last
        ? `last write ${ago(last.at, memory.env.now())}${last.author.session ? ` by ${who(last.author.session)}` : ''}`
        : 'nothing written yet',
    )
    // what init took from files that the team has does not make it the team's memory
    const isNew = last === undefined || last.author.agent === 'init'
    if (isNew && isTracked(project.root, `${PROJECT_DIR}/config.json`))
      parts.push(
        "nothing has come from others yet: a teammate's `tidemark sync`, committed and pushed, brings what they know with the next pull",
      )
    const told = session === undefined ? undefined : costsOf(memory, session)
    if (told && told.times > 0)
      parts.push(
        `session ${session} was told ${told.times === 1 ? 'once' : `${told.times} times`}, ${told.tokens} tokens`,
      )
    const bytes = statSync(memory.path).size
    return {
      text: parts.join(' · '),
      json: {
        project: { id: project.id, name: project.name, root: project.root },
        entities: total,
        links,
        kinds: Object.fromEntries(entities.map((c) => [c.kind, c.n])),
        sessions: live,
        claims,
        ...(told ? { told: { ...told } } : {}),
        proposed: toReview - others.length,
        toReview,
        waiting: changes,
        conflicts,
        missing,
        reviewers: { named: Object.keys(reviewers), accepted: isAccepted },
        paused: paused === undefined ? null : new Date(paused).toISOString(),
        extraction: meter
          ? { used: meter.tokens, budget: meter.allowed.budget, calls: meter.calls, waiting: meter.waiting }
          : null,
        unreadEdits: unread.map((r) => `${PROJECT_DIR}/${r.aside}`),
        lastWrite: last ? new Date(last.at).toISOString() : null,
        storeBytes: bytes,
      },
    }
  },
}
