import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { KINDS } from '../src/model/kinds/index.ts'
import { createRegistry } from '../src/model/registry.ts'
import { RELATIONS } from '../src/model/relations.ts'
import { shapesOf } from '../src/project/discover/values.ts'
import { openProject } from '../src/project/open.ts'
import { type Data, DataEntity, printData } from '../src/scheme/data.ts'
import { mcpTools, schemaOf } from '../src/surfaces/mcp/call.ts'
import { INSTRUCTIONS } from '../src/surfaces/mcp/mcp.ts'
import type { ClientName } from '../src/work/coordination/clients.ts'
import { liveDay, type Put } from './day.ts'
import { SAMPLES, type Sample } from './fixture.ts'
import { ROOT, tempProject } from './project.ts'
import { type Bench, median, most, type Row, type Table } from './table.ts'

const registry = createRegistry(KINDS, RELATIONS)
const shapes = shapesOf(registry)
const count = (text: string) => encode(text).length
const entity = ([kind, fields]: Sample) => new DataEntity(kind, new Map(Object.entries(fields) as [string, Data][]))
const plural = (kind: string) => registry.kind(kind)?.plural ?? `${kind}s`

function markdown([kind, fields]: Sample): string {
  const [[, title] = ['', ''], ...rest] = Object.entries(fields)
  return [
    `### ${kind}: ${String(title)}`,
    '',
    ...rest.map(([k, v]) => `- **${k}**: ${Array.isArray(v) ? v.join(', ') : String(v)}`),
  ].join('\n')
}

/** One entity alone, as it is told in an answer. */
const ALONE = {
  'S-expression': (s: Sample) => printData(entity(s), shapes),
  'minified JSON': ([kind, fields]: Sample) => JSON.stringify({ kind, ...fields }),
  'indented JSON': ([kind, fields]: Sample) => JSON.stringify({ kind, ...fields }, null, 2),
  Markdown: markdown,
}

const grouped = (samples: readonly Sample[]) => Map.groupBy(samples, ([kind]) => plural(kind))
const asGroups = (samples: readonly Sample[]) =>
  Object.fromEntries([...grouped(samples)].map(([name, of]) => [name, of.map(([, fields]) => fields)]))

/** Many at once: kinds together, as lists print. */
const LISTED = {
  'S-expression, tables': (samples: readonly Sample[]) =>
    [...grouped(samples).values()].map((of) => printData(of.map(entity), shapes)).join('\n'),
  'minified JSON': (samples: readonly Sample[]) =>
    JSON.stringify(samples.map(([kind, fields]) => ({ kind, ...fields }))),
  'minified JSON by kind': (samples: readonly Sample[]) => JSON.stringify(asGroups(samples)),
  'indented JSON': (samples: readonly Sample[]) => JSON.stringify(asGroups(samples), null, 2),
  Markdown: (samples: readonly Sample[]) => samples.map(markdown).join('\n\n'),
}

const less = (ours: number, theirs: number) => `${(100 * (1 - ours / theirs)).toFixed(1)} %`

/** The longest text of an entity is short: S3 promises most there. */
const isShort = ([, fields]: Sample) => Object.values(fields).every((v) => typeof v !== 'string' || count(v) < 30)

function alone(title: string, samples: readonly Sample[]): Table {
  const sums = Object.entries(ALONE).map(([format, print]) => ({ format, each: samples.map((s) => count(print(s))) }))
  const sum = (each: readonly number[]) => each.reduce((a, b) => a + b, 0)
  const [ours] = sums
  const rows: Row[] = sums.map(({ format, each }) => {
    const worse = ours!.each.filter((n, i) => n >= each[i]!).length
    const bound =
      format === 'minified JSON'
        ? { bound: 'each one dearer (S3)', ok: worse === 0 }
        : format === 'indented JSON' && samples.every(isShort)
          ? { bound: 'saves ≥ 35 % (S3)', ok: sum(ours!.each) <= 0.65 * sum(each) }
          : {}
    const own = format === 'S-expression'
    return {
      what: format,
      cells: [sum(each), median(each), own ? '' : less(sum(ours!.each), sum(each)), own ? '' : worse],
      ...bound,
    }
  })
  return {
    title: `${title}: ${samples.length} entities, each alone`,
    columns: ['tokens', 'median', 'S-expr saves', 'not less for'],
    rows,
  }
}

