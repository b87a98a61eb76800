import { referenceTo } from '../discover/values.ts'
import { moment } from './format.ts'
import { AS_OF, at } from './moment.ts'
import { defineTool } from './tool.ts'

export const conflicts = defineTool({
  name: 'conflicts',
  title: 'Conflicts',
  about: 'lists values that were written concurrently and still stand beside each other; writing one again settles it',
  example: 'tidemark conflicts',
  params: { 'as-of': AS_OF },
  readOnly: true,
  async run(context, args) {
    const { local } = context
    const { reader } = await at(context, args)
    const found = reader.conflicts().flatMap((e) => e.conflicts.map((c) => ({ e, c })))
    const lines = found.map(({ e, c }) => {
      const values = c.values.map(
        (v) =>
          `${v.value === undefined ? '(cleared)' : JSON.stringify(v.value)} at ${moment(v.at, local)} by replica ${v.replica}`,
      )
      return `${referenceTo(reader, e.id)} · ${c.field === '$' ? 'deleted while it was edited' : c.field}\n  ${values.join('\n  ')}`
    })
    return {
      text: lines.join('\n') || 'no conflicts',
      json: found.map(({ e, c }) => ({
        id: e.id,
        field: c.field === '$' ? 'existence' : c.field,
        values: c.values.map((v) => ({ value: v.value ?? null, at: new Date(v.at).toISOString(), replica: v.replica })),
      })),
    }
  },
})
