import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { redact } from '../src/base/secrets/find.ts'
import { createProject, findProject } from '../src/engine/store/project.ts'
import { wordsOf } from '../src/engine/store/prompts.ts'
import { estimateTokens } from '../src/find/recall/token-estimate.ts'
import { type Entity, provenanceOf } from '../src/model/entity.ts'
import { openProject } from '../src/project/open.ts'
import { brief } from '../src/session/briefing/brief.ts'
import type { HookCall } from '../src/session/hooks/call.ts'
import { respond } from '../src/session/hooks/run.ts'
import { ownWords } from '../src/session/hooks/typed-words.ts'
import { act } from '../src/surfaces/tools/act.ts'
import type { ToolContext } from '../src/surfaces/tools/tool.ts'
import { sessionsOf } from '../src/work/coordination/sessions.ts'
import { ROOT } from './project.ts'
import { type Bench, quantile, type Row, type Table } from './table.ts'

/**
 * What developers really typed, in order, through the hooks as a client calls them. The prompts and their labels come from a
 * mirror of public repositories (`TIDEMARK_REAL_MIRROR`) by a tool that stands beside this project; none of their text is kept here.
 */
const TOOL = join(ROOT, '..', 'shared', 'tools', 'real-prompts.mjs')

interface Label {
  readonly lasting: boolean
  readonly kind?: string
  readonly words?: string
  readonly explicit?: boolean
  readonly repeat_of?: string
}
interface Typed {
  readonly id: string
  readonly repo: string
  readonly session: string
  readonly date?: string
  readonly text: string
  readonly label?: Label
}

const promptsIn = (mirror: string): Typed[] =>
  execFileSync(process.execPath, [TOOL, mirror], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Typed)

const MINUTE = 60_000

/** A project in which one repository's prompts are typed again. */
class Replay {
  readonly dir = mkdtempSync(join(tmpdir(), 'tidemark-real-'))
  now = Date.UTC(2026, 0, 5, 9)
  readonly project
  readonly memory

  constructor() {
    createProject(this.dir)
    this.project = findProject(this.dir)
    this.memory = openProject(this.project, {
      env: { now: () => this.now, random: (n) => crypto.getRandomValues(new Uint8Array(n)), log: () => {} },
      author: { user: 'ana' },
      unlisted: true,
    })
  }
  [Symbol.dispose](): void {
    this.memory.close()
    rmSync(this.dir, { recursive: true, force: true })
  }
  async on(session: string, event: HookCall['event'], more: Partial<HookCall> = {}) {
    this.now += MINUTE
    const call = { client: 'claude', event, session, cwd: this.dir, ...more }
    return (await respond(this.memory, this.project, call, () => 60_000)).reply
  }
  /** What the session's agent records. */
  records(session: string, action: unknown) {
    const context = {
      memory: this.memory,
      project: this.project,
      session,
      agent: 'claude-code',
      by: 'agent',
      local: true,
    }
    return act.run(context as unknown as ToolContext, { actions: [action] } as never)
  }
}

/** How a judge that knows the labels would record it: a rule, or how things are. */
function recordOf({ words = '', kind }: Label): unknown {
  const said = words
  if (kind === 'rule' || kind === 'preference') return ['record-fact', { fact: words, said }]
  if (kind === 'decision') return ['record-decision', { name: words.slice(0, 60), description: words, said }]
  if (kind === 'correction') return ['record-correction', { rightBelief: words, wrongBelief: 'otherwise', said }]
  return ['record-learning', { title: words.slice(0, 80), body: words, said }]
}

interface Asked {
  readonly typed: Typed
  readonly visible: boolean
}

/** Every prompt through the hook; nobody answers. */
async function asks(prompts: readonly Typed[]): Promise<Asked[]> {
  using replay = new Replay()
  const out: Asked[] = []
  for (const [session, all] of Map.groupBy(prompts, (p) => p.session)) {
    await replay.on(session, 'session-start', { source: 'startup' })
    for (const typed of all) {
      const { visible } = await replay.on(session, 'prompt', { prompt: typed.text })
      out.push({ typed, visible: visible?.includes('confirm?') === true })
    }
    await replay.on(session, 'session-end', { reason: 'exit' })
  }
  return out
}