function listed(title: string, samples: readonly Sample[], isBound = false): Table {
  const sums = Object.entries(LISTED).map(([format, print]) => ({ format, tokens: count(print(samples)) }))
  const ours = sums[0]!.tokens
  return {
    title: `${title}: ${samples.length} entities in one answer`,
    columns: ['tokens', 'S-expr saves'],
    rows: sums.map(({ format, tokens }) => ({
      what: format,
      cells: [tokens, tokens === ours ? '' : less(ours, tokens)],
      ...(format === 'minified JSON by kind'
        ? isBound
          ? { bound: 'saves ≥ 20 % (S4)', ok: ours <= 0.8 * tokens }
          : { bound: 'never more (S4)', ok: ours <= tokens }
        : {}),
    })),
  }
}

/** The real learnings of another project, where its files are at hand; never copied into this one. */
function realLearnings(): readonly Sample[] {
  const path = join(ROOT, '..', 'shared', 'data', 'projects', 'add', 'learnings.json')
  if (!existsSync(path)) return []
  const { entries } = JSON.parse(readFileSync(path, 'utf8')) as { entries: Record<string, string | string[]>[] }
  return entries.map((e) => {
    const { title, body, severity, category, scope, stack, date, classified_by, checkpoint_type } = e
    const said = {
      title,
      body,
      severity,
      category,
      scope,
      stack,
      date,
      classifiedBy: classified_by,
      checkpointType: checkpoint_type,
    }
    return [
      'learning',
      Object.fromEntries(Object.entries(said).filter(([, v]) => v !== undefined && v.length > 0)),
    ] as Sample
  })
}

interface Defined {
  readonly name: string
  readonly description: string
  readonly schema: object
}

/** The tools as MCP lists them. */
const definitions = async (): Promise<Defined[]> =>
  (await mcpTools()).map((tool) => ({ name: tool.name, description: tool.about, schema: schemaOf(tool) }))

/** How a client puts a tool before its model, as seen in its requests; where it could not be run, as Claude Code does. */
const WIRE: Readonly<Record<ClientName, (tool: Defined) => object>> = {
  claude: ({ name, description, schema }) => ({ name: `mcp__tidemark__${name}`, description, input_schema: schema }),
  codex: ({ name, description, schema }) => ({
    type: 'function',
    name,
    description,
    strict: false,
    parameters: schema,
  }),
  gemini({ name, description, schema }) {
    const wait = {
      type: 'boolean',
      description:
        'Set to true to wait for all previously requested tools in this turn to complete before starting. Set to false (or omit) to run in parallel. Use true when this tool depends on the output of previous tools.',
    }
    const { properties, ...rest } = schema as { properties: object }
    const parametersJsonSchema = { ...rest, properties: { ...properties, wait_for_previous: wait } }
    return { name: `mcp_tidemark_${name}`, description, parametersJsonSchema }
  },
  copilot: ({ name, description, schema }) => asFunction(`tidemark-${name}`, description, schema),
  opencode: ({ name, description, schema }) =>
    asFunction(`tidemark_${name}`, description, { ...schema, additionalProperties: false }),
  cursor: (tool) => WIRE.claude(tool),
}
const asFunction = (name: string, description: string, parameters: object) => ({
  type: 'function',
  function: { name, description, parameters },
})

/** Copilot CLI does not hand them to its model. */
const instructionsOf = (client: ClientName): number => (client === 'copilot' ? 0 : count(INSTRUCTIONS))

