import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { runs, SEED } from '../runs.ts'
import { dropTemplate } from './scenario.ts'
import { OPS, type OpName, play, plays, rowsIn, Stage, type Step } from './stage.ts'

const RUNS = runs(25, 200)
const without = (...names: OpName[]) => (Object.keys(OPS) as OpName[]).filter((name) => !names.includes(name))

afterAll(dropTemplate)

const ERASURES: OpName[] = ['purge', 'tell', 'erase']

const properties: [what: string, ops: OpName[]][] = [
  [
    'what is lost, repeated, turned round, picked out or kept back',
    without('compact', ...ERASURES, 'save', 'back', 'twin', 'keys'),
  ],
  ['the same with compactions', without(...ERASURES, 'save', 'back', 'twin', 'keys')],
  ['the same with erasures', without('save', 'back', 'twin', 'compact', 'keys')],
  ['the same with stores under one identity', without('compact', ...ERASURES, 'keys')],
  ['compactions and erasures', without('save', 'back', 'twin', 'keys')],
  ['keys that are lost', without('compact', ...ERASURES, 'save', 'back', 'twin')],
  ['stores under one identity, erasures and lost keys', without('compact')],
]

test.each(properties)(
  `[C4] [C6] [K10] a store says what the lines say that it admits: %s (${RUNS} runs)`,
  {
    tags: ['property'],
    timeout: 60_000 + RUNS * 1_000,
  },
  (what, ops) => {
    process.stderr.write(`[K10] ${what}: ${RUNS} runs, TIDEMARK_SEED=${SEED}\n`)
    fc.assert(fc.property(plays(ops), (p) => play(p)), { numRuns: RUNS, seed: SEED }) // biome-ignore format: one row
  },
)

