/** The person's yes: what they were asked in this session, in which version, and what they typed after that. */

import { attempt, unlessRefused } from '../../base/errors.ts'
import { calledAs } from '../../engine/read/called.ts'
import { shortRefs } from '../../engine/read/short-references.ts'
import { contentDigest } from '../../engine/replication/vouched.ts'
import { type Prompts, wordsOf } from '../../engine/store/prompts.ts'
import { sha256 } from '../../model/digest.ts'
import { type Entity, isAgreed, provenanceOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import { COMMAND_LINE, markOfAgent } from '../../work/coordination/caller.ts'
import { factsOf } from '../../work/coordination/clients.ts'
import type { HookReply } from './call.ts'
import { dataLine } from './delivery.ts'
import { type Hook, joined } from './hook.ts'
import { openPrompts, PROMPTS_MS, quoteOf } from './kept-prompts.ts'

interface Question {
  readonly id: string
  readonly ref: string
  readonly digest: string
  /** After so many prompts it was asked: a bare answer in the next one may be meant for it. Below 0: or for what the agent asked. */
  readonly after: number
  /** What a yes carries out, where nothing was written yet. */
  readonly wish?: Wish
}

/** What the person said, as the actions that would keep it. Nothing is written before the yes. */
export interface Wish {
  readonly words: string
  readonly actions: readonly (readonly [verb: string, args: { readonly [field: string]: Json | undefined }])[]
  /** What it does beside recording the sentence, in words: `replaces "…"`; and to what, as that was shown. */
  readonly also?: string
  readonly to?: { readonly id: string; readonly digest: string }
  readonly prompt?: number
  /** What is over then, also where another session has said yes to it as well. */
  readonly ends?: readonly string[]
}

/** What a yes carried out, in which prompt it came, and the rule that it recorded. */
export type Agreed = Wish & { readonly at: number; readonly batch: string | null; readonly id?: string }

/** What clients show of one message is cut behind this; a yes to words that were cut off would be none. */
const SHOWN = 420
const MAX_OPEN = 30

function kept<T>(hook: Hook, what: 'questions' | 'agreed'): T[] {
  const all = hook.kept(what)
  return Array.isArray(all) ? all.filter(isObject).map((q) => q as unknown as T) : []
}
const open = (hook: Hook) => kept<Question>(hook, 'questions')

/** The prompts that a session's open questions are about. */
export const askedFor = (questions: Json | undefined): ReadonlySet<unknown> =>
  new Set((Array.isArray(questions) ? questions : []).flatMap((q) => (q as unknown as Question)?.wish?.prompt ?? []))

const keep = (hook: Hook, questions: readonly Question[]): void =>
  hook.sessions.patch(hook.session, { questions: questions.slice(-MAX_OPEN) as unknown as Json })

const prompts = (hook: Hook): number => Number(hook.kept('prompts') ?? 0)

/** What the prompt before this one agreed to. */
export const agreedJustNow = (hook: Hook): Agreed[] =>
  kept<Agreed>(hook, 'agreed').filter((a) => a.at === prompts(hook) - 1 && a.actions[0]![0] !== 'undo')

function keepAgreed(hook: Hook, wish: Wish, batch: string | null, id?: string): void {
  const agreed: Agreed[] = [...kept<Agreed>(hook, 'agreed'), { ...wish, at: prompts(hook), batch, ...(id && { id }) }]
  hook.sessions.patch(hook.session, { agreed: agreed.slice(-MAX_OPEN) as unknown as Json })
}

interface Asked extends Pick<Question, 'id' | 'digest' | 'wish'> {
  readonly whole: string
  /** The person's words that it rests on, where it says something else. */
  readonly from?: string | undefined
}

function fromOf(prompts: Prompts | undefined, e: Entity): string | undefined {
  const quote = attempt(() => quoteOf(prompts, e))
  return quote === undefined || wordsOf(quote) === wordsOf(calledAs(e)) ? undefined : `you said: "${quote}"`
}

const waits = (e: Entity | undefined): e is Entity => e?.live === true && e.fields.standing === 'proposed'

/** Asks the person on one line about what is proposed. Only what the client shows whole is asked. `beyond`: so many wishes have no place in it. */
export function askAbout(hook: Hook, ids: readonly string[], wishes: readonly Wish[] = [], beyond = 0) {
  if (hook.call.silent === true || hook.session === '') return undefined
  const proposed = hook.memory.reader.entities([...new Set(ids)]).filter(waits)
  using typed = proposed.length > 0 ? openPrompts(hook.project, { wait: PROMPTS_MS }) : undefined
  const asks: Asked[] = [
    ...proposed.map((e) => ({
      id: e.id,
      whole: `${calledAs(e, hook.memory)}${Array.isArray(e.fields.paths) ? ` (for ${e.fields.paths.join(', ')})` : ''}`,
      digest: contentDigest(e),
      from: fromOf(typed, e),
    })),
    ...wishes.map((wish) => ({ id: `said:${sha256(wish.words).slice(0, 16)}`, whole: wish.words, digest: '', wish })),
  ]
  if (asks.length === 0) return undefined
  const now = asks.map((e) => e.id)
  // an answer names one of this session's questions
  const refs = shortRefs(now, [...new Set([...open(hook).map((q) => q.id), ...now])])
  const asked: { e: Asked; ref: string; said: string }[] = []
  let left = SHOWN
  for (const e of asks) {
    const ref = refs.get(e.id)!.slice(1)
    const more = e.wish?.also ?? e.from
    const words = `"${dataLine(e.whole, SHOWN)}"${more ? ` (${dataLine(more, SHOWN)})` : ''}`
    const said = asks.length === 1 ? words : `${words} (${ref})`
    if (e.whole.length > SHOWN || said.length > left) continue
    left -= said.length
    asked.push({ e, ref, said })
  }
  const more = proposed.length - asked.filter(({ e }) => !e.wish).length
  const unsaid = wishes.length - asked.filter(({ e }) => e.wish).length + beyond
  // what nobody has written is not there to be confirmed
  const rest = `${more > 0 ? ` ${more} more: tidemark confirm` : ''}${unsaid > 0 ? ` ${unsaid} more: say it again, alone` : ''}`
  if (asked.length === 0) return `Tidemark noted what is too long to ask here.${rest}`
  const after = prompts(hook)
  const fresh = asked.map(({ e: { whole: _, from: _from, ...e }, ref }) => ({ ...e, ref, after }))
  const earlier = open(hook).filter((q) => !fresh.some((f) => f.id === q.id))
  keep(hook, [...earlier, ...fresh])
  const isOnly = asked.length === 1 && !earlier.some((q) => q.after === after)
  const ref = asked[0]!.ref
  const how = isOnly ? `Answer yes or no (or: yes ${ref})` : `Answer such as: yes ${ref}, no ${asked.at(-1)!.ref}`
  return `Tidemark noted: ${asked.map((a) => a.said).join(', ')} — confirm? ${how}.${rest}`
}

/** The agent has asked something of its own: a bare yes may be meant for that. */
export function agentAsked(hook: Hook): void {
  const questions = open(hook)
  const outside = (text: string, sign: string): string => {
    const parts = text.split(sign)
    return parts.filter((_, i) => i % 2 === 0 || i === parts.length - 1).join(' ') // one that is not closed is none
  }
  const said = outside(outside(hook.call.said ?? '', '```'), '`')
  if (/[？¿]|\?(?![\w:[(=]|\.\w)/.test(said) && questions.some((q) => q.after === prompts(hook)))
    keep(hook, questions.map((q) => ({ ...q, after: -Math.abs(q.after) }))) // biome-ignore format: a row
}

const YES = 'yes|yep|yeah|y|ja|jawohl|oui|s[ií]|sim|是的?|好的?|对|はい|ええ'
const NO = 'no|nope|n|nein|non|n[ãa]o|不是?|不要|否|いいえ'
const SAID = new RegExp(`^(?:(?<yes>${YES})|(?<no>${NO}))(?![\\p{L}\\p{N}])`, 'iu')
const SAID_LAST = new RegExp(`(?:^|[^\\p{L}\\p{N}])(?:(?<yes>${YES})|(?<no>${NO}))$`, 'iu')
const FILLER =
  /^(?:please|confirm|to|for|of|them|thanks?|thx|you|bitte|danke|zu|für|and|und|et|y|e|och|s'il|te|plait|merci|pour|aux|à|por|para|a|favor|gracias|obrigad[oa]|las|los|as|os)$/i

const BOTH = /(?<!\p{L})(?:both|beide[sn]?|deux|ambos|ambas|dos|duas)(?!\p{L})/iu
/** Everything that was asked just now. */
const ALL = /^(?:both|all|everything|beide[sn]?|alle[ms]?|les|deux|tous|toutes|ambos|ambas|dos|duas|todos|todas)$/i

export type Answer = Readonly<{ yes: boolean; refs: readonly string[] }>

/** What a prompt answers, at its very beginning. Quotes, later sentences and questions are no answers. */
export function answersIn(prompt: string): Answer[] {
  const text = prompt.trim()
  const answers: Answer[] = []
  let at = 0
  for (const m of `${text}\n`.matchAll(/[.,;!?。，、！？；\n]|:(?=\s)/g)) {
    const clause = text.slice(at, m.index).trim()
    at = m.index + 1
    // "y" is a yes, and joins two
    const said = answers.length > 0 && FILLER.test(clause) ? null : (SAID.exec(clause) ?? SAID_LAST.exec(clause))
    const words = (said ? clause.replace(said[0], ' ') : clause).split(/\s+/).filter((w) => w !== '' && !FILLER.test(w))
    if (!said && words.length === 0) continue
    if (m[0] === '?' || m[0] === '？') return []
    const last = answers.at(-1)
    const yes = said?.groups ? said.groups.yes !== undefined : last?.yes
    const areRefs = words.every((w) => ALL.test(w) || /^#?[a-f][0-9a-f]{2,14}$|^[a-z-]+:\S+$/i.test(w))
    const goesOn = text.slice(at).split(/[\s.,!]+/).some((w) => !FILLER.test(w) && !ALL.test(w) && /[\p{L}\p{N}]/u.test(w)) // biome-ignore format: a row
    if (yes === undefined || !areRefs || (words.length === 0 && goesOn)) break
    if (last?.refs.length === 0 && words.length > 0) answers.pop() // "yes, both"
    answers.push({ yes, refs: words.map((w) => (ALL.test(w) ? 'all' : w.replace(/^#/, '').toLowerCase())) })
  }
  return answers
}

/** Whether a person or a program of theirs sent this prompt: no agent runs the hook in its shell, or the client below another one. */
export function isOfPerson({ call, session, sessions }: Hook): boolean {
  if (call.parent !== undefined || markOfAgent(factsOf(call.client)?.hookVariables) !== undefined) return false
  const { TIDEMARK_SESSION: named, CLAUDE_CODE_EXECPATH: inShell } = process.env
  const { client = COMMAND_LINE } = (named && sessions.get(sessions.resolve(named))) || {}
  if (client !== COMMAND_LINE || inShell) return false
  let own = sessions.get(session)?.process?.pid
  return (
    sessions.ofClient(({ client = COMMAND_LINE }, pid) => client !== COMMAND_LINE && pid !== (own ??= pid)) ===
    undefined
  )
}

export const isTyped = (hook: Hook): boolean =>
  (hook.call.source === undefined || hook.call.source === 'user') &&
  process.env.CLAUDE_CODE_SESSION_ATTENDED !== '0' &&
  isOfPerson(hook)

/** Carries out the person's answer. What has changed since it was shown is asked again. */
export function answered(hook: Hook, prompt: string): HookReply {
  const questions = open(hook)
  const said = answersIn(prompt)
  if (questions.length === 0 && said.every((a) => a.refs.length === 0)) return {}
  const lately = questions.filter((q) => Math.abs(q.after) === prompts(hook) - 1)
  const bare = lately.filter((q) => q.after >= 0)
  const answers = isTyped(hook) ? said : []
  const messages: string[] = []
  const done = new Set<string>()
  const again: string[] = []
  let isUnclear = false
  for (const { yes, refs } of answers) {
    const named = questions.filter((q) => refs.includes(q.ref) || refs.includes(q.id))
    const meant = refs.length === 0 || refs.includes('all') ? bare : named
    if (refs.length === 0 && meant.length > 1) {
      isUnclear = true
      messages.push(`Tidemark asked more than one thing: say which, such as: yes ${meant[0]!.ref}`)
    }
    if (refs.length === 0 && meant.length !== 1) continue
    if (refs[0] === 'all' && meant.length === 1 && BOTH.test(prompt.slice(0, 80)))
      messages.push('Tidemark asked only one thing: say the other again, alone')
    for (const q of meant) {
      done.add(q.id)
      if (q.wish) {
        messages.push(grant(hook, q.wish, yes))
        continue
      }
      const e = hook.memory.reader.entity(q.id)
      if (!waits(e)) continue
      if (yes && contentDigest(e) !== q.digest) {
        again.push(q.id)
        continue
      }
      messages.push(decide(hook, e, yes))
    }
  }
  const [first] = lately
  if (messages.length === 0 && done.size === 0 && first && isTyped(hook) && SAID.test(prompt.trim())) {
    isUnclear = true
    messages.push(
      `Tidemark did not take this for an answer: say yes ${first.ref}, or no ${first.ref}, alone or with a full stop behind it`,
    )
  }
  const [unasked] = answers
    .flatMap((a) => a.refs)
    .filter((ref) => !questions.some((q) => q.ref === ref || q.id === ref) && isReference(hook, ref))
  if (unasked !== undefined)
    messages.push(`Tidemark has no open question ${unasked} in this session: say it again, or see \`tidemark review\``)
  const left = questions.filter((q) => !done.has(q.id))
  // who is told so may answer with the next prompt
  const now = (q: Question) => ({ ...q, after: prompts(hook) * (q.after < 0 ? -1 : 1) })
  if (isUnclear)
    keep(hook, left.map((q) => (lately.includes(q) ? now(q) : q))) // biome-ignore format: a row
  else if (done.size > 0) keep(hook, left)
  const asked = again.length > 0 ? askAbout(hook, again) : undefined
  const changed = asked && `It was changed after it was shown. ${asked}`
  return { visible: joined(...messages, changed), context: done.size > 0 ? joined(...messages) : undefined }
}

/** "no bad" and "no http://a.b" speak of something else. */
const isReference = ({ memory }: Hook, ref: string): boolean =>
  ref.includes(':') ? memory.registry().kind(ref.split(':')[0]!) !== undefined : /\d/.test(ref)

/** As the person: the prompt was witnessed here, and the version is the one that was shown. */
function decide(hook: Hook, e: Entity, yes: boolean): string {
  const { memory, call, session } = hook
  const action = [yes ? 'confirm' : 'reject', { ref: e.id, expectedVersion: e.version }] as const
  const carryOut = () => {
    const { batch } = memory.act([action], { by: 'person', agent: call.client, session })
    if (yes && e.kind !== 'proposal') keepAgreed(hook, { words: calledAs(e, memory), actions: [action] }, batch)
    return `Tidemark: the user ${yes ? 'confirmed' : 'rejected'} "${dataLine(calledAs(e, memory), SHOWN)}" (${e.id})`
  }
  return unlessRefused(carryOut, (why) => `Tidemark could not ${yes ? 'confirm' : 'reject'} ${e.id}: ${why.message}`)
}

/** Keeps what the person said, in their words and by their yes; or never asks about it again. */
function grant(hook: Hook, wish: Wish, yes: boolean): string {
  const { memory, call, session, project } = hook
  const { words, actions, prompt, also, to, ends = [] } = wish
  const shown = `"${dataLine(words, SHOWN)}"`
  using prompts = openPrompts(project, { wait: PROMPTS_MS })
  if (!yes) {
    const isKept = hook.attempt('refused', () => prompts?.refuse(words, memory.env.now()) ?? true)
    if (prompt !== undefined) hook.attempt('used', () => prompts?.show([prompt], memory.env.now()))
    return `Tidemark: the user said no to ${shown}. Nothing was recorded or changed${isKept ? '' : '; it may be asked again'}`
  }
  const now = to && memory.reader.entity(to.id)
  if (to && (!now?.live || contentDigest(now) !== to.digest))
    return `Tidemark: "${dataLine(now ? calledAs(now) : to.id, SHOWN)}" was changed after you were asked, so nothing was done. Say it again.`
  const carryOut = () => {
    const by = { by: 'person', agent: call.client, session, source: 'prompt' } as const
    const done = memory.act(actions, by)
    const still = memory.reader.entities(ends).filter((e) => e.live && isAgreed(e))
    const replaced = memory.reader.edges('from', still.map((e) => e.id), ['supersedes']) // biome-ignore format: a row
    const over = [
      ...still.map((e) => ['retire', { ref: e.id, reason: words }]),
      ...replaced.map(({ from, to }) => ['unlink-entities', { from, to, type: 'supersedes' }]),
    ]
    if (over.length > 0) memory.act(over, by)
    const { kind = '', id = '' } = done.results[0]!
    const isNew = actions[0]![0].startsWith('record-')
    hook.attempt('used', () => {
      if (prompt !== undefined) prompts?.show([prompt], memory.env.now())
      keepAgreed(hook, wish, done.batch, isNew ? id : undefined)
      // what the agent made of the same words was not shown
      for (const e of restsOn(hook, [wish])) if (e.id !== id) leaveOut(hook, e.id)
    })
    if (!isNew) return `Tidemark: the user agreed. This ${also}${id && ` (${id})`}`
    return `Tidemark: the user agreed. Recorded: ${kind} ${shown} (${id})${also ? `. This ${also}` : ''}`
  }
  return unlessRefused(carryOut, (why) => `Tidemark could not do it, and nothing was changed: ${shown}: ${why.message}`)
}

const leaveOut = ({ memory, session }: Hook, ref: string) =>
  memory.act([['reject', { ref, reason: 'kept in the words of the user' }]], { by: 'person', session })

/** What this session's agents made of these words: of the prompt that said them, as an earlier one may have said the opposite. */
function restsOn({ memory: { reader }, project, session }: Hook, wishes: readonly Wish[]): Entity[] {
  if (wishes.length === 0) return []
  using prompts = openPrompts(project, { wait: PROMPTS_MS })
  return reader.list('fact', { standing: 'proposed' }).filter((e) => {
    const by = provenanceOf(e).findLast((p) => p.said !== undefined)
    const quote = provenanceOf(e).some((p) => p.session === session) ? quoteOf(prompts, e) : undefined
    const says = ({ words, prompt }: Wish) => wordsOf(words).includes(wordsOf(quote!)) && `${by!.said}`.startsWith(`${prompt}:`) // biome-ignore format: a row
    return quote !== undefined && wishes.some(says)
  })
}

/** What this session's agents have proposed since the last prompt in the person's own words, to be asked about. */
export function proposedSince(hook: Hook): string[] {
  const { memory, session } = hook
  const since = hook.kept('asksSince')
  if (typeof since !== 'number') return []
  const asked = new Set(open(hook).map((q) => q.id))
  const own = (id: string | undefined) => id === session || id?.startsWith(`${session}/`) === true
  const ids = memory
    .newsSince(since)
    .flatMap((n) => (!n.presence && own(n.author.session) ? n.events.map((e) => e.event.entity) : []))
  const registry = memory.registry()
  const asks = (e: Entity) =>
    e.kind === 'proposal' ||
    (registry.kind(e.kind)?.binding === true && provenanceOf(e).some((p) => p.said !== undefined))
  const sameWords = new Set(restsOn(hook, open(hook).flatMap((q) => q.wish ?? [])).map((e) => e.id)) // biome-ignore format: a row
  const settled = new Set(restsOn(hook, kept(hook, 'agreed')).map((e) => e.id))
  for (const id of settled) leaveOut(hook, id)
  return [...new Set(ids)].filter((id) => {
    const e = asked.has(id) || sameWords.has(id) || settled.has(id) ? undefined : memory.reader.entity(id)
    return waits(e) && asks(e)
  })
}
