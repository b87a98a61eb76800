import { describe, expect, test } from 'vitest'
import { openTestMemory, userError } from '../helpers.ts'

const principle = (name: string, more: object = {}) => ['record-principle', { name, ...more }]

describe('[A1] refusals', () => {
  test('[A1] three bad actions give three reports, each with index, verb, field, message, received and accepted', () => {
    const m = openTestMemory()
    m.act([principle('there')])
    const problems = m.refused([
      ['record-principle', { name: 'x', confidence: 'high' }],
      ['nope', {}],
      ['link-entities', { from: 'there' }],
    ])
    expect(problems.filter((p) => p.index === 0)).toEqual([
      {
        index: 0,
        verb: 'record-principle',
        field: 'confidence',
        message: 'not a number',
        received: 'high',
        accepted: 'a number from 0 to 1',
      },
    ])
    const unknown = problems.filter((p) => p.index === 1)
    expect(unknown).toHaveLength(1)
    expect(unknown[0]).toMatchObject({ verb: 'nope', received: 'nope', field: '', message: 'no verb "nope"' })
    const link = problems.filter((p) => p.index === 2)
    expect(link.map((p) => p.field).sort()).toEqual(['to', 'type'])
    for (const p of problems) {
      expect(p).toHaveProperty('received')
      expect(p.accepted).toBeTruthy()
    }
  })

  test('[A1] the printed refusal names every action, what was received and what would be accepted', () => {
    const m = openTestMemory()
    const error = userError(() => m.act([['record-principle', { name: 'x', confidence: 'high' }], principle('y')]))
    expect(error.code).toBe('refused')
    expect(error.message).toBe(
      '1 of 2 actions refused; nothing was written\n  action 0 record-principle · confidence: not a number, received "high" (a number from 0 to 1)',
    )
    expect(error.details).toMatchObject({ success: false, executed: 0 })
  })

  test('[A1] every problem of one action is told, not the first alone', () => {
    const m = openTestMemory()
    const problems = m.refused([
      ['record-decision', { name: 'x', impact: 11, confidence: -1, status: 'maybe', topics: 'auth', nope: 1 }],
    ])
    expect(problems.map((p) => p.field).sort()).toEqual(['confidence', 'impact', 'nope', 'status', 'topics'])
  })

  test('[A1] what a refused action would have created is not reported as missing by those that refer to it', () => {
    const m = openTestMemory()
    m.act([principle('old')])
    for (const ref of ['New One', 'principle:New One', 'principle:new-one', 'new-one'])
      expect(
        m.refused([
          principle('New One', { confidence: 7 }),
          ['link-entities', { from: ref, to: 'old', type: 'supports' }],
        ]),
      ).toMatchObject([{ index: 0, field: 'confidence' }])
    expect(
      m.refused([
        principle('New One', { description: `password = ${'hunter2hunter2'}` }),
        ['link-entities', { from: 'New One', to: 'old', type: 'supports' }],
      ]),
    ).toMatchObject([{ index: 0, field: 'description' }])
  })
})

