import { describe, expect, test } from 'vitest'
import { shortRefs } from '../../src/engine/read/short-references.ts'
import { findOne } from '../../src/surfaces/tools/format.ts'
import { openTestMemory, userError } from '../helpers.ts'

const many = Array.from({ length: 20_000 }, (_, i) => `decision:use-thing-${i}`)

describe('short references', () => {
  test('[D11] are the shortest that mean one thing, begin with a letter, and are the same for the same id', () => {
    const shown = shortRefs(many, many)
    expect(new Set(shown.values()).size).toBe(many.length)
    for (const ref of shown.values()) expect(ref).toMatch(/^#[a-f][0-9a-f]{2,8}$/)
    const lengths = [...shown.values()].map((ref) => ref.length)
    expect(lengths.reduce((sum, n) => sum + n, 0) / many.length).toBeLessThan(6)
    const [alone] = shortRefs(['decision:use-thing-7'], ['decision:use-thing-7', 'fact:x']).values()
    expect(alone).toMatch(/^#[a-f][0-9a-f]{2}$/)
    expect(shown.get('decision:use-thing-7')!.startsWith(alone!)).toBe(true)
  })

  test('[D11] every verb and query takes them; one that means several things is refused with the candidates', () => {
    const m = openTestMemory()
    m.act([
      ['record-decision', { name: 'use-sqlite' }],
      ['record-question', { question: 'Which port?' }],
    ])
    const ref = (id: string) => shortRefs([id], m.memory.reader.allIds()).get(id)!
    const question = m.get('Which port?')!.id
    m.act([['answer-question', { ref: ref(question), answer: '5432' }]])
    expect(m.get(ref(question))?.fields.answer).toBe('5432')
    expect(m.get(ref(question).toUpperCase())?.id).toBe(question)
    expect(m.discover(`(:name (get-decision "${ref('decision:use-sqlite')}"))`)).toEqual(['"use-sqlite"'])
    m.act([['delete-decision', { ref: ref('decision:use-sqlite') }]])
    expect(m.get('use-sqlite')?.live).toBe(false)
    // what is called so comes first, and the number of an issue is none
    m.act([['record-decision', { name: ref(question) }]])
    expect(m.get(ref(question))?.kind).toBe('decision')
    expect(m.refused([['answer-question', { ref: '#123', answer: 'x' }]])[0]?.message).toContain('nothing is called')
    for (let i = 0; i < 40; i++)
      m.act(Array.from({ length: 50 }, (_, j) => ['record-principle', { name: `p-${i}-${j}` }]))
    const ids = m.memory.reader.allIds()
    const long = [...shortRefs(ids, ids).values()].find((r) => r.length > 4)!
    const said = userError(() => m.act([['retire', { ref: long.slice(0, 4), reason: 'x' }]])).message
    expect(said).toMatch(/means several things .*principle:p-/)
  })

  test('[D11] people may leave out the #, which begins a comment in a shell; what is called so comes first', () => {
    const m = openTestMemory()
    for (let i = 0; i < 40; i++) m.act([['record-principle', { name: `p-${i}` }]])
    const ids = m.memory.reader.allIds()
    const refs = ids.map((id) => [id, shortRefs([id], ids).get(id)!.slice(1)] as const)
    const [id, bare] = refs.find(([, ref]) => /[0-9]/.test(ref))!
    expect(findOne(m.memory.reader, bare).id).toBe(id)
    expect(userError(() => findOne(m.memory.reader, 'face')).code).toBe('not-found')
    m.act([['record-decision', { name: bare }]])
    expect(findOne(m.memory.reader, bare).kind).toBe('decision')
  })
})
