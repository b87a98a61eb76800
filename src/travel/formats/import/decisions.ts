import { basename, dirname, relative } from 'node:path'
import { firstCommitted } from '../../../base/run-git.ts'
import { type FrontMatter, frontMatterOf, listIn, textIn } from '../../../model/markdown.ts'
import { foldName } from '../../../model/names.ts'
import { defined, type JsonObject } from '../../../model/object.ts'
import { toTime } from '../../../model/validate.ts'
import { plainLine } from './classify.ts'
import { sectionsOf } from './docs.ts'
import { unlessNone } from './json-values.ts'
import { type Page, pagesAt } from './pages.ts'
import type { Importer, Item, Unplaced } from './types.ts'

/** `2026-05-03: Title`, `2026-05-03 — Title`, and both with brackets around the day. */
const DATED = /^\[?(\d{4}-\d\d-\d\d)\]?\s{0,4}[:–—-]?\s{1,4}(\S.*)$/
/** `1. Record decisions`, `ADR-0001: Record decisions`, `[ADR 1] Record decisions`. */
const NUMBERED = /^\[?(?:ADR[- ]?)?\d{1,6}\]?\s{0,4}[.:–—-]\s{0,4}(\S.*)$/i
const KEPT = {
  status:
    /^[ \t*_|-]{0,8}(?:status|statut|estado|ステータス|状态|状態|статус)[*_]{0,3}[ \t]{0,8}[:|：][ \t*_]{0,8}(\S.*)$/imu,
  date: /^[ \t*_|-]{0,8}(?:date|datum|fecha|data|日付|日期)[*_]{0,3}[ \t]{0,8}[:|：][ \t*_]{0,8}(\S.*)$/gimu,
}
/** What a status says, by how its first known word begins. */
const STANDINGS = {
  rejected:
    /^(?:reject|declin|denied|withdrawn|abandon|discard|abgelehnt|verworf|rejet|refus|rechazad|rejeitad|recusad|odrzuc|отклон|却下|不採用|拒绝|已拒绝|被拒绝|否决|거부)/iu,
  proposed:
    /^(?:propos|draft|review|pending|await|open|rfc|hold|defer|postpon|wip|vorgeschlag|entwurf|propuest|borrador|rascunho|brouillon|zapropon|предлож|提案|検討|提议|草案|제안)/iu,
  deprecated:
    /^(?:deprecat|depreciat|obsol|outdat|retired|veraltet|déprécié|depreciad|przestarz|устар|廃止|非推奨|废弃|已废弃|弃用|폐기)/iu,
  superseded:
    /^(?:superseded|replaced|ersetzt|abgelöst|remplacé|reemplazad|sustituid|substituíd|zastąpion|заменен|置換|被取代|已被取代|대체)/iu,
  accepted:
    /^(?:accepted|approved|adopted|agreed|confirmed|ratified|active|decided|implemented|done|completed?|akzept|angenomm|beschlossen|umgesetzt|validé|aceptad|aprobad|aceit|aprovad|przyj|zaakcept|принят|承認|採用|已接受|接受|采纳|已采纳|批准|已批准|승인|채택)/iu,
}
/** What turns a status round: nobody knows then where the record stands. */
const NEGATED = /^(?:not|no|never|against|be|needs?|partially|partly|nicht|kein|pas|non|não|nie|не)$/iu
/** A page of many decisions, which may have numbers in place of days: `3. Sell tea`. */
const COUNTED = /^(?:(?:ADR[- ]?)?\d{1,4}[.:]|ADR[- ]?\d{1,4}\s[–—-])\s+(\S.*)$/i
const LOG = /^(?:architecture[-_ ])?decisions?(?:[-_ ]log)?\.(?:md|markdown)$/i
/** What a folder of records has beside them. */
const NO_RECORD = /^(?:readme|index|(?:.{0,60}[-_.])?template)\.(?:md|markdown|rst)$/i
const CONSEQUENCES =
  /^(?:(?:positive |negative )?consequences|konsequenzen|folgen|conséquences|consecuencias|consequências|konsekwencje|последствия|結果|影響|后果|影响|결과)$/iu
const STATUS = /^(?:status|statut|estado|ステータス|状态|状態|статус|상태)$/iu
const CONTEXT = /^(?:context|kontext|contexte|contexto|kontekst|контекст|背景|コンテキスト|上下文|배경)/iu
const WHY = /^(?:problem|motivation|background)\b/i
const DRIVERS = /^(?:decision drivers|drivers|forces)$/i
const OPTIONS = /^(?:considered )?(?:options|alternatives)(?: considered)?$/i
const OPTION = /^(?:[-*+]|\d+[.)])\s+(\S.*)$/gm

