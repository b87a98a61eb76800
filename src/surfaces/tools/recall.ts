import { UserError } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import { hasOthers } from '../../engine/store/own-lines.ts'
import { lookAgain } from '../../find/code/look.ts'
import { estimateTokens } from '../../find/recall/token-estimate.ts'
import { holdsJson, marksOf } from '../../find/recall/told.ts'
import { PRESETS, type Recalled, type RecallOptions, type RecallResult, SCOPES } from '../../find/recall/types.ts'
import { fieldsOf } from '../../model/kind.ts'
import { defined, type JsonObject } from '../../model/object.ts'
import { quote, remark } from '../../scheme/lexical.ts'
import { ago, inWords, partsOf, refsTo } from './format.ts'
import { AS_OF, momentAsked } from './moment.ts'
import type { Passage } from './pages.ts'
import type { Elsewhere } from './recall-across.ts'
import { type Block, defineTool, type Output, type Span } from './tool.ts'

export const recall = defineTool({
  name: 'recall',
  title: 'Recall knowledge',
  about: `Finds what answers a question or helps with a task, best first. Ask in plain words, name files and symbols. Others are cut to a line: (get "NAME or #ID") in discover tells the rest.`,
  example: `tidemark recall 'why do we use SQLite?' --limit 5 --explain`,
  params: {
    text: { type: 'text', about: 'the question', required: true, place: 'rest' },
    scope: {
      type: 'text',
      about: 'micro: the current task alone; macro: everything alike; selected: the goals named',
      choices: SCOPES,
      rare: true,
    },
    limit: { type: 'number', least: 1, about: 'results (10)' },
    budget: { type: 'number', least: 1, about: 'tokens (800; 160 × limit)' },
    kind: { type: 'text', about: 'e.g. decision,learning' },
    task: { type: 'text', about: 'stand at this task', rare: true },
    goal: { type: 'text', about: 'goals of scope selected', rare: true },
    since: { type: 'text', about: 'touched since, e.g. 2026-11-01 or "last week"', rare: true },
    'as-of': AS_OF,
    'valid-at': { type: 'text', about: 'true at a moment', rare: true },
    preset: { type: 'text', about: 'a name for common settings', choices: PRESETS, rare: true },
    all: { type: 'flag', about: 'also superseded and retired', rare: true },
    explain: { type: 'flag', about: 'say why', rare: true },
    sexp: { type: 'flag', about: 'in Scheme notation, as agents read it, also on a terminal', typed: true },
    'all-projects': { type: 'flag', about: 'also in your other projects' },
    in: { type: 'text', about: 'also in these projects: paths, ids or names', rare: true },
    prompts: { type: 'flag', about: 'instead what you typed in sessions on this machine', typed: true },
  },
  readOnly: true,
  async run(context, args): Promise<Output> {
    if (args.prompts) {
      const { keptPrompts, mayReadPrompts } = await import('./prompt-search.ts')
      if (mayReadPrompts(context)) return keptPrompts(context, args.text, args.limit)
    }
    await lookAgain(context.memory, context.project)
    const { ASKING, explanation } = await import('../../find/recall/answer.ts')
    const { recallerOf } = await import('../../find/recall/recall.ts')
    const recaller = recallerOf(context.memory, context.project)
    const { text: said, scope, preset, task, limit, since, all, explain } = args
    const untold = limit === undefined ? TOKENS_EACH * recaller.config.limit : TOKENS_ASKED * limit
    const budget = args.budget ?? recaller.config.budget ?? Math.max(LEAST_TOKENS, untold)
    const [phrase, when] = /\b(?:at|as of) ([\w.-]{1,40})\??$/i.exec(said.trim()) ?? []
    const isAsked = args['as-of'] !== undefined
    const moment = args['as-of'] ?? (when !== undefined && /\d/.test(when) ? when : undefined)
    const notSuch = (error: unknown) => {
      if (isAsked || !(error instanceof UserError)) throw error // "at port 8080" is no moment
      return undefined
    }
    const asOf = moment === undefined ? undefined : await momentAsked(context, moment).catch(notSuch)
    const isTaken = asOf !== undefined && !isAsked
    const question = isTaken ? said.trim().slice(0, -phrase!.length) : said
    const options: RecallOptions = {
      ...{ scope, preset, task, limit, budget, since, all, explain },
      goals: listOf(args.goal),
      kinds: listOf(args.kind),
      session: context.session,
      asOf,
      validAt: args['valid-at'] === undefined ? undefined : await momentAsked(context, args['valid-at']),
    }
    const projects = args['all-projects']
      ? ('all' as const)
      : (listOf(args.in) ?? (context.served ? [] : [...recaller.config.projects])) // over HTTP those that the call names
    const { hasLibrary } = await import('../../project/tiers/library.ts')
    const isWide = projects.length > 0 || (!context.served && hasLibrary()) || hasOthers(context.memory.db)
    // pages say what holds now, of the project as a whole
    const isPlain = !(context.served || options.kinds || asOf || options.validAt || since || task || scope || args.goal)
    const { passagesOn } = await import('./pages.ts')
    const pages = isPlain ? passagesOn(question, { memory: context.memory, root: context.project.root }) : []
    while (estimateTokens(pages.map(cardOf).join('\n')) > budget / 3) pages.pop()
    const left = budget - estimateTokens(pages.map(cardOf).join('\n'))
    const asking = async (within: RecallOptions) =>
      isWide
        ? (await import('./recall-across.ts')).recallAcross(context, recaller, question, within, projects)
        : recaller.ask(question, within)
    const asked = async () => {
      const all = await asking({ ...options, budget: left })
      const told = estimateTokens([...nearTo(all.unknown), ...all.notes].map(remark).join('\n'))
      return told > 0 && estimateTokens(all.text) + told > left ? asking({ ...options, budget: left - told }) : all
    }
    const result = await asked().catch((error: unknown) => {
      throw error instanceof UserError && error.code === 'bad-argument' ? asCalledHere(error) : error
    })
    if (isTaken) result.notes.unshift(`as it was at ${moment}`)
    const text = printed(result, options, left)
    const isNothing = result.results.length === 0 && result.omitted === 0
    const held = result.results[0]?.words.filter((word) => !ASKING.test(word)).length ?? 0
    const isPageFirst = isNothing || (pages[0]?.held ?? 0) > held
    const told = [remark(OF_PAGES), ...pages.map(cardOf)].join('\n')
    const json = jsonOf(result)
    const prose = () => proseOf(result, options, context.memory, (r) => explanation(r).slice(6, -3))
    if (pages.length === 0) return { text, json, page: prose }
    return {
      text: (isNothing ? [told] : isPageFirst ? [told, text] : [text, told]).join('\n'),
      json: { ...json, pages: pages.map(({ held, ...page }) => page) },
      page: () =>
        isPageFirst ? [...blocksOf(pages), ...(isNothing ? [] : prose())] : [...prose(), ...blocksOf(pages)],
    }
  },
})

