import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { shapesOf } from '../src/discover/values.ts'
import { KINDS } from '../src/kinds/index.ts'
import { RELATIONS } from '../src/kinds/relations.ts'
import { createRegistry } from '../src/schema/registry.ts'
import { type Data, DataEntity, printData } from '../src/scheme/data.ts'
import { SAMPLES, type Sample } from './fixture.ts'
import { ROOT } from './project.ts'
import { type Bench, median, type Row, type Table } from './table.ts'

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

export const bench: Bench = {
  name: 'tokens',
  about: 'what knowledge costs in each notation, counted by the o200k tokenizer',
  async run() {
    const shortOnes = SAMPLES.filter(isShort)
    const facts = SAMPLES.filter(([kind]) => kind === 'fact')
    // the example of S4: short fields alone
    const selected = SAMPLES.filter(([kind]) => kind === 'principle').map(
      ([kind, { name, confidence, tags }]): Sample => [kind, { name: name!, confidence: confidence!, tags: tags! }],
    )
    const tables = [
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
