import { ago, entityJson, oneLine } from './present.ts'
import type { Tool } from './tool.ts'

export const review: Tool = {
  name: 'review',
  title: 'Review proposals',
  about: 'lists what waits for somebody to confirm or reject it',
  example: 'tidemark review',
  params: {},
  readOnly: true,
  run({ memory }) {
    const { reader } = memory
    const found = reader
      .registry()
      .kinds()
      .flatMap((k) => reader.list(k.name, { standing: 'proposed' }))
      .sort((a, b) => b.created - a.created || (a.id < b.id ? -1 : 1))
    const now = memory.env.now()
    const lines = found.map(
      (e) =>
        `${e.kind}  ${oneLine(e.kind === 'relationship' ? `${String(e.fields.from)} ${String(e.fields.type)} ${String(e.fields.to)}` : e.name, 90)}  (${ago(e.created, now)})\n  ${e.id}`,
    )
    const text =
      found.length === 0
        ? 'nothing is proposed'
        : `${lines.join('\n')}\n\ntidemark act '[["confirm", {"ref": "${found[0]!.id}"}]]' agrees; "reject" turns it down`
    return { text, json: found.map(entityJson) }
  },
}