const HOW = ['handoff', 'none', 'killed'] as const
interface Judged {
  readonly lasting: number
  readonly recorded: number
  readonly others: number
  readonly doubled: number
  readonly tokens: number
  /** Things that were said again in a later session, and those of them that the session had been told. */
  readonly repeated: number
  readonly told: number
}

/**
 * The labelled prompts with an agent that answers from the labels: it records what is lasting of what it is asked about. So the way
 * of the words is tested, and nothing of the judgement.
 */
async function judged(prompts: readonly Typed[]): Promise<Judged> {
  using replay = new Replay()
  const labelled = prompts.filter((p) => p.label)
  const byWords = new Map(labelled.map((p) => [wordsOf(ownWords(redact(p.text))).slice(0, 60), p]))
  const listed = (context = '') =>
    context
      .split('\n')
      .filter((line) => line.startsWith('- '))
      .flatMap((line) => {
        const said = wordsOf(line.slice(2))
        return [...byWords].flatMap(([key, p]) => (said.startsWith(key.slice(0, 30)) && p.label!.lasting ? [p] : []))
      })
  const done = new Set<string>()
  const judge = async (session: string, context: string | undefined) => {
    for (const { id, label } of listed(context)) {
      if (done.has(id) || (label!.repeat_of !== undefined && done.has(label!.repeat_of))) continue
      done.add(id)
      await replay.records(session, recordOf(label!))
    }
  }
  const agree = () => {
    const ids = replay.memory.reader
      .allIds()
      .filter((id) => replay.memory.reader.entity(id)?.fields.standing === 'proposed')
    if (ids.length > 0)
      replay.memory.act(
        ids.slice(0, 50).map((ref) => ['confirm', { ref }]),
        { by: 'person' },
      )
  }
  const byId = new Map(labelled.map((p) => [p.id, p]))
  const firstSaid = ({ label }: Typed): Typed | undefined => {
    const before = byId.get(label!.repeat_of ?? '')
    return before?.label?.repeat_of === undefined ? before : firstSaid(before)
  }
  let [n, repeated, told] = [0, 0, 0]
  for (const [session, all] of Map.groupBy(labelled, (p) => p.session)) {
    const how = HOW[n++ % HOW.length]
    agree()
    const { context: start = '' } = await replay.on(session, 'session-start', { source: 'startup' })
    let said = wordsOf(start)
    for (const typed of all) {
      const { context } = await replay.on(session, 'prompt', { prompt: typed.text })
      const before = firstSaid(typed)
      if (before && before.session !== session) {
        repeated++
        if (said.includes(wordsOf(before.label!.words ?? '').slice(0, 40))) told++
      }
      said += ` ${wordsOf(context ?? '')}`
      await judge(session, context)
    }
    if (how === 'handoff') await judge(session, (await replay.on(session, 'stop', { contextUsed: 85 })).context)
    if (how !== 'killed') await replay.on(session, 'session-end', { reason: 'exit' })
    else sessionsOf(replay.memory).end(session, 'its process is gone') // as whoever looks at it says
  }
  for (let i = 0; i < 200; i++) {
    const { context } = await replay.on(`last-${i}`, 'prompt', {
      prompt: 'What is there to do?',
    })
    const isAsked = context?.includes('Earlier sessions') === true
    if (isAsked) await judge(`last-${i}`, context)
    await replay.on(`last-${i}`, 'session-end', { reason: 'exit' })
    if (!isAsked) break
  }
  const said = (e: Entity) => provenanceOf(e).some((p) => p.said !== undefined)
  const { reader } = replay.memory
  const all = reader
    .allIds()
    .flatMap((id) => reader.entity(id) ?? [])
    .filter((e) => said(e) && e.kind !== 'proposal')
  const lasting = labelled.filter((p) => p.label!.lasting && p.label!.repeat_of === undefined)
  const holds = (p: Typed) =>
    all.filter((e) => wordsOf(JSON.stringify(e.fields)).includes(wordsOf(p.label!.words ?? '').slice(0, 60)))
  const found = lasting.filter((p) => holds(p).length > 0)
  agree()
  const { text } = brief(replay.memory, replay.project, { moment: replay.now })
  return {
    lasting: lasting.length,
    recorded: found.length,
    others: Math.max(0, all.length - found.length),
    doubled: found.filter((p) => holds(p).length > 1).length,
    tokens: estimateTokens(text),
    repeated,
    told,
  }
}

