/** What a sentence takes back: "forget the rule about Friday deploys", "use npm from now on, not pnpm". */

import { calledAs } from '../../engine/read/called.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { contentDigest } from '../../engine/replication/vouched.ts'
import { isQuestion } from '../../engine/store/prompts.ts'
import { isStopWord } from '../../engine/store/terms.ts'
import { type Entity, identityOf, isAgreed, standingOf } from '../../model/entity.ts'
import { oneLine } from '../../model/text.ts'
import { actionOf } from '../../travel/formats/import/said-as.ts'
import type { Agreed, Wish } from './ask-person.ts'
import { isForOnce, takenBackIn } from './lasting-words.ts'

const INSTEAD =
  /(?:,? (?:and )?(?:not|no longer|instead of|rather than|statt|nicht mehr|en vez de|en lugar de|ya no|au lieu de|plus de|em vez de|não mais)|^(?:we )?(?:stop|no longer|quit|don['’]t) us(?:e|ing)) ([^\s,;!]{2,40}(?: [^\s,;!]{1,40}){0,2})/iu

const LOOKED_AT = 20
/** What a rule must hold of the words that describe it, from 0 to 1. */
const SHARE = 0.6
/** A rule that already forbids a thing is not replaced by another one that does. */
const FORBIDS = /\b(?:not|never|no longer|don['’]t|nicht|nie|no|nunca|jamais|pas|não)\b/i

const wordsIn = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((w) => w.length > 1 && !isStopWord(w))
/** "deploys" and "deploy" are one word here. */
const isIn = (word: string, words: readonly string[]) =>
  words.some(
    (w) => w === word || (word.length > 3 && (w.startsWith(word.slice(0, -1)) || word.startsWith(w.slice(0, -1)))),
  )

const rulesOn = (reader: Reader, words: string): Entity[] =>
  reader.search(words, LOOKED_AT, ['fact', 'decision']).filter(isAgreed)

const shownAs = (e: Entity) => ({ id: e.id, digest: contentDigest(e) })

/** The rules that a description may mean: the one that is called so, else all that have most of its words. */
function describedBy(reader: Reader, described: string): Entity[] {
  const words = wordsIn(described)
  const share = (e: Entity) => words.filter((w) => isIn(w, wordsIn(calledAs(e)))).length / Math.max(1, words.length)
  const near = rulesOn(reader, described).filter((e) => share(e) >= SHARE)
  const called = near.filter((e) => e.name === described)
  return called.length === 1 ? called : near
}

const MOST_NAMED = 4

/** Said where a sentence takes back one of several rules, and does not say which. */
export function severalMeant(reader: Reader, sentence: string): string | undefined {
  const described = takenBackIn(sentence)
  const meant = described === undefined ? [] : describedBy(reader, described)
  if (meant.length < 2) return undefined
  const named = meant.slice(0, MOST_NAMED).map((e) => `"${oneLine(calledAs(e), 120)}"`)
  const more = meant.length > MOST_NAMED ? ` and ${meant.length - MOST_NAMED} more` : ''
  return `Tidemark: ${named.join(', ')}${more} may be meant. Nothing was ended: say it with the words of one, or \`tidemark retire REF\`.`
}

/** The retirement or replacement that a sentence asks for, where exactly one rule is meant. */
export function wishToEnd(reader: Reader, sentence: string): Wish | undefined {
  const described = takenBackIn(sentence)
  if (described !== undefined) {
    const meant = describedBy(reader, described)
    if (meant.length !== 1) return undefined
    const actions = [['retire', { ref: meant[0]!.id, reason: sentence }] as const]
    return { words: sentence, actions, also: `ends "${calledAs(meant[0]!)}"`, to: shownAs(meant[0]!) }
  }
  const named = INSTEAD.exec(sentence)?.[1]?.split(' ')
  if (named === undefined) return undefined
  const { kind: name, action } = actionOf(sentence)
  const kind = reader.registry().kind(name)
  const id = kind && identityOf(kind, action[1])
  // "use bun, not pnpm" asks for bun
  const asksFor = (e: Entity) => calledAs(e).replace(INSTEAD, ' ')
  const rulesWith = (gone: readonly string[]) =>
    rulesOn(reader, gone.join(' ')).filter(
      (e) =>
        gone.length > 0 && e.id !== id && gone.every((w) => isIn(w, wordsIn(asksFor(e)))) && !FORBIDS.test(asksFor(e)),
    )
  // "go vet" is two words, of "pnpm any more" the first counts
  const meant = [3, 2, 1].map((n) => rulesWith(wordsIn(named.slice(0, n).join(' ')))).find((found) => found.length > 0)
  if (meant?.length !== 1 || id === undefined) return undefined
  const actions = [action, ['supersede', { old: meant[0]!.id, new: id, reason: sentence }] as const]
  return { words: sentence, actions, also: `replaces "${calledAs(meant[0]!)}"`, to: shownAs(meant[0]!) }
}

const MOST_REPLACED = 20

/** A rule that was taken back or replaced is said again: it is back, and what took its place ends. */
export function wishToReturn(reader: Reader, sentence: string): Wish | undefined {
  const { kind: name, action } = actionOf(sentence)
  const kind = reader.registry().kind(name)
  const rule = reader.entity((kind && identityOf(kind, action[1])) ?? '')
  if (!rule?.live || standingOf(rule.fields) !== 'confirmed') return undefined
  const isRetired = rule.fields.retired !== undefined
  const replacing = (id: string) => reader.edges('to', [id], ['supersedes'])
  const links = replacing(rule.id)
  if (!isRetired && links.length === 0) return undefined
  let last = links[0]?.from ?? ''
  for (let n = 0; n < MOST_REPLACED; n++) last = replacing(last)[0]?.from ?? last
  const now = reader.entities([last]).filter((e) => e.id !== rule.id && e.live && isAgreed(e))
  const end = isRetired ? wishToEnd(reader, sentence) : undefined
  const actions = [
    ...(isRetired ? [['restore', { ref: rule.id, reason: sentence }] as const] : []),
    ...now.map((e) => ['retire', { ref: e.id, reason: sentence }] as const),
    ...links.map(({ from, to }) => ['unlink-entities', { from, to, type: 'supersedes' }] as const),
    ...(end?.actions.slice(1) ?? []),
  ]
  const also = [...now.map((e) => `ends "${calledAs(e)}"`), `brings back "${calledAs(rule)}"`, end?.also ?? []].flat()
  const to = now[0] ? shownAs(now[0]) : end?.to
  return { words: sentence, actions, also: also.join(' and '), ...(to && { to }) }
}

const HESITATES =
  '(?:(?:h+m+|oh|uh+|um|oops|ah|ach|sorry|wait|wrong|actually|on second thought|never ?mind|no|nope|nein|doch nicht|non|não|please|bitte|ok(?:ay)?|attends|espera)[,.! ]{1,3}){0,4}'
const UNDO = new RegExp(
  `^${HESITATES}(?:(?:undo|revert|cancel|scratch|scrap|forget|drop) (?:that|it|this)(?: (?:rule|one))?|(?:undo|cancel|scrap|forget|drop|retire|remove|delete) the rule|(?:i )?take (?:that|it|this) back|i(?:[’']ve)? changed my mind|nimm das (?:wieder )?zurück|mach das (?:wieder )?rückgängig|vergiss das|annule ça|oublie ça|deshazlo|deshaz eso|olvídalo|olvida eso|desfaz isso|esquece isso)(?= (?:please|again|now|bitte|stp|s['’]il te|por favor)|[,.;! -]*$|[,.;!] )`,
  'iu',
)
const RETREATS = new RegExp(`^${HESITATES}(?:no|nope|nein|non|não|wait|sorry|actually)(?:[,.! ]|$)`, 'iu')
const STAYS =
  /(?<![\p{L}\p{N}])(?:keep|stay with|stick (?:with|to)|(?:go|switch) back to|bleib\p{L}* bei|(?:garde|reste)\p{L}*(?: sur)?|(?:seguimos|quedamos|sigue) con|(?:ficamos|continuamos) com)\s((?:[^,.;!?]|\.(?=\S)){2,60}?)(?= (?:please|sorry|for|as|instead|and|then|bitte|por)(?!\p{L})|[,;!?]|\.(?!\S)|$)/iu
const FORGETS = new RegExp(`^${HESITATES}(?:forget(?: about)?|vergiss|oublie|olvida|esquece)\\s(.{2,60})$`, 'iu')
/** Beside what is taken back: "I was wrong, sorry". */
const REGRET =
  /^(?:sorry|wrong|mistakes?|nonsense|bad|idea|rules?|please|using|old|stp|plait|favor|quatsch|fehler|falsch|bitte|regel|règle|regla|regra)$/i

/** The prompt behind a yes takes it back: "no, undo that", "sorry, we keep npm", "stay with uv". */
export function wishToTakeBack(reader: Reader, sentences: readonly string[], all: readonly Agreed[]): Wish | undefined {
  const agreed = all.filter(({ batch, actions: [first] }) => batch !== null || first![0] === 'confirm')
  /** The rule that it replaced or ended. */
  const oldOf = ({ to }: Agreed) => [to && reader.entity(to.id)].flatMap((e) => (e ? calledAs(e) : []))
  // what was replaced, in words that what is agreed to has not: "keep X" behind a yes to X agrees
  const now = wordsIn(agreed.map((a) => a.words.replace(INSTEAD, ' ')).join(' '))
  const before = wordsIn(agreed.flatMap(oldOf).join(' ')).filter((w) => !isIn(w, now))
  const isNo = RETREATS.test(sentences[0] ?? '')
  const speaksOf = (said = '', of: readonly string[]) => wordsIn(said).some((w) => isIn(w, of))
  /** Of nothing else: "forget pnpm", and not "forget the pnpm lock file". */
  const isOnly = (said = '', of: readonly string[]) => wordsIn(said).every((w) => isIn(w, of) || REGRET.test(w))
  // "we keep npm", and not "keep the button blue"
  const isStay = (kept = '') =>
    speaksOf(kept, before)
      ? isOnly(kept, [...before, ...now])
      : isNo && kept !== '' && !kept.includes(' ') && !speaksOf(kept, now)
  const isUndo = (s: string) => {
    const undo = UNDO.exec(s)?.[0]
    return undo !== undefined && !isForOnce(s) && isOnly(s.slice(undo.length), [...now, ...before])
  }
  const isForgotten = (s = '') => speaksOf(s, now) && !isForOnce(s) && isOnly(s, now)
  const words = sentences.find(
    (s) => !isQuestion(s) && (isUndo(s) || isStay(STAYS.exec(s)?.[1]) || isForgotten(FORGETS.exec(s)?.[1])),
  )
  if (agreed.length === 0 || words === undefined) return undefined
  // of several rules the one that is named
  const named = agreed.filter((a) => speaksOf(words, wordsIn([a.words, ...oldOf(a)].join(' '))))
  const meant = named.length > 0 ? named : agreed
  const gone = meant.flatMap((a) => [
    ...(a.actions[0]![0] === 'retire' ? [] : [`ends "${a.words}"`]),
    ...oldOf(a).map((old) => `brings back "${old}"`),
  ])
  // what an agent linked to it meanwhile keeps nobody from taking it back
  const actions = meant.map(({ actions: [first], batch }) =>
    first![0] === 'confirm'
      ? (['retire', { ref: first![1].ref, reason: words }] as const)
      : (['undo', { batch: batch!, force: true }] as const),
  )
  const ends = meant.flatMap((a) => a.id ?? [])
  const [rule] = meant.length === 1 ? reader.entities(ends).filter((e) => e.live) : []
  return { words, actions, also: gone.join(' and '), ends, ...(rule && { to: shownAs(rule) }) }
}
