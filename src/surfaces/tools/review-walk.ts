import { markOf } from '../../engine/read/stale.ts'
import { waitingAt, waitingChanges } from '../../engine/replication/waiting.ts'
import { type Entity, standingOf } from '../../model/entity.ts'
import { many } from '../../session/briefing/format.ts'
import { agreeTo, listed, withInstead } from './confirm.ts'
import { contraryAmong, contraryDecisions, contraryRules, saidContrary, settle } from './contradictions.ts'
import { ago } from './format.ts'
import { staleHere, unverifiedRules } from './review-queue.ts'
import { actingAs, type Output, type ToolContext } from './tool.ts'

/** Shows what waits one after another to a person at a terminal, who decides each with a key; first what others want to change. */
export async function walk(context: ToolContext, proposed: readonly Entity[]): Promise<Output> {
  const { memory } = context
  const changed = new Map(waitingChanges(memory.db).all.map(({ entity }) => [entity.id, entity]))
  const waiting = [...changed.values(), ...proposed.filter((e) => !changed.has(e.id))]
  const key = context.key!
  const others = new Set(unverifiedRules(memory).map((e) => e.id))
  const now = memory.env.now()
  /** What was decided, in order, with how to take it back. */
  const done: { verb: 'confirmed' | 'rejected'; ids: string[]; batches: string[]; at: number }[] = []
  let said = ''
  let at = 0
  /** What is left from here on, as it is now: somebody else may have decided meanwhile. */
  const left = () =>
    waiting.slice(at).flatMap((w) => {
      if (done.some((d) => d.ids.includes(w.id))) return []
      const e = memory.reader.entity(w.id)
      if (changed.has(w.id)) return waitingAt(memory.db, w.id).length > 0 ? (e ?? w) : []
      return e?.live && (others.has(e.id) || standingOf(e.fields) === 'proposed') ? e : []
    })
  while (at < waiting.length) {
    const e = left().find((l) => l.id === waiting[at]!.id)
    if (!e) {
      at++
      continue
    }
    const isChange = changed.has(e.id)
    const isOthers = others.has(e.id) && !isChange
    const [pair] = contraryRules(context, [e])
    const help = [
      pair ? 'y yes, in its place, b both stand' : isChange ? 'y take the change' : 'y yes',
      isOthers ? '' : isChange ? 'n keep what holds here' : 'n no',
      'l later',
      'a all',
      done.length > 0 ? 'u undo' : '',
      'q quit',
    ]
    const asked = withInstead(context, [e])
    const head = listed(memory, asked).join('\n')
    const pressed = await key(
      `${said}\n${at + 1} of ${waiting.length}  ${head}  ${ago(e.created, now)}\n${pair ? `${saidContrary(pair)}\n` : ''}${help.filter(Boolean).join(', ')}?`,
      `y${pair ? 'b' : ''}${isOthers ? '' : 'n'}la${done.length > 0 ? 'u' : ''}q`,
    )
    said = ''
    if (pressed === 'q') break
    if (pressed === 'l') at++
    else if (pressed === 'n') {
      const { batch } = memory.act([['reject', { ref: e.id, expectedVersion: e.version }]], actingAs(context))
      done.push({ verb: 'rejected', ids: [e.id], batches: batch === null ? [] : [batch], at: at++ })
    } else if (pressed === 'u') {
      const last = done.pop()!
      for (const batch of last.batches.reverse())
        for (const n of memory.act([['undo', { batch }]], actingAs(context)).notes) said += `note: ${n}\n`
      at = last.at
    } else {
      const rest = pressed === 'a' ? left() : asked
      const whole = `${listed(memory, rest.slice(1)).join('\n')}\ny yes, n no: confirm all ${rest.length}?`
      if (pressed === 'a' && (await key(whole, 'yn')) !== 'y') continue
      const { batches, notes } = agreeTo(memory, rest, actingAs(context))
      if (pair && pressed !== 'a') batches.push(...settle(context, pair, pressed === 'y'))
      said = notes.map((n) => `note: ${n}\n`).join('')
      done.push({ verb: 'confirmed', ids: rest.map((r) => r.id), batches, at })
      at = pressed === 'a' ? waiting.length : at + 1
    }
  }
  let settledPairs = 0
  for (const [newer, older] of at < waiting.length ? [] : contraryAmong(context)) {
    const question = `${said}\nthese two rules bind and contradict each other:\n  1 "${newer.name}" (${newer.id})\n  2 "${older.name}" (${older.id})\n1 the first holds, 2 the second, b both stand, l later, q quit?` // biome-ignore format: a page
    said = ''
    const pressed = await key(question, '12blq')
    if (pressed === 'q') break
    if (pressed === 'l') continue
    settle(context, pressed === '2' ? [older, newer] : [newer, older], pressed !== 'b')
    settledPairs++
  }
  for (const [decision, rule] of at < waiting.length ? [] : contraryDecisions(context)) {
    const question = `${said}\n${saidContrary([decision, rule])}\nd the decision holds: retire the rule, r the rule holds: retire the decision, l later, q quit?`
    said = ''
    const pressed = await key(question, 'drlq')
    if (pressed === 'q') break
    if (pressed === 'l') continue
    const [gone, holds] = pressed === 'd' ? [rule, decision] : [decision, rule]
    memory.act([['retire', { ref: gone.id, reason: `contradicts "${holds.name}"` }]], actingAs(context))
    settledPairs++
  }
  let again = 0
  const stale = at < waiting.length ? [] : staleHere(context)
  for (const [i, s] of stale.entries()) {
    const e = memory.reader.entity(s.id)!
    const pressed = await key(
      `${said}\n${i + 1} of ${stale.length} stale  ${listed(memory, [e])}\n  ${markOf(s)}\ny it still holds, r retire, l later, q quit?`,
      'yrlq',
    )
    said = ''
    if (pressed === 'q') break
    if (pressed === 'l') continue
    const retire = ['retire', { ref: s.id, reason: 'the code has changed' }]
    memory.act([pressed === 'y' ? ['re-anchor', { ref: s.id }] : retire], actingAs(context))
    again++
  }
  const ids = (verb: string) => done.flatMap((d) => (d.verb === verb ? d.ids : []))
  const [confirmed, rejected] = [ids('confirmed'), ids('rejected')]
  const later = waiting.length - confirmed.length - rejected.length
  return {
    text: `${said}${confirmed.length} confirmed, ${rejected.length} rejected, ${many(later, 'thing')} left${settledPairs > 0 ? `, ${many(settledPairs, 'contradiction')} settled` : ''}${stale.length > 0 ? `, ${many(stale.length - again, 'stale thing')} left` : ''}`,
    json: { confirmed, rejected, left: later },
  }
}
