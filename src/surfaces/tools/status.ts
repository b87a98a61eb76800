import { statSync } from 'node:fs'
import { isTracked } from '../../base/git.ts'
import { MAX_LEAD_MS } from '../../engine/log/clock.ts'
import { areAccepted, reviewersNamed } from '../../engine/replication/reviewers.ts'
import { countWaiting } from '../../engine/replication/waiting.ts'
import { gaps } from '../../engine/store/log.ts'
import { ownAhead } from '../../engine/store/own-lines.ts'
import { PROJECT_DIR } from '../../engine/store/project.ts'
import { waitingEndpoints } from '../../find/recall/embedders/consent.ts'
import { costsOf } from '../../session/briefing/costs.ts'
import { many } from '../../session/briefing/format.ts'
import { offUntil, pausedSince } from '../../session/hooks/pause.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { titleOfSession } from '../../work/coordination/labels.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { unreadEdits } from '../../work/handoff/views/copies.ts'
import { ago, moment } from './format.ts'
import { unverifiedRules, waitingIn } from './review-queue.ts'
import { defineTool } from './tool.ts'

export const status = defineTool({
  name: 'status',
  title: 'Status',
  about: 'one line on what is alive and known, and when it was last written',
  example: 'tidemark status',
  readOnly: true,
  run({ memory, project, session, local }) {
    const { reader } = memory
    const registry = reader.registry()
    const counts = reader.counts()
    const entities = counts.filter((c) => !registry.kind(c.kind)?.internal)
    const links = counts.find((c) => c.kind === 'relationship')?.n ?? 0
    const others = unverifiedRules(memory)
    const toReview = waitingIn(memory, others).length
    const conflicts = reader.conflicts().length
    const last = memory.lastBatch
    const total = entities.reduce((n, c) => n + c.n, 0)
    const top = entities.slice(0, 4).map((c) => many(c.n, c.kind, registry.kind(c.kind)?.plural ?? c.kind))
    const who = (id: string) => titleOfSession(sessionsOf(memory).get(id) ?? { id, seen: 0, data: {} })
    const now = memory.env.now()
    const live = sessionsOf(memory).list().length
    const claims = claimsOf(memory).held().length
    const changes = countWaiting(memory.db)
    const unread = unreadEdits(memory, project.root)
    const missing = gaps(memory.db).length
    const ahead = ownAhead(memory.db, now + MAX_LEAD_MS)
    const off = offUntil(memory.db, now)
    const paused = pausedSince(memory.db)
    const reviewers = reviewersNamed(project.reviewers)
    const names = Object.keys(reviewers).join(', ')
    const isAccepted = areAccepted(memory.db, reviewers)
    // what init took from files that the team has does not make it the team's memory
    const isNew = last === undefined || last.author.agent === 'init'
    const told = session === undefined ? undefined : costsOf(memory, session)
    const parts = [
      `${project.name}: ${many(total, 'entity', 'entities')}${total > 0 ? ` (${top.join(', ')}${entities.length > 4 ? ', …' : ''})` : ''}, ${many(links, 'link')}`,
      live > 0 && `${many(live, 'session')} live`,
      claims > 0 && `${many(claims, 'claim')} held`,
      toReview > 0 && `${toReview} to review`,
      changes > 0 && `others want ${many(changes, 'change')}: \`tidemark review\``,
      unread.length > 0 && `${many(unread.length, 'hand edit')} of a view not read: \`tidemark doctor\` names them`,
      conflicts > 0 && `${conflicts} in conflict`,
      missing > 0 &&
        `${many(missing, 'batch', 'batches')} of others ${missing === 1 ? 'is' : 'are'} missing here: \`tidemark doctor\` names them`,
      ahead &&
        `${many(ahead.lines, 'batch', 'batches')} of this machine dated up to ${new Date(ahead.last).toISOString()}: its clock was wrong; they count as of when they came`,
      off !== undefined &&
        `off${off === Number.MAX_SAFE_INTEGER ? '' : ` until ${moment(off, local)}`}: \`tidemark on\``,
      paused !== undefined && `capture paused ${ago(paused, now)}`,
      names !== '' &&
        (isAccepted
          ? `reviewed by ${names}`
          : `.tidemark/config.json names ${names} as reviewers; they count for nothing until \`tidemark reviewers --accept\``),
      ...waitingEndpoints(project).map(({ told, allow }) => `${told}: \`${allow}\``),
      last
        ? `last write ${ago(last.at, now)}${last.author.session ? ` by ${who(last.author.session)}` : ''}`
        : 'nothing written yet',
      isNew &&
        isTracked(project.root, `${PROJECT_DIR}/config.json`) &&
        "nothing has come from others yet: a teammate's `tidemark sync`, committed and pushed, brings what they know with the next pull",
      told &&
        told.times > 0 &&
        `session ${session} was told ${told.times === 1 ? 'once' : `${told.times} times`}, ${told.tokens} tokens`,
    ].filter(Boolean)
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
        unreadEdits: unread.map((r) => `${PROJECT_DIR}/${r.aside}`),
        lastWrite: last ? new Date(last.at).toISOString() : null,
        storeBytes: statSync(memory.path).size,
      },
    }
  },
})
