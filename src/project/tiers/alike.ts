import { readInside } from '../../base/files.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import { type Entity, isAgreed } from '../../model/entity.ts'
import { isObject } from '../../model/object.ts'

/** Kinds that say how a project is built: what another one may take over. */
const HOW = ['pattern', 'decision', 'principle', 'fact', 'learning'] as const
const MOST_BYTES = 1024 * 1024

/** What a manifest names as needed, by the file's name. */
const MANIFESTS: Readonly<Record<string, (text: string) => Iterable<string>>> = {
  'package.json': (text) => {
    const whole: unknown = JSON.parse(text)
    const named = (key: string) => (isObject(whole) && isObject(whole[key]) ? Object.keys(whole[key]) : [])
    return [...named('dependencies'), ...named('devDependencies')]
  },
  'requirements.txt': (text) => firsts(text, /^([A-Za-z][\w.-]{0,80})/),
  'go.mod': (text) => firsts(text, /^(?:require )?\s?([\w.-]{1,80}\/[\w./-]{1,200}) v\d/),
  'Cargo.toml': (text) =>
    firsts(
      text
        .split(/^\[(?:dev-)?dependencies\]$/m)
        .slice(1)
        .join('\n'),
      /^([\w-]{1,80}) ?=/,
    ),
}

const firsts = (text: string, shape: RegExp): string[] =>
  text.split('\n').flatMap((line) => shape.exec(line)?.[1]?.toLowerCase() ?? [])

/** What a project is made with: what its manifests name, and the topics of what is known. */
export function traitsOf({ root }: Project, { reader }: Memory): Set<string> {
  const traits = new Set<string>()
  for (const [file, names] of Object.entries(MANIFESTS)) {
    try {
      for (const name of names(readInside(root, file, MOST_BYTES)?.toString('utf8') ?? '')) traits.add(name)
    } catch {} // no manifest, or one that is broken
  }
  for (const kind of HOW)
    for (const { fields } of reader.list(kind))
      for (const said of [fields.topics, fields.stack])
        for (const topic of Array.isArray(said) ? said : []) traits.add(String(topic).toLowerCase())
  return traits
}

/** How alike two projects are: what they share of all that either has, and what that is. */
export function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): { score: number; shared: string[] } {
  const shared = [...a].filter((trait) => b.has(trait)).sort()
  return { score: shared.length / Math.max(1, a.size + b.size - shared.length), shared }
}

/** What another project is built by and this one does not know: weightiest first, then newest. */
export function toReuse(theirs: Memory, project: Project, here: Memory, most: number): Entity[] {
  const isKnown = ({ id, kind }: Entity) => {
    const mark = `${project.id}/${id}`
    const isFrom = (e: Entity) => isObject(e.fields.attrs) && e.fields.attrs.origin === mark
    return here.reader.entity(id) !== undefined || here.reader.list(kind, { all: true }).some(isFrom)
  }
  const weight = (e: Entity) => Number(e.fields.impact ?? 0) + 10 * Number(e.fields.confidence ?? 0)
  return HOW.flatMap((kind) => theirs.reader.list(kind).filter((e) => isAgreed(e) && e.fields.status !== 'superseded'))
    .sort((a, b) => weight(b) - weight(a) || b.created - a.created || (a.id < b.id ? -1 : 1))
    .slice(0, most * 4)
    .filter((e) => !isKnown(e))
    .slice(0, most)
}