const OF_PAGES = 'pages of the project say, as they are now:'

const cardOf = ({ path, section, text }: Passage): string =>
  `(page ${quote(text)} :at ${quote(path)}${section === '' ? '' : ` :section ${quote(section)}`})`

const blocksOf = (pages: readonly Passage[]): Block[] =>
  pages.flatMap(({ path, section, text }): Block[] => [
    { line: [['name', section === '' ? path : section], `  ${path}`, '  ', ['kind', 'page']] },
    { line: [text], indent: 2 },
    { line: [] },
  ])

/** Tokens that a result may cost where nobody says a budget: the best ones whole, a line for some more. */
const TOKENS_EACH = 80
/** A line of each fits in, for a caller who says how many. */
const TOKENS_ASKED = 160
/** A single result is told whole. */
const LEAST_TOKENS = 240

/** What the library calls otherwise. */
const NAMES: Readonly<Record<string, string>> = { kinds: 'kind', goals: 'goal', asOf: 'as-of', validAt: 'valid-at' }

/** The same refusal with the names of this tool's parameters. */
function asCalledHere({ code, message, hint, details }: UserError): UserError {
  const renamed = (said: string) => said.replace(/\b(kinds|goals|asOf|validAt)(?=:)/g, (name) => NAMES[name]!)
  return new UserError(code, renamed(message), renamed(hint), details)
}

/** Several are parted by commas. */
function listOf(value: string | undefined): string[] | undefined {
  const items = partsOf(value ?? '')
  return items.length > 0 ? items : undefined
}

/** The results with what else there is to say, as far as the budget allows it. */
function printed(
  { text, notes, results, omitted, unknown }: RecallResult,
  { all, preset }: RecallOptions,
  budget: number,
) {
  const hidden = all === true || preset === 'debug' ? '' : '; `all` looks at what waits, is superseded or retired too'
  const none =
    omitted > 0
      ? `#| ${omitted} found, and none fits the budget: a larger budget shows them |#`
      : `#| nothing is known of this${hidden} |#`
  const lines = [results.length > 0 ? [...nearTo(unknown).map(remark), text].join('\n') : none, ...notes.map(remark)]
  while (lines.length > 0 && estimateTokens(lines.join('\n')) > budget) lines.pop()
  return lines.join('\n')
}

/** Said before results that are no answer. */
const nearTo = (unknown: readonly string[] = []): string[] =>
  unknown.length > 0 ? [`no text here has ${unknown.join(', ')}; the nearest:`] : []