describe('[A2] all or nothing', () => {
  test('[A2] n actions are one line of the log, with the results in order', () => {
    const m = openTestMemory()
    const before = m.memory.cursor
    const done = m.act([principle('a'), ['record-pattern', { name: 'b' }], ['record-fact', { fact: 'c' }]])
    expect(m.memory.cursor).toBe(before + 1)
    expect(done.results.map((r) => [r.verb, r.id])).toEqual([
      ['record-principle', 'principle:a'],
      ['record-pattern', 'pattern:b'],
      ['record-fact', 'fact:c'],
    ])
    const news = m.memory.newsSince(before)
    expect(news).toHaveLength(1)
    expect(news[0]!.batch).toBe(done.batch)
  })

  test('[A2] later actions see earlier ones: what they created, linked, renamed, deleted and defined', () => {
    const m = openTestMemory()
    m.act([
      principle('a'),
      ['record-decision', { name: 'b' }],
      ['link-entities', { from: 'a', to: 'b', type: 'supports' }],
      ['rename', { ref: 'a', name: 'alpha' }],
      ['update-confidence', { ref: 'alpha', confidence: 0.4 }],
      ['record-principle', { name: 'alpha', description: 'renamed already' }],
      ['delete-decision', { name: 'b' }],
      ['restore', { ref: 'b', reason: 'still needed' }],
    ])
    expect(m.get('principle:a')!.fields).toMatchObject({
      name: 'alpha',
      confidence: 0.4,
      description: 'renamed already',
    })
    expect(m.memory.reader.links('from', 'principle:a')).toHaveLength(1)
    const problems = m.refused([
      principle('gone'),
      ['delete-principle', { name: 'gone' }],
      ['retire', { ref: 'gone', reason: 'x' }],
    ])
    expect(problems).toMatchObject([{ index: 2, message: '"gone" is deleted' }])
  })

  test('[A2] a failure anywhere leaves no trace, not in the text index either', () => {
    const m = openTestMemory()
    m.act([principle('kept')])
    for (const at of [0, 1, 2]) {
      const batch = [
        principle('unheard', { description: 'zyzzyva' }),
        principle('kept', { tags: ['new'] }),
      ] as unknown[]
      batch.splice(at, 0, ['retire', { ref: 'nobody', reason: 'x' }])
      m.refused(batch)
    }
    expect(m.memory.reader.search('zyzzyva unheard', 10)).toEqual([])
    expect(m.get('kept')!.fields.tags).toBeUndefined()
    expect(m.memory.newsSince(0)).toHaveLength(1)
  })

  test('[A2] a batch that says nothing new is no batch, and says so', () => {
    const m = openTestMemory()
    m.act([principle('a', { confidence: 0.5 })])
    const again = m.act([principle('a', { confidence: 0.5 })])
    expect(again.batch).toBeNull()
    expect(again.notes.join()).toContain('nothing changed')
    expect(m.memory.cursor).toBe(1)
    m.act([['retire', { ref: 'principle:a', reason: 'old' }]])
    const { notes } = m.act([principle('a', { confidence: 0.5 })])
    expect(notes.join()).toContain('principle:a stays retired: ["restore", {"ref": "principle:a"}] brings it back')
  })
})

describe('[A4] verbs and limits', () => {
  test('[A4] an unknown verb is refused with the nearest verbs and the whole list', () => {
    const m = openTestMemory()
    const [p] = m.refused([['record-decison', { name: 'x' }]])
    expect(p!.hint).toContain('record-decision')
    for (const verb of [
      'record-principle',
      'record-file-understanding',
      'delete-task',
      'link-entities',
      'undo',
      'define-kind',
    ])
      expect(p!.accepted).toContain(verb)
  })

  test('[A4] what is read names the nearest verb alone, or where they are listed; the whole list is for programs', () => {
    const m = openTestMemory()
    const said = (verb: string) => userError(() => m.act([[verb, { name: 'x' }]])).message
    expect(said('record-decison')).toMatch(/no verb "record-decison" → did you mean record-decision\?$/)
    expect(said('decision')).toContain('did you mean delete-decision or record-decision?')
    expect(said('fooble')).toMatch(/no verb "fooble" → \(verbs\) in discover lists them$/)
  })

  test('[A4] 51 actions are refused, saying the limit; 50 are not', () => {
    const m = openTestMemory()
    const many = (n: number) => Array.from({ length: n }, (_, i) => principle(`p${i}`))
    const error = userError(() => m.act(many(51)))
    expect(error.code).toBe('batch-too-large')
    expect(error.message).toBe('51 actions in one batch; the limit is 50')
    expect(m.act(many(50)).results).toHaveLength(50)
  })

  test('[A4] 16,385 characters are refused, saying the limit; 16,384 are not', () => {
    const m = openTestMemory()
    const [p] = m.refused([principle('a', { description: 'x'.repeat(16_385) })])
    expect(p).toMatchObject({ field: 'description', message: '16385 characters; the limit is 16384' })
    m.act([principle('a', { description: 'x'.repeat(16_384) })])
  })
})

