import { expect, test } from 'vitest'
import { openTestMemory } from '../../../test/helpers.ts'
import type { Kind } from '../../model/kind.ts'
import { KINDS } from '../../model/kinds/index.ts'
import { shapesOf } from '../../project/discover/values.ts'
import { parseData } from '../../scheme/data.ts'
import { cardOf, formsOf, type Printable } from './card.ts'
import { Recaller } from './recall.ts'

const PUBLIC: readonly Kind[] = KINDS.filter((k: Kind) => !k.internal && k.name !== 'relationship')

test('[S2] a card is what discover prints of the entity, for every kind', () => {
  const t = openTestMemory()
  const registry = t.memory.reader.registry()
  for (const kind of PUBLIC) {
    t.act([[`record-${kind.name}`, { ...kind.example, tags: ['x y', 'z'], standing: 'proposed' }]])
    const [e] = t.memory.reader.list(kind.name, { standing: 'proposed' })
    expect(cardOf(e!, registry), kind.name).toBe(t.discover(`(car (get-${kind.plural} :limit 1))`)[0])
  }
})

test('a piece of a page is told with its place', () => {
  const content = '| a | b |\n|---|---|\n'.repeat(20)
  const fields = { content, sourceFile: 'docs/hub.md', section: 'A hub for a team › Running it', position: 3 }
  const { line } = formsOf({ id: 'chunk:x', kind: 'chunk', name: content, fields }, openTestMemory().memory.registry())
  expect(line).toContain(':sourceFile docs/hub.md :section "Running it"')
})

test('[S1] the line of a piece begins where the words of the question stand', () => {
  const t = openTestMemory()
  const before = 'Setting this to off causes every check of permissions to be passed by. '.repeat(9)
  const content = `${before}\nThe time limit of a query is sql_time_limit_ms, by default 1000. It can be raised.`
  t.act([['record-chunk', { content, sourceFile: 'docs/settings.rst' }]])
  const recaller = new Recaller(t.memory, t.project, { embedder: { use: 'none' } })
  const { text } = recaller.askNow('how do I raise the time limit of a query', { budget: 120 })
  expect(text).toContain(
    '(chunk "…The time limit of a query is sql_time_limit_ms, by default 1000. It can be raised." :id ',
  )
})

test('[S1] both forms read back, remarks and all', () => {
  const t = openTestMemory()
  const registry = t.memory.reader.registry()
  const shapes = shapesOf(registry)
  const e: Printable = {
    id: 'decision:use-sqlite',
    kind: 'decision',
    name: 'use-sqlite',
    fields: { name: 'use-sqlite', description: 'One file. '.repeat(40), rationale: 'no |# daemon' },
    similar: ['fact:a', 'fact:b', 'fact:c', 'fact:d'],
    contradicts: ['decision:use-postgres'],
    state: 'superseded',
  }
  const { card, line } = formsOf(e, registry)
  for (const form of [card, line]) {
    expect(form).toMatch(
      /#\| superseded; contradicts decision:use-postgres; 4 more alike: fact:a, fact:b, fact:c … \|#$/,
    )
    expect(parseData(form, shapes)).toMatchObject({ kind: 'decision' })
  }
  // what its fields say is not said twice
  const { card: whole, line: short } = formsOf({ ...e, fields: { ...e.fields, status: 'superseded' } }, registry)
  expect(whole).toMatch(/:status superseded\) #\| contradicts/)
  expect(short).toMatch(/#\| superseded; contradicts/)
  expect(line.length).toBeLessThan(280)
  expect(line).toMatch(/^\(decision "use-sqlite" "One file\. .*…"\)/)
})

test('a line names what it is about so that it can be asked for', () => {
  const t = openTestMemory()
  const content = 'We agreed to ship on Friday, and that nobody ships on a Friday again. '.repeat(30)
  t.act([['record-chunk', { content, sourceFile: 'notes.md' }]])
  const [e] = t.memory.reader.list('chunk')
  const { line } = formsOf(e!, t.memory.reader.registry())
  const [, ref] = /:id "(#[a-f0-9]{9})"/.exec(line)!
  expect(t.memory.reader.find(ref!).map((found) => found.id)).toEqual([e!.id])
  expect(line.length).toBeLessThan(130)
  expect(
    formsOf({ id: 'fact:x', kind: 'fact', name: 'short', fields: { fact: 'short' } }, t.memory.reader.registry()),
  ).toEqual({
    card: '(fact "short")',
    line: '(fact "short")',
  })
})

test('[H4] a line says a title once where the text begins with it', () => {
  const t = openTestMemory()
  const title = 'Two writers corrupt the cache when neither of them takes the lock before it reads'
  t.act([['record-learning', { title, body: `${title}, so the lock is taken first. ${'More of it. '.repeat(40)}` }]])
  const { line } = formsOf(t.memory.reader.list('learning')[0]!, t.memory.reader.registry())
  expect(line).toMatch(/^\(learning "Two writers corrupt[^"]*…" :id "#[a-f0-9]{9}"\)$/)
})