function proseOf(
  { results, omitted, notes, unknown }: RecallResult,
  options: RecallOptions,
  memory: Memory,
  explained: (r: Recalled) => string,
): Block[] {
  const { reader, env } = memory
  const own = results.filter((r: Recalled & Elsewhere) => r.project === undefined && reader.entity(r.id) !== undefined)
  const refs = refsTo(reader, own)
  const blocks = results.flatMap((r: Recalled & Elsewhere): Block[] => {
    const kind = reader.registry().kind(r.kind)
    const e = r.project === undefined ? reader.entity(r.id) : undefined
    const where = r.project === undefined ? ` ${refs.get(r.id) ?? r.id}` : ` ${r.id} of ${r.project}`
    const known = kind && fieldsOf(kind)
    // a piece of a page is called by its place, and read by its lines
    const { sourceFile, section = sourceFile } = r.fields
    const place = typeof sourceFile === 'string' ? [String(section), `  ${sourceFile}`] : undefined
    const shown = place === undefined ? r.name : undefined
    const isSaid = (f: string) => f !== 'provenance' && !(place && PLACE.has(f)) && r.fields[f] !== shown
    const fields = Object.keys(known ?? r.fields).filter(
      (f) => r.fields[f] !== undefined && !known?.[f]?.inner && isSaid(f),
    )
    const said = fields.flatMap((f): Block[] => {
      const value = r.fields[f]!
      const text = typeof value === 'string' ? value : Array.isArray(value) ? value.join('; ') : inWords(value, 1_000)
      if (kind?.positional.includes(f)) return partsOfText(text).map((part) => ({ line: [part], indent: 2 }))
      return [{ line: [['aside', `${f}: `], text], indent: 2 }]
    })
    const against = r.contradicts.map((id) => refs.get(id) ?? id).join(', ')
    const over = r.overriddenBy === undefined ? '' : `overridden here by ${refs.get(r.overriddenBy) ?? r.overriddenBy}`
    const team = r.tier === 'team' && 'team'
    const marks = [...marksOf(r), over, team, against && `contradicts ${against}`].filter(Boolean).join('; ')
    const age = e === undefined ? '' : `  ${ago(options.asOf === undefined ? e.updated : e.created, env.now())}`
    const [called = r.name, from = ''] = place ?? []
    const head: Span[] = [['name', called], from, '  ', ['kind', r.kind], ['ref', where], ['aside', age]]
    return [
      { line: [...head, ...(marks ? ['  ', ['warn', marks] as const] : [])] },
      ...said,
      ...(r.similar.length > 0 ? [aside(`and ${r.similar.length} that say nearly the same`, 2)] : []),
      ...(options.explain === true ? [aside(explained(r), 2)] : []),
      { line: [] },
    ]
  })
  const hidden = options.all === true ? '' : '; --all looks at what waits, is superseded or retired too'
  if (results.length === 0)
    blocks.push(aside(omitted > 0 ? `${omitted} found, and none fits the budget` : `nothing is known of this${hidden}`))
  else if (omitted > 0) blocks.push(aside(`${omitted} more found: narrow the question, or give a larger --limit`))
  const near = results.length > 0 ? nearTo(unknown) : []
  return [...near.map((said) => aside(said)), ...blocks, ...notes.map((note) => aside(note))]
}

/** Paragraphs, items of lists, rows of tables and lines of code, each by itself. */
function partsOfText(text: string): string[] {
  const parts: string[] = []
  let isCode = false
  let goesOn = false
  for (const line of text.split('\n')) {
    const said = line.trim()
    const isFence = said.startsWith('```')
    if (isFence) isCode = !isCode
    const stands = said !== '' && !isFence && !/^[|:-]+$/.test(said.replaceAll(' ', ''))
    if (stands && goesOn && !isCode && !BEGINS.test(said)) parts.push(`${parts.pop()} ${said}`)
    else if (stands) parts.push(isCode ? line : said)
    goesOn = stands && !isCode && !said.startsWith('#')
  }
  return parts
}
const PLACE = new Set(['sourceFile', 'section', 'position'])
const BEGINS = /^(?:[-*+] |[>#|]|\d{1,3}[.)] )/

const aside = (text: string, indent = 0): Block => ({ line: [['aside', text]], indent })

const jsonOf = ({ results, omitted, notes, unknown }: RecallResult): JsonObject => ({
  results: results.map((r: Recalled & Elsewhere) => ({
    ...{ id: r.id, kind: r.kind, name: r.name, score: r.score, parts: { ...r.parts }, why: r.why, text: r.text },
    ...(defined({ project: r.project, tier: r.tier, overriddenBy: r.overriddenBy }) as JsonObject),
    ...holdsJson(r),
    ...(r.similar.length > 0 ? { similar: r.similar } : {}),
    ...(r.contradicts.length > 0 ? { contradicts: r.contradicts } : {}),
  })),
  omitted,
  ...(notes.length > 0 ? { notes } : {}),
  ...(unknown && unknown.length > 0 ? { unknown: [...unknown] } : {}),
})
