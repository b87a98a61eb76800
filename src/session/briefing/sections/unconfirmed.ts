import type { Reader } from '../../../engine/read/reader.ts'
import { locationOf } from '../../../find/code/location.ts'
import { saying } from '../../../find/recall/card.ts'
import { foldSimilar } from '../../../find/recall/duplicates.ts'
import { similarity, wordSet } from '../../../find/recall/word-overlap.ts'
import { type Entity, filesOf, isProposedInFile, provenanceOf, standingOf } from '../../../model/entity.ts'
import { plain } from '../fence.ts'
import { isElsewhere } from '../focus.ts'
import { field, many, refOf } from '../format.ts'
import type { About, Item, Section } from '../types.ts'
import { heldFor, isRead, placeOf } from './rules.ts'

const LOOKED_AT = 300
/** How many rules of the repository's files are told; the files are named, and say the rest. */
const MAX_OF_FILES = 6
const MAX_FILES = 4
const MAX_NOTED = 5
const OF_FILES = 'In files of the repository'
/** A path, a name of the code, a command: what common sense does not say. */
const OF_THE_PROJECT = /`|\w\/\w|\w\.[a-z]{2,5}\b|[a-z][A-Z]|\w_\w/
const FORBIDS = /\b(?:never|not|no|avoid|don['’]t)\b/i

/** Rules that wait for a yes. Only those from prompts, and from files that this client does not load, are shown. */
export const unconfirmed: Section = {
  name: 'unconfirmed',
  title: 'Unconfirmed: binds nobody until the person agrees',
  share: 0,
  build(about) {
    const vouched = about.vouched(about.facts.map((e) => e.id))
    const [binding, others] = [true, false].map((is) => about.facts.filter((e) => vouched.has(e.id) === is)) as [Entity[], Entity[]] // biome-ignore format: a row
    const all = stillWaiting(about.reader.list('fact', { standing: 'proposed', limit: LOOKED_AT }), about)
    const isSaid = (e: Entity) => provenanceOf(e).some((p) => p.said !== undefined)
    const saidFirst = [...all, ...others].sort((a, b) => Number(isSaid(b)) - Number(isSaid(a)))
    const waiting = notAskedYet(saidFirst, binding, about.reader)
    const proposed = waiting.filter((e) => standingOf(e.fields) === 'proposed')
    const n = waiting.length
    if (n === 0) return undefined
    const theirs = n - proposed.length
    const ofOthers = theirs === 0 ? '' : `, ${theirs === n ? 'all' : theirs} of others`
    const noted = proposed.filter(isSaid)
    const here = about.vouched(noted.map((e) => e.id))
    const said = noted.filter((e) => here.has(e.id) && !(e.fields.paths && isElsewhere(e, about)))
    // what another one stands for counts too where the client reads it
    const read = all.filter((e) => !proposed.includes(e) && isRead(e, about))
    const unread = untold([...proposed, ...read].filter((e) => fileOf(e) !== undefined).sort(byPlace), about)
    // what holds for some files is told before an edit of those
    const general = unread.filter((e) => e.fields.paths === undefined)
    const ranks = (e: Entity) => (OF_THE_PROJECT.test(e.name) ? 0 : 2) + (FORBIDS.test(e.name) ? 0 : 1)
    const first = general.toSorted((a, b) => ranks(a) - ranks(b)).slice(0, MAX_OF_FILES)
    const ofFiles = general.filter((e) => first.includes(e))
    const more = unreadFiles(unread, ofFiles, about.client)
    const files = new Set(proposed.map((e) => fileOf(e) ?? ''))
    const from = files.size <= 2 && n === proposed.length && !files.has('') ? [...files].join(' and ') : ''
    const items: Item[] = [
      ...said.slice(0, MAX_NOTED).map((e) => ({
        id: e.id,
        under: 'Said in a prompt: ask the person',
        text: `- ${field(e, 'fact', 400)}${heldFor(e)} (${refOf(e)})`,
      })),
      ...ofFiles.map((e) => ({
        id: e.id,
        under: OF_FILES,
        text: `- ${fileOf(e)}: ${field(e, 'fact', 400)}${heldFor(e)}`,
      })),
      ...(more === '' ? [] : [{ under: OF_FILES, text: more }]),
    ]
    return {
      items,
      beyond: Math.max(0, said.length - MAX_NOTED),
      see: 'tidemark confirm',
      says:
        from === ''
          ? `${n} to review${ofOthers} (\`tidemark review\`)`
          : `${many(n, 'rule')} from ${from} to review (\`tidemark review\`: a confirms all)`,
      note: `${many(n, 'rule')} ${n === 1 ? 'waits' : 'wait'} for confirmation${ofOthers}: tidemark review lists them, a person agrees with tidemark confirm`,
    }
  },
}