/** Wilson's interval of a share, at 95 %. */
function interval(k: number, n: number): string {
  if (n === 0) return '-'
  const [z, p] = [1.96, k / n]
  const middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n)
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))
  return `${(middle - half).toFixed(2)} to ${(middle + half).toFixed(2)}`
}
const share = (what: string, k: number, n: number, least?: number): Row => ({
  what,
  cells: [k, n, n === 0 ? '-' : (k / n).toFixed(3), interval(k, n)],
  ...(least === undefined ? {} : { bound: `≥ ${least}`, ok: k / n >= least }),
})

async function run(): Promise<Table[]> {
  const mirror = process.env.TIDEMARK_REAL_MIRROR
  if (!mirror || !existsSync(TOOL)) {
    const note =
      'skipped: TIDEMARK_REAL_MIRROR names no mirror of the repositories, or the tool that reads them is not there'
    return [{ title: 'real prompts', columns: [], rows: [], notes: [note] }]
  }
  const prompts = promptsIn(mirror)
  const repos = [...Map.groupBy(prompts, (p) => p.repo).values()]
  const all: Asked[] = []
  for (const repo of repos) all.push(...(await asks(repo)))
  const labelled = all.filter((a) => a.typed.label)
  const questions = labelled.filter((a) => a.visible)
  const right = questions.filter((a) => a.typed.label!.lasting)
  const explicit = labelled.filter((a) => a.typed.label!.lasting && a.typed.label!.explicit)
  const sessions = [...Map.groupBy(all, (a) => `${a.typed.repo} ${a.typed.session}`).values()]
  const perSession = quantile(
    sessions.map((s) => s.filter((a) => a.visible).length).sort((a, b) => a - b),
    0.95,
  )
  const wrong = (100 * (questions.length - right.length)) / labelled.length
  const judgedAll: Judged[] = []
  for (const repo of repos) judgedAll.push(await judged(repo))
  const longest = Math.max(...judgedAll.map((j) => j.tokens))
  const sum = (key: keyof Judged) => judgedAll.reduce((n, j) => n + j[key], 0)
  return [
    {
      title: `questions to the person: ${prompts.length} prompts of ${repos.length} repositories, ${labelled.length} labelled`,
      columns: ['', 'of', 'share', '95 %'],
      rows: [
        share('questions on a prompt that says something lasting', right.length, questions.length, 0.8),
        share(
          'explicit ones that are asked about by words alone',
          explicit.filter((a) => a.visible).length,
          explicit.length,
          0.5,
        ),
        {
          what: 'wrong questions in 100 labelled prompts',
          cells: [wrong.toFixed(2), '', '', ''],
          bound: '≤ 1',
          ok: wrong <= 1,
        },
        {
          what: 'questions in 100 prompts, all',
          cells: [((100 * all.filter((a) => a.visible).length) / all.length).toFixed(2), '', '', ''],
        },
        { what: 'questions of a session, p95', cells: [perSession, '', '', ''], bound: '≤ 2', ok: perSession <= 2 },
      ],
    },
    {
      title: 'the way of the words, with a judge that answers from the labels (a test of the plumbing)',
      columns: ['', 'of', 'share', '95 %'],
      rows: [
        share('lasting things recorded with evidence', sum('recorded'), sum('lasting'), 0.95),
        share('said again in a later session, and told before', sum('told'), sum('repeated'), 0.8),
        { what: 'recorded twice', cells: [sum('doubled'), '', '', ''], bound: '0', ok: sum('doubled') === 0 },
        {
          what: 'tokens of the longest last briefing',
          cells: [longest, '', '', ''],
          bound: '≤ 400',
          ok: longest <= 400,
        },
      ],
    },
  ]
}

export const bench: Bench = { name: 'real', about: 'what developers really typed, through the hooks', run }
