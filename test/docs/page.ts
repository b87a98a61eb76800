/**
 * The transcripts of a page: what somebody types and what is answered, in the order in which it happens.
 *
 * `console` is a terminal: a line `$ command` (`name$` on the machine of that name, `(3 days ago) $` at that time), its
 * continuation lines after `> `, then the output. `mcp` is an agent that has MCP alone: `name> tool {arguments}`, then the
 * answer. `claude` and `codex` are sessions in that client: who says or does something, a colon, the text.
 * A line `…` stands for lines that the page leaves out.
 */
export interface Typed {
  readonly is: 'typed'
  readonly machine: string
  /** How many days ago. */
  readonly ago: number
  readonly command: string
  readonly expected: Lines
}

export interface Called {
  readonly is: 'called'
  readonly agent: string
  readonly tool: string
  readonly input: Record<string, unknown>
  readonly expected: Lines
}

export interface Chatted {
  readonly is: 'chatted'
  readonly client: 'claude' | 'codex'
  readonly machine: string
  readonly ago: number
  readonly turns: readonly Turn[]
}

export interface Turn {
  readonly prompt: string
  /** What the person sees of Tidemark. */
  readonly seen: readonly Lines[]
  readonly steps: readonly (Read | Call | Say)[]
}
/** What the agent reads of Tidemark. */
export type Read = { readonly read: Lines }
export type Call = { readonly call: string; readonly input: object; readonly result: Lines }
export type Say = { readonly say: string }

export interface Lines {
  readonly lines: readonly string[]
  /** Where they stand in the page. */
  readonly at: number
}

export type Step = Typed | Called | Chatted

export interface Section {
  readonly title: string
  readonly steps: readonly Step[]
}

const PROMPT = /^(?:\((\d+) (day|week)s? ago\) )?([a-z]*)\$ (.*)$/
const CALL = /^([a-z-]+)> ([a-z_]+) (\{.*)$/
const CHAT = /^(you|Tidemark to you|Tidemark to the agent|the agent calls ([\w]+)|Tidemark answers|the agent): ?(.*)$/

const daysAgo = (n: string | undefined, unit: string | undefined): number => Number(n ?? 0) * (unit === 'week' ? 7 : 1)

/** The `##` sections of a page that hold transcripts. */
export function sectionsOf(page: string): Section[] {
  const sections: { title: string; steps: Step[] }[] = []
  const lines = page.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    if (line.startsWith('## ')) sections.push({ title: line.slice(3), steps: [] })
    const fence = /^```(console|mcp|claude|codex)(?: (.*))?$/.exec(line)
    if (!fence) continue
    const start = ++at
    while (lines[at] !== '```') if (++at > lines.length) throw new Error(`line ${start}: a block without an end`)
    const block = lines.slice(start, at)
    const [, kind] = fence
    const steps = sections.at(-1)!.steps
    if (kind === 'console') steps.push(...typedIn(block, start))
    else if (kind === 'mcp') steps.push(...calledIn(block, start))
    else steps.push({ ...chatIn(block, start), client: kind as 'claude' | 'codex', ...placeOf(fence[2]) })
  }
  return sections.filter((s) => s.steps.length > 0)
}

function placeOf(info = ''): { machine: string; ago: number } {
  const [, n, unit, machine = ''] = /^(?:\((\d+) (day|week)s? ago\) ?)?([a-z]*)$/.exec(info)!
  return { machine, ago: daysAgo(n, unit) }
}

const cut = (block: readonly string[], from: number, ends: (line: string) => boolean): string[] => {
  const end = block.findIndex((line, i) => i >= from && ends(line))
  return block.slice(from, end < 0 ? undefined : end)
}

function typedIn(block: readonly string[], start: number): Typed[] {
  return block.flatMap((line, i) => {
    const prompt = PROMPT.exec(line)
    if (!prompt) return []
    const [, n, unit, machine = '', first] = prompt
    const more = cut(block, i + 1, (l) => !/^>( |$)/.test(l)).map((l) => l.slice(2))
    const from = i + 1 + more.length
    const lines = cut(block, from, (l) => PROMPT.test(l))
    return {
      is: 'typed',
      machine,
      ago: daysAgo(n, unit),
      command: [first, ...more].join('\n'),
      expected: { lines, at: start + from },
    }
  })
}

function calledIn(block: readonly string[], start: number): Called[] {
  return block.flatMap((line, i) => {
    const called = CALL.exec(line)
    if (!called) return []
    const [, agent, tool, json] = called
    const more = cut(block, i + 1, (l) => !l.startsWith('  > ')).map((l) => l.slice(4))
    const from = i + 1 + more.length
    const input = JSON.parse([json, ...more].join('\n')) as Record<string, unknown>
    const lines = cut(block, from, (l) => CALL.test(l))
    return { is: 'called', agent: agent!, tool: tool!, input, expected: { lines, at: start + from } }
  })
}

function chatIn(block: readonly string[], start: number): { is: 'chatted'; turns: Turn[] } {
  const turns: { prompt: string; seen: Lines[]; steps: (Read | Call | Say)[] }[] = []
  block.forEach((line, i) => {
    const said = CHAT.exec(line)
    if (!said) return
    const [, who, tool, first] = said
    const lines = [first!, ...cut(block, i + 1, (l) => CHAT.test(l))]
    const text = lines.join('\n').trim()
    const turn = turns.at(-1)
    if (who === 'you') turns.push({ prompt: text, seen: [], steps: [] })
    else if (!turn) throw new Error(`line ${start + i}: nobody has said anything yet`)
    else if (who === 'Tidemark to you') turn.seen.push({ lines, at: start + i })
    else if (who === 'Tidemark to the agent') turn.steps.push({ read: { lines, at: start + i } })
    else if (tool) turn.steps.push({ call: tool, input: JSON.parse(text) as object, result: { lines: [], at: 0 } })
    else if (who === 'the agent') turn.steps.push({ say: text })
    else {
      const last = turn.steps.at(-1)
      if (!last || !('call' in last)) throw new Error(`line ${start + i}: an answer to no call`)
      turn.steps[turn.steps.length - 1] = { ...last, result: { lines, at: start + i } }
    }
  })
  return { is: 'chatted', turns }
}