/** What the plays found, or could not. */
const found: [what: string, play: { replicas: number; steps: unknown[] }][] = [
  [
    'a folded state takes away what it holds as overwritten, where the line came whole before it',
    {
      replicas: 2,
      steps: [
        ['act', { by: 1, actions: [['record-decision', { name: 'one' }]] }],
        [
          'old',
          { now: 0, events: [{ entity: 'decision:one', f: '$', o: 'set', v: { s: 'created', at: 0 }, over: [0] }] },
        ],
        ['hear', { to: 0, which: [0] }],
        [
          'act',
          {
            by: 0,
            actions: [
              ['delete-decision', { ref: 'decision:one' }],
              ['record-decision', { name: 'one' }],
            ],
          },
        ],
        ['compact', { by: 0, ago: -86_400_000 }],
      ],
    },
  ],
  [
    'an older folded state brings nothing back that was folded away as overwritten',
    {
      replicas: 2,
      steps: [
        ['act', { by: 0, actions: [['record-decision', { name: 'one', description: 'a' }]] }],
        ['send', { from: 0, to: 1 }],
        ['act', { by: 1, actions: [['record-decision', { name: 'two' }]] }],
        ['compact', { by: 1, ago: -86_400_000 }],
        ['act', { by: 0, actions: [['record-decision', { name: 'one', description: 'b' }]] }],
        ['compact', { by: 0, ago: -86_400_000 }],
        ['send', { from: 1, to: 0 }],
      ],
    },
  ],
  [
    'a line of which something is gone is folded away once the mark of its erasure has come',
    {
      replicas: 3,
      steps: [
        ['strange', { now: 0, events: [{ entity: 'decision:one', f: 'tags', o: 'add', v: 'a', over: [] }] }],
        ['hear', { to: 0, which: [0] }],
        ['purge', { by: 0, ref: 'decision:one' }],
        ['pick', { from: 0, to: 2, which: [0] }],
        ['compact', { by: 5, ago: -86_400_000 }],
        ['act', { by: 0, actions: [['record-decision', { name: 'one' }]] }],
      ],
    },
  ],
  [
    'an erasure reaches a copy of the store, also where the keys were lost before it was shared',
    {
      replicas: 2,
      steps: [
        ['tell', { by: 0 }],
        ['twin', { by: 0 }],
        ['erase', { by: 0 }],
        ['keys', { by: 0 }],
      ],
    },
  ],
  [
    'what comes back from others is not said again, time after time, by a store whose keys are lost',
    {
      replicas: 2,
      steps: [
        ['tell', { by: 0 }],
        ['twin', { by: 0 }],
        ['erase', { by: 2 }],
        ['pick', { from: 2, to: 0, which: [7, 0] }],
        ['keys', { by: 0 }],
        [
          'old',
          { now: 0, events: [{ entity: 'decision:one', f: 'evidence', o: 'add', v: 'a', l: 1, p: 0, over: [] }] },
        ],
        ['pick', { from: 0, to: 0, which: [0] }],
      ],
    },
  ],
  [
    'what a branch had deleted of its own stays hidden where somebody else brings the entity back',
    {
      replicas: 2,
      steps: [
        ['act', { by: 0, actions: [['record-decision', { name: 'one' }]] }],
        ['twin', { by: 0 }],
        ['act', { by: 2, actions: [['record-decision', { name: 'two', description: 'a' }]] }],
        ['act', { by: 0, actions: [['record-decision', { name: 'one', description: 'b' }]] }],
        ['act', { by: 2, actions: [['delete-decision', { ref: 'decision:two' }]] }],
        ['act', { by: 1, actions: [['record-decision', { name: 'two' }]] }],
      ],
    },
  ],
  [
    'what is restored of an entity that nothing was left of can be read by others',
    {
      replicas: 2,
      steps: [
        ['old', { now: 0, events: [{ entity: 'decision:two', f: 'attrs', o: 'drop', t: [], over: [] }] }],
        ['hear', { to: 0, which: [0] }],
        ['act', { by: 0, actions: [['restore', { ref: 'decision:two' }]] }],
      ],
    },
  ],
  [
    'a field that others wrote in another form is written on',
    {
      replicas: 2,
      steps: [
        ['old', { now: 0, events: [{ entity: 'decision:two', f: 'tags', o: 'set', v: 'a', over: [] }] }],
        ['hear', { to: 1, which: [0] }],
        ['act', { by: 1, actions: [['record-decision', { name: 'two', tags: { add: ['a'] } }]] }],
      ],
    },
  ],
  [
    'a line that comes whole again after an erasure is nothing new',
    {
      replicas: 2,
      steps: [
        ['act', { by: 0, actions: [['record-decision', { name: 'one' }]] }],
        ['strange', { now: 0, events: [{ entity: 'decision:one', f: 'tags', o: 'add', v: 'a', over: [] }] }],
        ['purge', { by: 0, ref: 'decision:one' }],
      ],
    },
  ],
  [
    'an entity whose events were all folded away stays',
    {
      replicas: 2,
      steps: [
        ['old', { now: 0, events: [{ entity: 'decision:one', f: 'tags', o: 'remove', v: 'a', over: [] }] }],
        ['hear', { to: 0, which: [0] }],
        ['compact', { by: 0, ago: -86_400_000 }],
      ],
    },
  ],
  [
    'what one copy of a store erases takes nothing of what another one wrote under the same number',
    {
      replicas: 2,
      steps: [
        ['act', { by: 0, actions: [['record-decision', { name: 'one' }]] }],
        ['twin', { by: 0 }],
        ['act', { by: 0, actions: [['record-decision', { name: 'one', attrs: { k: 1 } }]] }],
        ['tell', { by: 2 }],
        ['erase', { by: 2 }],
      ],
    },
  ],
  [
    'of three copies of a store that all write on, two share the line from which the third one differs',
    {
      replicas: 2,
      steps: [
        ['act', { by: 0, actions: [['record-decision', { name: 'one' }]] }],
        ['twin', { by: 0 }],
        ['act', { by: 0, actions: [['record-decision', { name: 'one', description: 'a' }]] }],
        ['twin', { by: 0 }],
        ['act', { by: 0, actions: [['record-decision', { name: 'one', description: 'b' }]] }],
        ['act', { by: 3, actions: [['record-decision', { name: 'one', description: 'c' }]] }],
        ['act', { by: 2, actions: [['record-decision', { name: 'one', description: 'd' }]] }],
      ],
    },
  ],
  [
    'of two copies of a store that both write on, lines that come first with parts erased are completed by the whole ones',
    {
      replicas: 3,
      steps: [
        ['keys', { by: 2 }],
        ['strange', { now: 0, events: [{ entity: 'decision:one', f: 'description', o: 'set', v: 'a', over: [] }] }],
        ['hear', { to: 1, which: [0] }],
        ['twin', { by: 2 }],
        ['purge', { by: 1, ref: 'decision:one' }],
        ['hear', { to: 3, which: [0] }],
        ['twin', { by: 3 }],
        ['act', { by: 3, actions: [['record-decision', { name: 'one', anew: true }]] }],
        ['act', { by: 4, actions: [['retire', { ref: 'decision:one', reason: 'no more' }]] }],
      ],
    },
  ],
]

test.each(found)('[C4] [C6] [K14] found by a play: %s', (_, { replicas, steps }) => {
  play({ replicas, seed: 0, steps: steps as never })
})

test('[K14] a line of 0.1.0 that came with parts erased is completed where nobody may erase them', () => {
  const stage = new Stage(2, 0)
  const close = stage.close.bind(stage)
  const rows: unknown[] = []
  stage.close = () => {
    rows.push(...stage.players.slice(1).map(rowsIn))
    close()
  }
  const steps = [
    ['act', { by: 0, actions: [['record-decision', { name: 'two' }]] }],
    [
      'old',
      {
        now: 0,
        events: [
          { entity: 'decision:two', f: 'description', o: 'clear', over: [] },
          { entity: 'decision:one', f: 'attrs', o: 'put', t: [], v: 'a', over: [] },
        ],
      },
    ],
    ['keys', { by: 0 }],
    ['purge', { by: 0, ref: 'decision:two' }],
    ['hear', { to: 0, which: [0] }],
    ['twin', { by: 1 }],
    ['pick', { from: 0, to: 1, which: [26] }],
    ['hear', { to: 0, which: [0] }],
    ['act', { by: 0, actions: [['record-decision', { name: 'one' }]] }],
  ] as unknown as Step[]
  play({ replicas: 2, seed: 0, steps }, stage)
  expect(rows[1]).toEqual(rows[0])
})