describe('[A5] repairs', () => {
  const flat = ['record-principle', { name: 'a' }]
  test.each([
    ['actions as a JSON string', { actions: JSON.stringify([flat]) }, 'actions was a JSON string'],
    ['the whole batch as a JSON string', JSON.stringify([flat]), 'the batch was a JSON string'],
    ['an object with a flat tuple', { actions: flat }, 'a single action was given without the list'],
    ['a single flat tuple', flat, 'a single action was given without the list'],
    ['a flat tuple as a string', JSON.stringify(flat), 'a single action was given without the list'],
    ['an action as a JSON string', [JSON.stringify(flat)], 'action 0 was a JSON string'],
    ['arguments as a JSON string', [['record-principle', '{"name":"a"}']], 'the arguments of action 0'],
  ])('[A5] %s are repaired, and the reply says so', (_what, batch, note) => {
    const m = openTestMemory()
    const done = m.act(batch)
    expect(done.results).toMatchObject([{ verb: 'record-principle', id: 'principle:a' }])
    expect(done.notes.join('\n')).toContain(note)
  })

  test.each([
    ['nothing', undefined],
    ['a number', 7],
    ['text that is not JSON', 'record-principle'],
    ['an empty list', []],
    ['no actions', { intent: 'x' }],
    ['an unknown key', { actions: [flat], extra: 1 }],
    ['an action without a verb', [[{ name: 'a' }]]],
    ['an action of three parts', [['record-principle', { name: 'a' }, 'more']]],
    ['arguments that are a list', [['record-principle', ['a']]]],
    ['a big integer', [['record-principle', { name: 1n }]]],
    ['a list that is 100,000 deep', JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))],
  ])('[A5] %s is refused, saying what a batch is', (_what, batch) => {
    const m = openTestMemory()
    const error = userError(() => m.act(batch))
    expect(['bad-batch', 'refused']).toContain(error.code)
    expect(m.memory.cursor).toBe(0)
  })
})

test('[A1] a near name is suggested only of a kind that the reference may mean', () => {
  const m = openTestMemory()
  m.act([principle('token refresh'), ['record-question', { question: 'token refreshes' }]])
  const accepted = (verb: string, args: object) => m.refused([[verb, args]])[0]!.accepted
  expect(accepted('retire', { ref: 'token refrsh', reason: 'r' })).toContain('"token refresh" (principle:')
  const answer = accepted('answer-question', { ref: 'token refrsh', answer: 'a' })
  expect(answer).toContain('"token refreshes"')
  expect(answer).not.toContain('principle:')
  expect(accepted('abandon', { ref: 'token refrsh', reason: 'r' })).not.toContain('did you mean')
})

