import { referenceTo } from '../discover/values.ts'
import type { Json } from '../model/field.ts'
import { fieldsOf } from '../model/kind.ts'
import { shortRefs } from '../read/short-references.ts'
import { ago, entityJson, findOne } from './format.ts'
import type { Span, Tool } from './tool.ts'

function shown(value: Json): string {
  if (Array.isArray(value)) return value.map((v) => `\n    - ${typeof v === 'string' ? v : JSON.stringify(v)}`).join('')
  return typeof value === 'string' ? value.replace(/\n/g, '\n    ') : JSON.stringify(value)
}

/** The name of a field stands back behind what it says. */
function told(line: string): Span[] {
  const [, label = '', rest = line] = /^([\w-]{1,40}(?::| [→←]) )(.*)$/.exec(line) ?? []
  return [['aside', label], rest]
}

export const show: Tool = {
  name: 'show',
  title: 'Show one entity',
  about: 'shows everything recorded of one entity, its links and who said it',
  example: 'tidemark show use-sqlite',
  params: {
    ref: {
      type: 'text',
      about: 'an id, kind:name, a path, a name, or a short reference such as #a3f',
      required: true,
      place: 'rest',
    },
  },
  readOnly: true,
  run({ memory }, args) {
    const { reader } = memory
    const e = findOne(reader, args.ref, true)
    const kind = reader.registry().kind(e.kind)
    const order = [...new Set([...Object.keys(kind ? fieldsOf(kind) : {}), ...Object.keys(e.fields)])]
    const now = memory.env.now()
    const lines = [`${e.kind} ${e.name}${e.live ? '' : '  (deleted; restore brings it back)'}`]
    for (const field of order) {
      const value = e.fields[field]
      if (value === undefined || field === 'provenance' || value === e.name) continue
      lines.push(`  ${field}: ${shown(value)}`)
    }
    const from = reader.links('from', e.id)
    const to = reader.links('to', e.id)
    for (const l of from) lines.push(`  ${l.type} → ${referenceTo(reader, l.to)}`)
    for (const l of to)
      lines.push(`  ${reader.registry().relation(l.type)?.inverse ?? `${l.type} of`} ← ${referenceTo(reader, l.from)}`)
    for (const c of e.conflicts) {
      lines.push(
        `  conflict in ${c.field === '$' ? 'existence' : c.field}: ${c.values.map((v) => JSON.stringify(v.value ?? null)).join(' against ')} (write it again to settle it)`,
      )
    }
    const who = ((e.fields.provenance ?? []) as { [key: string]: Json }[]).map((p) =>
      [p.user, p.agent, p.session, p.branch].filter(Boolean).join(', '),
    )
    lines.push(
      `  recorded ${ago(e.created, now)}${who.length > 0 && who[0] ? ` by ${[...new Set(who)].join('; ')}` : ''} · version ${e.version}`,
      `  ${e.id}`,
    )
    const link = (l: { id: string; from: string; to: string; type: string }) => ({
      id: l.id,
      from: l.from,
      to: l.to,
      type: l.type,
    })
    return {
      text: lines.join('\n'),
      page() {
        const [ref = ''] = shortRefs([e.id], reader.allIds()).values()
        const [head = '', ...rest] = lines
        const state = head.slice(`${e.kind} ${e.name}`.length)
        return [
          { line: [['name', e.name], state, '  ', ['kind', e.kind], ' ', ['ref', ref]] },
          ...rest
            .flatMap((l) => l.split('\n'))
            .map((l) => ({ line: told(l.trimStart()), indent: l.length - l.trimStart().length })),
        ]
      },
      json: {
        ...(entityJson(e) as { [k: string]: Json }),
        links: [...from, ...to].map(link),
        conflicts: e.conflicts as unknown as Json,
      },
    }
  },
}