/** Tools and instructions: a session pays for both before its first word. */
const DEFINED_AT_MOST = 1_100
const PROMPT_AT_MOST = 60

function ofTools(tools: readonly Defined[]): Table {
  const cost = ({ name, description, schema }: Defined) =>
    count(JSON.stringify({ name, description, input_schema: schema }))
  const instructions = count(INSTRUCTIONS)
  const all = tools.reduce((sum, tool) => sum + cost(tool), instructions)
  return {
    title: 'definitions of the tools',
    columns: ['tokens'],
    rows: [
      ...tools.map((tool) => ({ what: tool.name, cells: [cost(tool)] })),
      { what: 'instructions', cells: [instructions] },
      { what: 'all', cells: [all], bound: `≤ ${DEFINED_AT_MOST}`, ok: all <= DEFINED_AT_MOST },
    ],
  }
}

const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0)

/** What the day cost with one client, and whether a prompt was told little enough on average. */
function ofDay(client: ClientName, tools: readonly Defined[], put: readonly Put[]): Row {
  const at = (is: (p: Put) => boolean) => put.filter(is).map((p) => count(p.text))
  const defined = sum(tools.map((tool) => count(JSON.stringify(WIRE[client](tool)))))
  const prompts = at((p) => p.event === 'prompt')
  const mean = sum(prompts) / prompts.length
  const others = at((p) => p.event !== 'prompt' && p.event !== 'session-start')
  return {
    what: client,
    cells: [
      defined,
      instructionsOf(client),
      most(at((p) => p.source === 'startup')),
      sum(at((p) => p.source !== undefined && p.source !== 'startup')),
      mean,
      most(prompts),
      sum(others),
      sum(at(() => true)),
    ],
    bound: `a prompt ≤ ${PROMPT_AT_MOST}`,
    ok: mean <= PROMPT_AT_MOST,
  }
}

async function ofClients(tools: readonly Defined[]): Promise<Table> {
  const rows: Row[] = []
  let prompts = 0
  for (const client of Object.keys(WIRE) as ClientName[]) {
    const project = tempProject()
    const memory = openProject(project, { unlisted: true })
    const put = await liveDay(memory, project, client)
    memory.close()
    prompts = put.filter((p) => p.event === 'prompt').length
    rows.push(ofDay(client, tools, put))
  }
  return {
    title: `what a session costs with each client, in tokens: a recorded day of three sessions and ${prompts} prompts`,
    columns: [
      'tools',
      'instructions',
      'start, most',
      'compact, resume',
      'prompt',
      'most',
      'elsewhere',
      'hooks, all day',
    ],
    rows,
    notes: ['tools and instructions once for each session; of a prompt the mean, and the most'],
  }
}

export const bench: Bench = {
  name: 'tokens',
  about: 'what a session costs with each client, and knowledge in each notation, counted by the o200k tokenizer',
  async run() {
    const tools = await definitions()
    const shortOnes = SAMPLES.filter(isShort)
    const facts = SAMPLES.filter(([kind]) => kind === 'fact')
    // the example of S4: short fields alone
    const selected = SAMPLES.filter(([kind]) => kind === 'principle').map(
      ([kind, { name, confidence, tags }]): Sample => [kind, { name: name!, confidence: confidence!, tags: tags! }],
    )
    const tables = [
      ofTools(tools),
      await ofClients(tools),
      alone('our fixture', SAMPLES),
      alone('those with short text only', shortOnes),
      listed('our fixture', SAMPLES),
      listed(
        'principles',
        SAMPLES.filter(([kind]) => kind === 'principle'),
      ),
      listed('facts: a sentence and a category', facts, true),
      listed('principles, name, confidence and tags', selected, true),
    ]
    const learnings = realLearnings()
    if (learnings.length === 0) return tables
    return [
      ...tables,
      alone('learnings of a real project (ADD)', learnings),
      listed('learnings of a real project (ADD)', learnings),
    ]
  },
}
