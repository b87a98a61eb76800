import { expect, test } from 'vitest'
import { provenanceOf } from './entity.ts'

test('who wrote something is read from what is a list of objects, whatever a foreign line says', () => {
  const of = (provenance: unknown) => provenanceOf({ fields: { provenance } as never })
  expect(of([{ user: 'ana' }, null, 'x', [1], { agent: 'b' }])).toEqual([{ user: 'ana' }, { agent: 'b' }])
  for (const odd of [undefined, null, 'ana', { user: 'ana' }, 3]) expect(of(odd)).toEqual([])
})