describe('[A6] compare and set', () => {
  test('[A6] a stale expectedVersion is refused with the current value', () => {
    const m = openTestMemory()
    m.act([principle('a', { confidence: 0.1 })])
    const { results } = m.act([principle('a', { confidence: 0.2, expectedVersion: 1 })])
    expect(results[0]!.version).toBe(2)
    const [p] = m.refused([principle('a', { confidence: 0.3, expectedVersion: 1 })])
    expect(p).toMatchObject({ field: 'expectedVersion', received: 1, accepted: '2' })
    expect(p!.hint).toContain('"confidence":0.2')
  })

  test('[A6] 0 means that it is not there yet', () => {
    const m = openTestMemory()
    expect(m.refused([principle('a', { expectedVersion: 1 })])).toMatchObject([
      { field: 'expectedVersion', accepted: '0' },
    ])
    m.act([principle('a', { expectedVersion: 0 })])
    expect(m.refused([principle('a', { expectedVersion: 0 })])).toHaveLength(1)
    const q = ['record-exception', { ruleBroken: 'r', justification: 'one', expectedVersion: 0 }]
    m.act([q])
    m.act([['record-exception', { ruleBroken: 'r', justification: 'two', expectedVersion: 0 }]])
    expect(m.refused([q])).toMatchObject([{ accepted: '1' }])
    const o = ['record-observation', { operation: 'x', what: 'same', expectedVersion: 0 }]
    m.act([o])
    m.act([o])
  })

  test('[A6] all actions of a batch compare with what was there before it', () => {
    const m = openTestMemory()
    m.act([principle('a')])
    m.act([
      principle('a', { confidence: 0.2, expectedVersion: 1 }),
      principle('a', { tags: ['x'], expectedVersion: 1 }),
    ])
    expect(m.get('a')!.version).toBe(2)
    m.act([
      principle('b', { expectedVersion: 0 }),
      ['update-confidence', { ref: 'b', confidence: 1, expectedVersion: 0 }],
    ])
    expect(
      m.refused([['rename', { ref: 'a', name: 'c' }], principle('c', { tags: ['y'], expectedVersion: 1 })]),
    ).toMatchObject([{ index: 1, accepted: '2' }])
  })

  test('[A6] every verb takes it: links, supersede, delete, define-kind', () => {
    const m = openTestMemory()
    m.act([
      principle('a'),
      principle('b'),
      ['link-entities', { from: 'a', to: 'b', type: 'supports', expectedVersion: 0 }],
    ])
    expect(
      m.refused([['link-entities', { from: 'a', to: 'b', type: 'supports', confidence: 1, expectedVersion: 0 }]]),
    ).toMatchObject([{ accepted: '1' }])
    expect(m.refused([['unlink-entities', { from: 'a', to: 'b', type: 'supports', expectedVersion: 4 }]])).toHaveLength(
      1,
    )
    m.act([['unlink-entities', { from: 'a', to: 'b', type: 'supports', expectedVersion: 1 }]])
    expect(m.refused([['delete-principle', { name: 'a', expectedVersion: 9 }]])).toHaveLength(1)
    expect(m.refused([['supersede', { old: 'a', new: 'b', expectedVersion: 9 }]])).toHaveLength(1)
    m.act([['define-kind', { name: 'a', fields: { name: 'text' }, expectedVersion: 0 }]])
    expect(m.refused([['define-kind', { name: 'a', fields: { more: 'text' }, expectedVersion: 0 }]])).toHaveLength(1)
    for (const bad of ['1', -1, 1.5])
      expect(m.refused([principle('a', { expectedVersion: bad })])).toMatchObject([{ field: 'expectedVersion' }])
    m.act([principle('a', { expectedVersion: null })]) // null: not given
  })

  test('[A6] the version is that of what the verb changes, whatever its argument is called', () => {
    const m = openTestMemory()
    const stale = (action: unknown, version: string) =>
      expect(m.refused([action])[0]).toMatchObject({ field: 'expectedVersion', code: 'stale', accepted: version })
    m.act([['start-task', { description: 'a' }]])
    stale(['complete', { result: 'r', expectedVersion: 7 }], '1')
    m.act([['complete', { result: 'r', expectedVersion: 1 }]])
    m.act([['start-task', { ref: 'a', expectedVersion: 2 }]])
    expect(m.get('a')!.version).toBe(3)
    stale(['assign-task', { task: 'a', expectedVersion: 1 }], '3')
    stale(['abandon', { ref: 'a', reason: 'r', expectedVersion: 1 }], '3')
    m.act([['retire', { ref: 'a', reason: 'r', expectedVersion: null }]])
  })

  test('[A6] a verb that changes no one entity takes no expectedVersion', () => {
    const m = openTestMemory()
    for (const [verb, args] of [
      ['claim', { paths: ['a.ts'] }],
      ['undo', {}],
      ['write-handoff', { nextSteps: ['a'] }],
      ['start-goal', { originalAsk: 'a' }],
      ['start-task', { description: 'a' }],
    ] as const)
      for (const expectedVersion of [0, 3])
        expect(m.refused([[verb, { ...args, expectedVersion }]])).toContainEqual(
          expect.objectContaining({
            field: 'expectedVersion',
            code: 'no-version',
            message: `${verb} changes no one entity that could have a version`,
          }),
        )
  })
})
