import { expect, test } from 'vitest'
import { shapesOf } from '../../src/project/discover/values.ts'
import { parseData } from '../../src/scheme/data.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

function build(): TestMemory {
  const m = openTestMemory()
  m.act([
    ['start-goal', { originalAsk: 'Add OAuth login', plan: 'provider first' }],
    ['start-activity', { description: 'tokens' }],
    ['start-task', { description: 'refresh them' }],
    ['complete', { result: 'a minute ahead' }],
    ['add-task', { description: 'rotate the keys' }],
    ['add-task', { description: 'revoke them', blockedBy: ['rotate the keys'] }],
    ['add-task', { description: 'write it down', goal: 'Add OAuth login' }],
  ])
  m.clock.days(1)
  m.act([
    ['start-goal', { originalAsk: 'Old' }],
    ['start-task', { description: 'done' }],
    ['complete', {}],
    ['complete', { ref: 'Old' }],
  ])
  m.act([['add-task', { description: 'of no goal' }]], { session: 'other' })
  return m
}

const skeleton = (m: TestMemory, text: string) =>
  text.replaceAll(
    /"?(task|activity):([\w]+)"?/g,
    (_all, kind, id) => m.memory.reader.entity(`${kind}:${id}`)!.name.split(' ')[0]!,
  )

test('[D10] (tree) gives the work tree as data, with states and what blocks a task', () => {
  const m = build()
  const [all, open, one] = m.discover('(tree) (tree :open #t) (tree :goal "Old")')
  expect(skeleton(m, all!)).toBe(
    '((goal "Add OAuth login" :state open :activities [(activity "tokens" :id tokens :state open :tasks (tasks [:description :result :id :state :blockedBy]\n["refresh them" "a minute ahead" refresh complete _]\n["rotate the keys" _ rotate open _]\n["revoke them" _ revoke open ["rotate the keys"]]))] :tasks [(task "write it down" :id write :state open)])\n' +
      '(goal "Old" :state complete :tasks [(task "done" :id done :state complete)])\n(task "of no goal" :id of :state open))',
  )
  expect(skeleton(m, open!)).toContain('"revoke them"')
  expect(open).not.toContain('refresh them')
  expect(open).not.toContain('Old')
  expect(skeleton(m, one!)).toBe('((goal "Old" :state complete :tasks [(task "done" :id done :state complete)]))')
})

test('[S1] what (tree) prints reads back as the same tree', () => {
  const m = build()
  const [text] = m.discover('(tree)')
  const read = parseData(text!, shapesOf(m.memory.registry())) as readonly {
    kind: string
    fields: ReadonlyMap<string, unknown>
  }[]
  expect(read.map((e) => [e.kind, e.fields.get('state')])).toEqual([
    ['goal', 'open'],
    ['goal', 'complete'],
    ['task', 'open'],
  ])
  const [activity] = read[0]!.fields.get('activities') as typeof read
  expect((activity!.fields.get('tasks') as typeof read).map((t) => t.fields.get('description'))).toEqual([
    'refresh them',
    'rotate the keys',
    'revoke them',
  ])
})

test('programs walk it: names, tasks, fields that are not shown', () => {
  const m = build()
  const say = (program: string) => m.discover(program)[0]
  expect(say('(map :name (tree))')).toBe('("Add OAuth login" "Old" "of no goal")')
  expect(say('(:plan (car (tree)))')).toBe('"provider first"')
  expect(say('(map :name (:tasks (car (:activities (car (tree))))))')).toBe(
    '("refresh them" "rotate the keys" "revoke them")',
  )
  expect(say('(length (filter (lambda (t) (:blockedBy t)) (:tasks (car (:activities (car (tree)))))))')).toBe('1')
  expect(say('(length (as-of "2026-11-21" (tree)))')).toBe('1')
  expect(say('(tree :goal "Add OAuth")')).toMatch(/^\(error "no goal is called .*did you mean/)
  expect(say('(tree "x")')).toMatch(/^\(error "tree: takes options only"/)
  expect(openTestMemory().discover('(tree)')).toEqual(['()'])
})

test('a tree that is too long is cut, and what is left still reads', () => {
  const m = openTestMemory()
  m.act([['start-goal', { originalAsk: 'Big' }]])
  for (let i = 0; i < 40; i++)
    m.act(
      Array.from({ length: 50 }, (_, j) => ['add-task', { description: `task ${i}/${j} with a text of some length` }]),
    )
  const [text] = m.discover('(tree)')
  expect(text!.length).toBeLessThan(40_500)
  expect(text).toContain('more')
  expect(() => parseData(text!, shapesOf(m.memory.registry()))).not.toThrow()
})