export const decisions: Importer = {
  name: 'decisions',
  about:
    'a log with `## 2026-05-03: Title`, or a folder of decision records (MADR, Nygard): decisions with status, date and what they supersede',
  linksNames: true,
  read(path, root) {
    const { pages, unplaced, rest } = pagesAt(path, root, ['.md', '.markdown', '.rst'])
    const items: Item[] = []
    const links: Item[] = []
    const byFile = new Map(pages.map((page) => [basename(page.label), `adr ${page.label}`]))
    const named = new Set<string>()
    for (const page of pages) {
      const found = logOf(page)
      if (found.length > 0) items.push(...found)
      else {
        const isLog = LOG.test(basename(page.label)) && !/^## status\b/im.test(page.text)
        const record = isLog || NO_RECORD.test(basename(page.label)) ? [] : recordOf(page, byFile, unplaced)
        const why = 'neither a dated section nor a decision with status'
        if (record.length === 0) unplaced.push({ where: page.label, what: 'the page', why })
        items.push(...record.slice(0, 1).map((item) => withOwnName(item, named)))
        links.push(...record.slice(1))
      }
    }
    // a record without a day is as old as its page
    const isDayless = ({ args }: Item) => args.validFrom === undefined
    const days = items.some(isDayless) ? firstCommitted(root, relative(root, path) || '.') : undefined
    const dated = items.map((item) =>
      isDayless(item) ? { ...item, args: { ...item.args, validFrom: days?.get(item.where) } } : item,
    )
    const counts = { pages: pages.length, decisions: items.length }
    const read = pages.filter((page) => items.some((item) => item.as === `adr ${page.label}`))
    links.push(...read.flatMap((page) => mentions(page, read, links)))
    return { items: [...dated, ...links], unplaced, counts, ...rest }
  },
}

/** The number of a record in the name of its file; a day is none. */
const numberIn = (label: string): string | undefined =>
  /^(?:adr[-_]?)?0*(\d{1,5})(?!\d|-\d\d-\d\d)/i.exec(basename(label))?.[1]