/** The files that hold more than was told, so that whoever works on what they are for reads them. */
function unreadFiles(unread: readonly Entity[], told: readonly Entity[], client?: string): string {
  const files = [...Map.groupBy(unread, (e) => fileOf(e)!)].filter(([, rules]) => !rules.every((e) => told.includes(e)))
  if (files.length === 0) return ''
  const named = files.slice(0, MAX_FILES).map(([file, rules]) => {
    const [globs = '', ...others] = new Set(rules.map((e) => [e.fields.paths ?? []].flat().join(', ')))
    return `${file} (${many(rules.length, 'rule')}${globs === '' || others.length > 0 ? '' : `, for ${plain(globs, 80)}`})`
  })
  const rest = files.length > MAX_FILES ? ` and ${many(files.length - MAX_FILES, 'more file')}` : ''
  const why = client === undefined ? '' : 'Your client does not load these files. '
  return `- ${why}Read each before you work on what it is for: ${named.join(', ')}${rest}`
}

/** Those that neither another one says too, or more, nor what the client reads by itself says about as well. */
function untold(rules: readonly Entity[], about: About): Entity[] {
  const said = rules.map((e) => {
    const scope = e.fields.paths === undefined ? '' : JSON.stringify(e.fields.paths)
    return { e, scope, words: wordSet(e.name), forbids: FORBIDS.test(e.name), isRead: isRead(e, about) }
  })
  const says = (a: (typeof said)[number], b: (typeof said)[number]): boolean => {
    const { words, share } = similarity(a.words, b.words)
    if (a === b || (a.scope !== '' && a.scope !== b.scope)) return false
    if (a.forbids !== b.forbids || words < 4 || share < 0.9) return false
    const more = a.words.size - b.words.size
    return a.isRead ? 2 * more >= -a.words.size : more > 0 || (more === 0 && said.indexOf(a) < said.indexOf(b))
  }
  return said.flatMap((b) => (b.isRead || said.some((a) => says(a, b)) ? [] : [b.e]))
}

/** As the files were read, each from its top. */
function byPlace(a: Entity, b: Entity): number {
  const [at, to] = [a, b].map((e) => locationOf(String([e.fields.locations].flat()[0] ?? '')))
  const files = at!.path === to!.path ? 0 : at!.path < to!.path ? -1 : 1
  return placeOf(a) - placeOf(b) || a.updated - b.updated || files || (at!.line ?? 0) - (to!.line ?? 0)
}

export const WAITS_DAYS = 30
/**
 * What was ended or replaced does not wait, nor what nobody touched for a month: that is found like anything else. A rule of a
 * file waits while it stands there. Whether a decision record is accepted is said there.
 */
export function stillWaiting(all: readonly Entity[], { reader, moment }: Pick<About, 'reader' | 'moment'>): Entity[] {
  const replaced = reader.replaced(all.map((e) => e.id))
  const isRecent = (e: Entity) =>
    e.updated >= moment - WAITS_DAYS * 86_400_000 || sourcesOf(e).some((s) => s.startsWith('import '))
  return all.filter((e) => e.fields.retired === undefined && !replaced.has(e.id) && isRecent(e) && !isProposedInFile(e))
}

/**
 * Of those that say nearly the same the first stands for all; what says nearly what binds here, or was turned down, is not
 * asked again. A rule for some files says nothing of others.
 */
export function notAskedYet(waiting: readonly Entity[], binding: readonly Entity[], reader: Reader): Entity[] {
  if (waiting.length === 0) return []
  const decided = [...binding, ...reader.list('fact', { standing: 'rejected', limit: LOOKED_AT })]
  const texts = [...new Map([...decided, ...waiting].map((e) => [e.id, e])).values()].map((e) => {
    const scope = e.fields.paths === undefined ? '' : JSON.stringify(e.fields.paths)
    return { id: e.id, kind: e.kind, text: saying(e, reader), scope }
  })
  const firsts = new Set(foldSimilar(texts).map(({ item }) => item.id))
  return waiting.filter((e) => firsts.has(e.id))
}

const sourcesOf = (e: Entity): string[] => provenanceOf(e).map((p) => String(p.source))

const fileOf = (e: Entity): string | undefined =>
  sourcesOf(e).some((s) => s.startsWith('import claude-md ')) ? plain(filesOf(e)[0]!, 120) : undefined
