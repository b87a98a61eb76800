import { systemEnv } from '../../base/env.ts'
import { attempt, UserError, unlessRefused } from '../../base/errors.ts'
import { type GitError, runGit } from '../../base/run-git.ts'
import { entityOf } from '../../engine/read/reader.ts'
import { ingest } from '../../engine/replication/ingest.ts'
import { type Reviewers, reviewersNamed } from '../../engine/replication/reviewers.ts'
import { type Db, memoryDb, stored } from '../../engine/store/db.ts'
import { isKeyed, isKeyOf, shortBatch } from '../../engine/store/keys.ts'
import type { Line } from '../../engine/store/line.ts'
import { PROJECT_DIR } from '../../engine/store/project.ts'
import { getRow, idsOfKind } from '../../engine/store/rows.ts'
import { summaryOf } from '../../engine/store/summary.ts'
import { canonical } from '../../model/canonical.ts'
import { type Entity, KIND_KIND, kindOf, LINK_KIND, RELATION_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { KINDS } from '../../model/kinds/index.ts'
import { withProjectKinds } from '../../model/project-registry.ts'
import { createRegistry, type Registry } from '../../model/registry.ts'
import { RELATIONS } from '../../model/relations.ts'
import { escaped } from '../../scheme/invisible.ts'
import { type Content, readSegment, segmentNamed, textsIn } from './segments.ts'
import { checkFirstLines, checkSnapshot } from './signatures.ts'

/** What a batch does to one entity, before and after it was taken in. */
interface Effect {
  readonly id: string
  readonly name: string
  readonly does: 'adds' | 'changes' | 'retires' | 'deletes' | 'erases' | 'rejects' | 'confirms' | 'restores'
  readonly fields: readonly { readonly field: string; readonly before?: Json; readonly after?: Json }[]
  /** It is a rule, which tells sessions what to do once somebody confirmed it. */
  readonly isRule: boolean
}

/** A batch of a range of commits, as a store that takes it in applies it. */
interface Explained {
  readonly batch: string
  readonly at: string
  readonly author: Line['author']
  /** `signed`: by the key that its replica is named after. `unsigned`: a replica of 0.1.0, which anybody can claim to be. */
  readonly signature: 'signed' | 'unsigned'
  /** The reviewer of the project whose key signed it. */
  readonly reviewer?: string
  /** It stands for several batches, whose lines were folded into one state. */
  readonly isFolded?: boolean
  readonly effects: readonly Effect[]
  readonly erasesBatches: readonly string[]
}

export interface Explanation {
  readonly range: string
  readonly batches: readonly Explained[]
  /** What no store takes in, with the reason. */
  readonly problems: readonly string[]
  /** Batches that the range removes from git. */
  readonly removed: readonly string[]
  /** The range changes who may confirm for everybody. */
  readonly reviewersChange: boolean
}

const RULES: ReadonlySet<string> = new Set(['fact', 'principle'])
const TAKES_AWAY: ReadonlySet<Effect['does']> = new Set(['retires', 'deletes', 'erases', 'rejects'])

/**
 * What a range of commits does to a project's knowledge. The lines of its base are taken into a store in memory, then those that the range adds,
 * one by one, by the code that every store takes them in with. So it shows what is applied, and nothing that a line says of itself.
 *
 * @param range `BASE..HEAD`, or `BASE` for `BASE..HEAD`; of a pull request, from where its branch began.
 * @throws UserError `bad-range` where git does not know of it.
 */
export async function explain(root: string, range: string): Promise<Explanation> {
  const [from = '', to = ''] = range.split(/\.{2,3}/, 2)
  const [base, head] = [from || 'HEAD', to || 'HEAD']
  const git = (...args: string[]) =>
    runGit(root, ...args).catch((error: GitError) => {
      throw badRange(range, error.said)
    })
  for (const rev of [base, head]) if (rev.startsWith('-')) throw badRange(range, `"${rev}" is no revision`)
  const began = (await git('merge-base', base, head)).trim()
  const changed = (await git('diff', '--name-only', '--no-renames', '--relative', '-z', began, head, '--', PROJECT_DIR))
    .split('\0')
    .filter(Boolean)
  const pathsAt = async (rev: string) =>
    (await git('ls-tree', '-r', '-z', '--name-only', rev, '--', `${PROJECT_DIR}/`)).split('\0').filter(Boolean)
  const [before, after] = [await pathsAt(began), await pathsAt(head)]
  const read = async (rev: string, path: string) => {
    const segment = segmentNamed(path)
    const text = segment && (await git('show', `${rev}:./${path}`))
    return segment && { path, content: readSegment(textsIn(segment, Buffer.from(text!))) }
  }

  const store = new Sandbox()
  for (const path of before) {
    const found = await read(began, path)
    if (found) store.take(found.content)
  }
  const problems: string[] = []
  const lines: Line[] = []
  const folded: Explained[] = []
  const isNew = (path: string) => changed.includes(path)
  for (const path of after.filter(isNew)) {
    const found = await read(head, path)
    if (!found) continue
    if (found.content.damage !== undefined) problems.push(`${path}: ${found.content.damage}`)
    folded.push(...store.explainFolded(found.content, problems))
    lines.push(...found.content.lines)
  }
  const config = async (rev: string, paths: readonly string[]): Promise<Reviewers> => {
    const path = `${PROJECT_DIR}/config.json`
    if (!paths.includes(path)) return {}
    const text = await git('show', `${rev}:./${path}`).catch(() => '{}')
    return attempt(() => reviewersNamed(JSON.parse(text).reviewers)) ?? {}
  }
  const [accepted, proposed] = [await config(began, before), await config(head, after)]
  const batches = [...folded, ...store.explain(lines, accepted, problems)]

  const removed: string[] = []
  const there = new Set(lines.map((l) => `${l.replica}:${l.seq}`))
  const kept = new Set(after)
  for (const path of before.filter((p) => isNew(p) && !kept.has(p)))
    for (const line of (await read(began, path))?.content.lines ?? [])
      if (!there.has(`${line.replica}:${line.seq}`))
        removed.push(`${shortBatch(`${line.replica}:${line.seq}`)} ${summaryOf(line, (id) => store.entity(id)?.name)}`)
  const reviewersChange = canonical(accepted as Json) !== canonical(proposed as Json)
  return { range: `${base}..${head}`, batches, problems, removed, reviewersChange }
}

const badRange = (range: string, why: string): UserError => {
  const hint =
    'give BASE..HEAD, such as origin/main..HEAD; in CI fetch the whole history (fetch-depth: 0, or `git fetch --unshallow`)'
  return new UserError('bad-range', `git cannot compare "${range}": ${why}`, hint)
}

type Snapshot = Content['snapshots'][number]

/** What a line and a folded state say of themselves, each in its own way. */
interface Explains extends Pick<Explained, 'batch' | 'author' | 'reviewer' | 'isFolded'> {
  readonly replica: string
  readonly at: number
  readonly purged: readonly { replica: string; seq: number }[]
}

/** A store in memory, of this one question. */
class Sandbox {
  readonly #db: Db = memoryDb()
  readonly #core: Registry = createRegistry(KINDS, RELATIONS, () => [])

  #registry = (): Registry => {
    const defined = [KIND_KIND, RELATION_KIND].flatMap((kind) => idsOfKind(this.#db, kind))
    const kinds = defined.flatMap((id) => this.entity(id) ?? [])
    return withProjectKinds(this.#core, this.#core, kinds)
  }

  entity(id: string): Entity | undefined {
    const row = getRow(this.#db, id)
    return row && entityOf(row)
  }

  #ingest(lines: readonly Line[], snapshots: readonly Snapshot[] = []) {
    checkFirstLines({ db: this.#db }, lines)
    for (const snapshot of snapshots) checkSnapshot({ db: this.#db }, snapshot)
    const delivery = { lines: [...lines], snapshots: [...snapshots] }
    return this.#db.write(() => ingest(this.#db, systemEnv, this.#registry, delivery))
  }

  take({ lines, snapshots }: Content): void {
    for (const snapshot of snapshots) this.#try(snapshot)
    if (!unlessRefused(() => this.#ingest(lines))) for (const line of lines) this.#try(line)
  }

  #try(part: Line | Snapshot): { why?: string | undefined; isKnown: boolean } {
    const isLine = 'seq' in part
    const ingest = () => (isLine ? this.#ingest([part]) : this.#ingest([], [part]))
    const taken = unlessRefused(ingest, ({ message }) => message)
    if (typeof taken === 'string') return { why: taken, isKnown: false }
    if (!isLine) return { isKnown: false }
    const { refused, duplicates, forked } = taken
    return { why: refused[0]?.why ?? (forked ? 'another line has its number' : undefined), isKnown: duplicates > 0 }
  }

  #explained(part: Line | Snapshot, of: Explains, problems: string[]): Explained[] {
    const { replica, purged, at, ...said } = of
    const ids = [...new Set(part.events.map((e) => e.entity))]
    const before = ids.map((id) => this.entity(id))
    const { why, isKnown } = this.#try(part)
    if (why !== undefined) problems.push(`${said.batch} is taken by nobody: ${why}`)
    if (why !== undefined || isKnown) return []
    return [
      {
        ...{ ...said, at: new Date(at).toISOString() },
        effects: ids.flatMap((id, i) => this.#effect(id, before[i], 'seq' in part ? part : undefined)),
        signature: isKeyed(replica) ? 'signed' : 'unsigned',
        erasesBatches: [...new Set(purged.map((p) => shortBatch(`${p.replica}:${p.seq}`)))],
      },
    ]
  }

  explainFolded({ snapshots }: Content, problems: string[]): Explained[] {
    return snapshots.flatMap((part) => {
      const { covered, purged, horizon: at } = part
      const [first] = covered
      if (!first) return []
      const { replica } = first
      const batch = `${shortBatch(`${replica}:${first.first}`)}–${covered.at(-1)!.last}`
      return this.#explained(part, { replica, purged, batch, at, author: {}, isFolded: true }, problems)
    })
  }

  explain(lines: readonly Line[], reviewers: Reviewers, problems: string[]): Explained[] {
    const byTime = [...lines].sort((a, b) => a.at - b.at || (a.replica < b.replica ? -1 : 1) || a.seq - b.seq)
    return byTime.flatMap((line) => {
      const { replica, seq, signature, purges: purged, at, author } = line
      const isOf = (key: string) => (isKeyed(replica) ? isKeyOf(key, replica) : key === signature?.key)
      const reviewer = Object.entries(reviewers).find(([, keys]) => keys.some(isOf))?.[0]
      const batch = shortBatch(`${replica}:${seq}`)
      const of = { replica, purged, batch, at, author, ...(reviewer === undefined ? {} : { reviewer }) }
      return this.#explained(line, of, problems)
    })
  }

  #effect(id: string, before: Entity | undefined, line?: Line): Effect[] {
    const after = this.entity(id)
    const was = before?.live ? before.fields : {}
    const is = after?.live ? after.fields : {}
    const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((f) => f !== 'provenance')
    const fields = names.flatMap((field) => {
      const [b, a] = [was[field], is[field]]
      if (canonical(b ?? null) === canonical(a ?? null)) return []
      return [{ field, ...(b === undefined ? {} : { before: b }), ...(a === undefined ? {} : { after: a }) }]
    })
    const isErased = line?.events.some((e) => e.entity === id && e.purged) === true
    if (fields.length === 0 && !isErased && before?.live === after?.live) return []
    const does = isErased
      ? 'erases'
      : before?.live && !after?.live
        ? 'deletes'
        : before !== undefined && !before.live && after?.live
          ? 'restores'
          : !before?.live
            ? 'adds'
            : fields.some((f) => f.field === 'retired' && f.after !== undefined)
              ? 'retires'
              : fields.find((f) => f.field === 'standing')?.after === 'rejected'
                ? 'rejects'
                : before.fields.standing === 'proposed' && is.standing !== 'proposed'
                  ? 'confirms'
                  : 'changes'
    const isRule = RULES.has(kindOf(id)) && is.standing !== 'proposed' && (does !== 'changes' || fields.length > 0)
    return [{ id, name: (after?.name || before?.name) ?? '', does, fields: does === 'erases' ? [] : fields, isRule }]
  }
}

const LONGEST = 60_000

/** An explanation as Markdown: no text of a line can become a heading, a mention, a link or HTML, or stay unseen. */
export function markdownOf({ batches, problems, removed, reviewersChange }: Explanation): string {
  const effects = batches.flatMap((b) => b.effects.map((e) => ({ ...e, of: b })))
  const away = effects.filter((e) => TAKES_AWAY.has(e.does) || isSupersession(e))
  const rules = effects.filter((e) => e.isRule && ['adds', 'changes', 'confirms', 'restores'].includes(e.does))
  const out: string[] = ['## Knowledge in this change', '']
  if (batches.length === 0) out.push('It changes no knowledge.')
  else {
    const users = new Set(batches.map((b) => b.author.user ?? 'nobody by name'))
    out.push(
      `${batches.length} ${batches.length === 1 ? 'batch' : 'batches'} of ${[...users].map(code).join(', ')}: ${tally(effects)}. Nothing of it binds anybody who has not confirmed it${batches.some((b) => b.reviewer) ? ', except through a reviewer' : ''}.`,
    )
  }
  const section = (title: string, items: readonly string[]) => {
    if (items.length > 0) out.push('', `### ${title}`, '', ...items.map((i) => `- ${i}`))
  }
  section('Taken by nobody', problems.map(code))
  const asked = 'it changes the list of reviewers in `.tidemark/config.json`; each person is asked to accept it'
  if (reviewersChange) section('Reviewers', [asked])
  section('Takes away', [
    ...away.map((e) => `${doesTo(e)} (${code(e.of.batch)})`),
    ...batches.flatMap((b) => b.erasesBatches.map((of) => `erases texts of batch ${code(of)} (${code(b.batch)})`)),
    ...removed.map((r) => `removes from git ${code(r)}; who has it keeps it`),
  ])
  const reviewedBy = ({ reviewer }: Explained) => (reviewer ? `, of reviewer ${code(reviewer)}` : '')
  const binding = rules.map((e) => `${e.does} ${nameOf(e)} (${code(e.of.batch)}${reviewedBy(e.of)})`)
  section('Rules, once confirmed', binding)
  let shown = 0
  for (const b of batches) {
    const text = batchText(b)
    if (out.join('\n').length + text.length > LONGEST) break
    out.push('', text)
    shown++
  }
  const rest = `${shown} of ${batches.length} batches are shown; \`tidemark sync --explain\` on the branch shows all with \`--json\`.`
  if (shown < batches.length) out.push('', rest)
  return `${out.join('\n')}\n`
}

function tally(effects: readonly Effect[]): string {
  const known = effects.filter((e) => kindOf(e.id) !== LINK_KIND)
  const parts = [...Map.groupBy(known, (e) => `${e.does} ${kindOf(e.id)}`)].map(([what, all]) => {
    const [does, kind = ''] = what.split(' ')
    return `${does} ${all.length} ${all.length === 1 ? kind : (KINDS.find((k) => k.name === kind)?.plural ?? kind)}`
  })
  return parts.join(', ') || 'links alone'
}

const isSupersession = (e: Effect): boolean =>
  kindOf(e.id) === LINK_KIND &&
  e.does === 'adds' &&
  e.fields.some((f) => f.field === 'type' && f.after === 'supersedes')

const doesTo = (e: Effect): string => `${isSupersession(e) ? 'supersedes' : e.does} ${nameOf(e)}`

/** Of what is erased nothing is posted once more; of a deleted thing and a link the name says all. */
const hasFields = (e: Effect): boolean => e.does !== 'erases' && e.does !== 'deletes' && kindOf(e.id) !== LINK_KIND

function nameOf(e: Effect): string {
  const value = (field: string) => e.fields.find((f) => f.field === field)
  const end = (field: string) => code(String(value(field)?.after ?? value(field)?.before ?? ''))
  if (kindOf(e.id) === LINK_KIND && isSupersession(e)) return `${end('to')} by ${end('from')}`
  if (kindOf(e.id) === LINK_KIND && value('type')) return `link ${end('from')} ${end('type')} ${end('to')}`
  return `${kindOf(e.id)} ${code(e.name || e.id)}`
}

function batchText({ batch, at, author, signature, reviewer, effects, erasesBatches, isFolded }: Explained): string {
  const by = author.user === undefined ? 'somebody' : code(author.user)
  const isAgent = author.actor === 'agent' || (author.actor === undefined && (author.agent ?? 'cli') !== 'cli')
  const who = isAgent ? `an agent${author.agent ? ` (${code(author.agent)})` : ''} for ${by}` : by
  const { branch, commit } = author
  const where = [branch && ` on ${code(branch)}`, commit && ` at ${code(commit)}`].filter(Boolean).join('')
  const signed = signature === 'signed' ? 'signed' : '**not signed by a key that its name shows**'
  return [
    `### ${code(batch)}`,
    '',
    `${isFolded ? 'several batches folded into one state' : who}, ${at.slice(0, 16).replace('T', ' ')} UTC${where && `,${where}`}; ${signed}${reviewer ? `, by reviewer ${code(reviewer)}` : ''}`,
    ...(author.intent ? ['', `Why: ${code(author.intent)}`] : []),
    '',
    ...effects.flatMap((e) => [`- ${doesTo(e)}`, ...(hasFields(e) ? e.fields.flatMap(fieldText) : [])]),
    ...erasesBatches.map((of) => `- erases texts of batch ${code(of)}`),
    ...(effects.length === 0 && erasesBatches.length === 0 ? ['- changes nothing that is not said already'] : []),
  ].join('\n')
}

function fieldText({ field, before, after }: Effect['fields'][number]): string[] {
  if (Array.isArray(before ?? after) && Array.isArray(after ?? before)) {
    const [was, is] = [((before as Json[]) ?? []).map(canonical), ((after as Json[]) ?? []).map(canonical)]
    const said = (some: readonly string[], others: readonly string[], sign: string) =>
      some.filter((v) => !others.includes(v)).map((v) => `${sign} ${code(plain(stored<Json>(v)))}`)
    return [`  - ${field}: ${[...said(was, is, '−'), ...said(is, was, '+')].join(', ') || 'in another order'}`]
  }
  if (before === undefined) return [`  - ${field}:${value(after)}`]
  if (after === undefined) return [`  - ${field}: taken away, was${value(before)}`]
  return [`  - ${field}: before${value(before)}`, `    now${value(after)}`]
}

const plain = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

const value = (of: Json | undefined): string => {
  const text = plain(of)
  return text.length <= 120 && !/[\r\n]/.test(text) ? ` ${code(text)}` : `\n${block(text, '    ')}`
}

const longestRun = (text: string): number => Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))

/** A text of one line as code: Markdown reads nothing in it. */
function code(text: string): string {
  const safe = escaped(text.replace(/[\r\n]+/g, ' ⏎ '))
  const ticks = '`'.repeat(longestRun(safe) + 1)
  return safe === '' ? '` `' : `${ticks}${/^`|`$|^ .* $/.test(safe) ? ` ${safe} ` : safe}${ticks}`
}

function block(text: string, indent: string): string {
  const safe = escaped(text.replace(/\r\n?/g, '\n'))
  const fence = '`'.repeat(Math.max(3, longestRun(safe) + 1))
  return [`${fence}text`, ...safe.split('\n'), fence].map((l) => indent + l).join('\n')
}
