import type { Category } from './classify.ts'
import { CROSS, TICK } from './markdown.ts'

/** What a heading, or a line that leads to a list, says of the statements below it. */
export interface Meaning {
  /** It forbids them, asks for them, allows them, has both orders and bans, or may forbid them and nobody can tell. */
  readonly bearing?: 'forbids' | 'asks' | 'allows' | 'both' | 'unclear'
  /** They are rules of this category, or tell how things are. */
  readonly promise?: Promised
}

const FORBIDS = [
  /^(?:bad|wrong|incorrect|falsch|плохо)$/i,
  /^(?:(?:things|what|how|you|we|agents?|these|it|is|are|that|to|must) ){0,4}(?:(?:strictly |absolutely )?(?:never|do not|don['’]ts?|must not|avoid|forbidden|banned|prohibited|disallowed|unacceptable|not (?:to|allowed|permitted|acceptable|ok(?:ay)?))|anti-?patterns?|no-?gos?|under no circumstances)\b/i,
  /^(?:(?:things|what|you|we|agents?|that) ){1,3}(?:cannot|can['’]t|can not|may not|may never|should not|shouldn['’]t|must never)\b|^(?:cannot|can['’]t|may not|may never)(?: do)?$/i,
  /\b(?:to avoid|forbidden|prohibited|disallowed|unacceptable|(?:not|never|no longer|(?:is|are)n['’]t) (?:allowed|permitted|acceptable|ok(?:ay)?)(?: to)?|a eviter|(?:zu |bitte )?vermeiden|da evitare)$/i,
  /^(?:(?:está|estrictamente|qué|lo que|o que|à|a) )?(?:no hacer|nunca|jamás|não|jamais|niemals|verboten|nicht (?:erlaubt|gestattet|zulässig)|prohibid[oa]s?|proibid[oa]s?|evit(?:ar|e|a|er|ez)|interdit(?:es?|s)?|ne pas(?: faire)?)(?![\p{L}])/iu,
  /^(?:禁止|严禁|不要|请勿|切勿|避免|不允许|不应|不得|不可以|不准)|禁止(?:事项|事項)?$|(?:てはいけない|やらない)(?:こと|事項)?$/,
  /^(?:(?:\S{1,20}\s)?запре[тщ]|(?:(?:чего|что|это|так делать)\s)?(?:нельзя|никогда|не\s(?!только)))/i,
  /금지(?:\s?(?:사항|목록|행위))?$|(?<=\S)지\s?(?:마(?:라|세요|십시오|시오)?|말(?:아라|아야(?: 할| 하는)?(?: 것| 일)?|\s?것))$/,
]

/** It has a word of those, though it may forbid nothing. */
const MAY_FORBID =
  /^(?:bad|wrong|incorrect|deprecated)\b|\b(?:never|nor?|not|cannot|hardly|rarely|avoid\w*|forbid\w*|banned|prohibit\w*|disallow\w*|unacceptable|no longer|none|nothing|nunca|prohib\w+|proib\w+|evit(?:ar|e|er|ez)|interdi\w+|ne|nicht|kein\w*|verboten|niemals)\b(?! (?:optional|negotiable))|n['’]ts?\b|\b(?:do ?n[o']?ts|dont|discourag\w*|refrain\w*|stay away|steer clear|off.limits|out of bounds|red flags?|stop doing|mistakes?|pitfalls?|anti.?patterns?|vermeid\w*|nie|untersagt|unerwunscht|unzulassig|tabu|vietat\w+|evitare|non fare|mai|divieti|verboden|vermijd\w*|nigdy|zakaz\w*|unikaj|yasak\w*|kacin\w*|undvik|forbjud\w*|eviter|evitez)\b|избега|недопустимо|заборон|避|アンチパターン|非推奨|지양|피해|안티패턴|反模式|红线|別|别|^ng|jamás|jamais|não|不(?![同断仅只管论])|禁|勿|запре[тщ]|нельзя|никогда|(?<![а-яё])не\s|금지|ない/i

/** "Do's and don'ts": each of them says itself which it is. */
const BOTH =
  /\b(?:do(?:['’]?s)?|always|must)\W{1,3}(?:(?:and|or)\W{1,3})?(?:do not|do ?n['’]?ts?|never|must not)\W{0,3}$/i

/** It asks for what stands below it, also where a heading above it forbids: "Do", "Instead", "Better". */
const ASKS =
  /^\W{0,6}(?:(?:always |what to )?do(?:['’]?s)?(?: this)?(?: instead)?|always(?: \w+)?|must(?: do)?|(?:use )?instead|prefer(?:red)?|good|better|correct|right|recommended|solutions?|alternatives?|why|reasons?|rationale|do: .{1,200}|(?:you|agents?|we) (?:may|can)(?: also)?|(?:(?!only|no|never|hardly|rarely|before|after|when|if|until)\w{1,20} ){0,8}(?:allowed|permitted|acceptable|optional|ok(?:ay)?))\W{0,6}$/i
/** Nobody has to do what stands below it. */
const ALLOWS = /\b(?:may|can|allowed|permitted|acceptable|optional|ok(?:ay)?)\b/i
/** A sign before it is a warning. */
const MOMENT = /^(?:before|after|if|unless|until|once|when(?:ever)?(?! \w+ing\b))\b/i

type Promised = Category | 'description'
/** What stands below such headings, the first that holds; a description is also how something is done once. */
const PROMISES: readonly [Promised, RegExp][] = [
  ['description', /^(?:releas|deploy|publish)\w* (?:process|steps)$/],
  ['constraint', /\b(?:constraints?|do not|don['’]ts?|never|forbidden|boundaries|hard rules|non-negotiables?|restrictions?|invariants?|mandatory|must(?: not)?|schranken)\b|约束|禁止|必须|必須|\b(?:no hacer|nunca|niemals|verboten|prohibid\w+)\b|запре[тщ]|нельзя|никогда|금지/],
  ['convention', /\bconventions?\b|^(?:always|must)(?: do)?$|^do\b(?! not)/],
  ['description', /\b(?:commands?|tools?|tooling|tech stack|stack|scripts)\b/],
  ['workflow', /\b(?:workflows?|process|before (?:you )?commit\w*|git|pull requests?)\b/],
  ['convention', /\b(?:style|standards?|naming|formatting|guidelines?|principles|rules|principes|principios|(?:pr|pull request|review) checklist|best practices|regeln|richtlinien|konventionen|arbeitsweise|vorgaben|grundsatze|reglas|convenciones|normas|pautas|buenas practicas|regles|consignes|bonnes pratiques|regras|convencoes|diretrizes|boas praticas|pontos de atencao)\b|规范|规则|原则|约定|規約|方針|ルール|규칙|지침|원칙|правил|требовани|соглашени/],
  ['pattern', /(?<!anti-)\bpatterns?\b/],
  ['description', /\b(?:overview|architecture|structure|layout|background|introduction|about|summary|what is|how (?:it|this) works|features?|stack|components?|modules?|packages?|services?|endpoints?|routes|data (?:flow|models?)|schema|key (?:files?|concepts?)|files|directories|variables|glossary|references?|resources|links|examples?|commands?|scripts|quick ?start|setup|install\w*|getting started|ports|troubleshooting|changelog|status|roadmap|usage|documentation|adding|creating|how to|anti-?patterns?|pitfalls|why|not (?:yet )?(?:implemented|supported)|planned|limitations|current state|challenges)\b/],
] // biome-ignore format: a table

export function meaningOf(heading: string, signs = ''): Meaning {
  const plain = heading.replace(/^[^\p{L}\p{N}]{1,6}/u, '').replace(/[^\p{L}\p{N}]{1,6}$/u, '')
  const words = [
    plain,
    plain
      .normalize('NFD')
      .replace(/[\u0300-\u036F]/g, '')
      .normalize('NFC'),
  ]
  const has = (patterns: readonly RegExp[]) => patterns.some((p) => words.some((w) => p.test(w)))
  const bearing = () => {
    if (has(FORBIDS)) return 'forbids'
    if (ASKS.test(heading)) return ALLOWS.test(heading) ? 'allows' : 'asks'
    if (CROSS.test(signs)) return plain === '' ? 'forbids' : MOMENT.test(plain) ? undefined : 'unclear'
    if (TICK.test(signs)) return 'asks'
    return BOTH.test(heading) ? 'both' : has([MAY_FORBID]) ? 'unclear' : undefined
  }
  return {
    bearing: bearing(),
    promise: PROMISES.find(([what, said]) => said.test(words[what === 'description' ? 0 : 1]!.toLowerCase()))?.[0],
  }
}