/** Links to the records that a record names by their files, or by a number that one file of its folder has, but for those that it replaces. */
const mentions = ({ label, text }: Page, all: readonly Page[], links: readonly Item[]): Item[] => {
  const numbers = new Set([...text.matchAll(/\bADR[- #]?0*(\d{1,5})(?!\d)/gi)].map((m) => m[1]))
  const beside = all.filter((other) => dirname(other.label) === dirname(label))
  const numbered = Map.groupBy(beside, (other) => numberIn(other.label))
  return all.flatMap((other): Item[] => {
    if (other.label === label) return []
    const number = numberIn(other.label)
    const sameNumber = numbered.get(number) ?? []
    const isNumbered = number !== undefined && numbers.has(number) && sameNumber.length === 1 && sameNumber[0] === other
    const isNamed = text
      .split(basename(other.label))
      .some((before, i, all) => i < all.length - 1 && !/[\w.-]$/.test(before))
    const [as, named] = [`adr ${label}`, `adr ${other.label}`]
    const isLinked = () => links.some(({ args }) => [args.old, args.new].every((end) => end === as || end === named))
    if (!(isNamed || isNumbered) || isLinked()) return []
    return [{ verb: 'link-entities', args: { from: named, to: as, type: 'informs' }, where: label }]
  })
}

/** Of two records with one title the later one has its file in its name. */
function withOwnName(item: Item, named: Set<string>): Item {
  const title = String(item.args.name)
  const file = basename(item.where).replace(/\.\w+$/, '')
  const name = [title, `${title} (${file})`].find((n) => !named.has(foldName(n))) ?? `${title} (${item.where})`
  named.add(foldName(name))
  return { ...item, args: { ...item.args, name } }
}

/** The dated sections of a log: the first paragraph is what was decided, the rest why. */
function logOf({ label, text }: Page): Item[] {
  const own = sectionsOf(frontMatterOf(text).body, label.endsWith('.rst')).filter(
    (p) => !isDated(p) && p.title.includes(' › '),
  )
  if (under(own, STATUS, DECISION) !== undefined) return [] // one record: what is dated are its amendments
  const all = sectionsOf(text).map((section) => ({ ...section, heading: section.title.split(' › ').at(-1)! }))
  const isCounted = LOG.test(basename(label)) && !all.some(({ heading }) => DATED.test(heading))
  return all.flatMap(({ heading, ...section }): Item[] => {
    const [, day, dated] = DATED.exec(heading) ?? []
    const name = isCounted ? COUNTED.exec(heading)?.[1] : dated
    if (name === undefined || (day !== undefined && toTime(day) === undefined)) return []
    const where = `${label}:${section.line}`
    const [description, ...why] = section.text
      .split(/\n\s*\n/)
      .map((p) => p.trim())
      .filter(Boolean)
    const said = why.join('\n\n').replace(/^\*\*(?:why|rationale|because|reason)[.:]?\*\*[.:]?\s*/i, '')
    const rationale = said || undefined
    const args = { name: plainLine(name), description, rationale, validFrom: day, locations: [where] }
    return [{ verb: 'record-decision', args, where }]
  })
}

type Part = Readonly<{ title: string; text: string }>

const DECISION = /^decision(?: outcome)?$/i
/** Other words for it, the nearest first. */
const DECIDED = [
  /^(?:decisions?\b(?! (?:maker|driver))|entscheidung|beschluss|décision|decisión|decisão|decyzja|решение|決定|决定|决策|결정)/iu,
  /^(?:resolution|outcome)\b/i,
  /^(?:proposal|solution)\b/i,
]
const isDated = ({ title }: Part) => title.split(' › ').some((heading) => DATED.test(heading))

/** The heading right below that of the options. */
const belowOptions = (title: string): string[] => {
  const headings = title.split(' › ')
  const at = headings.findIndex((heading) => OPTIONS.test(heading))
  return at < 0 ? [] : headings.slice(at + 1, at + 2).map(plainLine)
}

/** The text of the sections that are called so, each with the headings between. */
function under(parts: readonly Part[], ...names: readonly RegExp[]): string | undefined {
  for (const name of names) {
    const found = parts.flatMap(({ title, text }) => {
      const headings = title.split(' › ')
      const at = headings.findIndex((heading) => name.test(heading))
      return at < 0 ? [] : [{ own: headings[at], below: headings.slice(at + 1), text }]
    })
    const isOne = new Set(found.map((f) => f.own)).size === 1
    const said = found.map(({ own, below, text }) => [...(isOne ? [] : [own]), ...below, text].join(':\n'))
    if (said.length > 0) return said.join('\n\n')
  }
  return undefined
}

/** One record: the decision, and after it its links to others. */
function recordOf(page: Page, byFile: ReadonlyMap<string, string>, unplaced: Unplaced[]): Item[] {
  const { label } = page
  const front = frontMatterOf(page.text)
  const all = sectionsOf(front.body, label.endsWith('.rst'))
  const parts = all.filter((p) => !isDated(p))
  const told = (p: Part) => `${p.title.split(' › ').at(-1)!.replace(/:$/, '')}: ${p.text}`
  const amended = all.filter(isDated).map(told)
  const title = textIn(front, 'title') ?? parts.find((p) => p.title !== '')?.title.split(' › ')[0] ?? ''
  const name = plainLine((NUMBERED.exec(title)?.[1] ?? title).trim())
  const status = statusOf(front, parts)
  const decision = under(
    parts.filter((p) => !CONSEQUENCES.test(p.title.split(' › ').at(-1)!)),
    DECISION,
    ...DECIDED,
  )
  if (name === '' || (status === undefined && decision === undefined)) return []
  const options = under(parts, OPTIONS)
  const consequences = under(parts, CONSEQUENCES)
  const rationale = [under(parts, CONTEXT, WHY), under(parts, DRIVERS)].filter(Boolean).join('\n\n')
  const date = under(parts, /^date$/i)
  const changes = under(parts, /^(?:change ?log|(?:revision )?history)$/i)?.match(/\d{4}-\d\d-\d\d/g) ?? []
  // two sections of one meaning, and what options say besides their names, have no other place
  const isListed = options?.split('\n').every((line) => /^\s*$/.test(line) || line.search(OPTION) >= 0)
  const own = parts.filter((p) => OPTIONS.test(p.title.split(' › ').at(-1)!)).map((p) => p.text)
  const listedOptions = [...own.join('\n').matchAll(OPTION)].map((m) => plainLine(m[1]!))
  const placed = [decision, rationale, consequences, date, isListed ? options : ''].join('\n\n')
  const isPlaced = ({ text }: Part) => placed.includes(text) || text === status?.split('\n', 1)[0]
  const rest = parts.filter((p) => p.title !== title && !isPlaced(p))
  const as = `adr ${label}`
  const dates = [
    textIn(front, 'date'),
    ...[...front.body.matchAll(KEPT.date)].map((m) => m[1]),
    date,
    changes.sort()[0],
  ]
  const day = dates.map(dayOf).find((found) => found !== undefined)
  const people = [...listIn(front, 'decision-makers'), ...listIn(front, 'deciders')]
  const standing = standingOf(status ?? 'accepted')
  if (standing === undefined) {
    const what = `status "${status!.split('\n', 1)[0]}"`
    unplaced.push({ where: label, what, why: 'no word for a status that is known here: taken in as proposed' })
  }
  const links = supersessions(page, status ?? '', as, byFile, unplaced)
  const isOver = standing === 'deprecated' || (standing === 'superseded' && links.length === 0)
  const isProposed = standing === 'proposed' || standing === undefined
  const args = {
    name,
    description: decision,
    rationale: rationale || undefined,
    optionsConsidered:
      listedOptions.length > 0 ? listedOptions : [...new Set(parts.flatMap(({ title }) => belowOptions(title)))],
    status: isOver ? 'deprecated' : undefined,
    standing: isProposed ? 'proposed' : undefined,
    validFrom: day,
    locations: [label],
    topics: unlessNone(listIn(front, 'tags')),
    attrs: defined({
      adr: label,
      status: isProposed ? 'proposed' : undefined,
      deciders: people.join(', ') || undefined,
      consequences,
      amendments: amended.join('\n\n') || undefined,
      more: rest.map(told).join('\n\n') || undefined,
    }) as JsonObject,
  }
  const rejected = standing === 'rejected' ? { retired: `rejected, says ${label}` } : {}
  const item: Item = { verb: 'record-decision', args, where: label, as, same: ['adr', label], ...rejected }
  return [item, ...links]
}

/** The status in words, with what follows it: a section of its own, front matter, or a line that is no head of a table. */
function statusOf(front: FrontMatter, parts: readonly Part[]): string | undefined {
  const line = KEPT.status.exec(front.body)?.[1]
  const said = textIn(front, 'status') ?? under(parts, STATUS) ?? (/\|.*\|/.test(line ?? '') ? undefined : line)
  return said?.replace(/^[^\p{L}\p{N}~]+/u, '').trim()
}

/** Where a record stands, as the first clause says that has a known word. */
function standingOf(status: string) {
  const line = status.split('\n', 1)[0]!.replace(/~~[^~]*~~/g, '')
  if (/^final\W*$/i.test(line)) return 'accepted'
  for (const clause of line.split(/[,;:()]/)) {
    const words = clause.split(/[^\p{L}]+/u)
    const names = Object.keys(STANDINGS) as (keyof typeof STANDINGS)[]
    const standing = words.flatMap((word) => names.find((name) => STANDINGS[name].test(word)) ?? [])[0]
    if (standing) return clause.includes('?') || words.some((word) => NEGATED.test(word)) ? undefined : standing
  }
  return undefined
}

const IN_WORDS =
  /\b(?:\d{1,2}\.? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? (?:\d{1,2}, ?)?\d{4}\b/i

/** The first day in a text: `2020-06-01`, `01.06.2020`, `1 June 2020`; of a month, its first: `2020-06`, `June 2020`. */
function dayOf(said = ''): string | undefined {
  const [found = '', day, month, year] = /\d{4}-\d\d-\d\d|(\d\d)\.(\d\d)\.(\d{4})/.exec(said) ?? []
  const date = year === undefined ? found : `${year}-${month}-${day}`
  if (toTime(date) !== undefined) return date
  const [ofMonth] = /(?<![\d-])\d{4}-\d\d(?![\d-])/.exec(said) ?? []
  const at = ofMonth ? toTime(`${ofMonth}-01`) : Date.parse(`${IN_WORDS.exec(said)?.[0].replace(/\./g, '')} UTC`)
  return at === undefined || Number.isNaN(at) ? undefined : new Date(at).toISOString().slice(0, 10)
}

/** `Superseded by [5. …](0005-x.md)`, `supersedes ADR-0003`: links to the records that are meant. */
const supersessions = (
  { label }: Page,
  status: string,
  as: string,
  byFile: ReadonlyMap<string, string>,
  unplaced: Unplaced[],
): Item[] =>
  status.split('\n').flatMap((line): Item[] => {
    const [, by] = /\bsupersed(?:es|ed)?\b( by\b)?/i.exec(line) ?? []
    if (!/\bsupersed(?:es|ed)\b/i.test(line)) return []
    const file = /\(([^()\s]+\.md)\)/i.exec(line)?.[1]
    const number = /\b(?:ADR[- ]?)?0*(\d{1,6})\b/i.exec(line)?.[1]
    const numbered = [...byFile.keys()].find((f) => Number(/\d+/.exec(f)?.[0]) === Number(number))
    const other = byFile.get(basename(file ?? '')) ?? byFile.get(numbered ?? '')
    if (other === undefined || other === as) {
      unplaced.push({ where: label, what: line.trim(), why: 'no record of that number or file was read' })
      return []
    }
    const args = by === undefined ? { old: other, new: as } : { old: as, new: other }
    return [{ verb: 'supersede', args, where: label }]
  })
