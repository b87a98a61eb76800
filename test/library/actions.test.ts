import { expect, expectTypeOf, test } from 'vitest'
import { type Arg, readArg } from '../../src/model/args.ts'
import type { ArgsOf, TypedAction } from '../../src/project/verbs/actions.ts'
import { VERBS } from '../../src/project/verbs/index.ts'

type Name = (typeof VERBS)[number]['name']
type Every = { [N in Name]: Required<Omit<ArgsOf<N>, 'expectedVersion'>> }

const labels = { topics: ['a'], tags: { add: ['b'] } }
const task = { description: 'd', activity: 'a', goal: 'g', blockedBy: ['t'], discoveredFrom: 'q', ...labels }
const scope = { paths: ['src/**'], task: 't', role: 'r' }
const parts = { inProgress: ['a'], decisionsMade: ['b'], blockers: 'c', nextSteps: ['d'] }
const shared = { key: 'k', value: { a: [1] }, expectedVersion: 1 }
const link = { from: 'a', to: 'b', type: 'supports', description: 'd', confidence: 1 }

/** Every argument of every verb: one that is missing, too many or of another type does not compile. */
const every = {
  'link-entities': { ...link, standing: 'proposed' },
  'unlink-entities': { ...link, reason: 'r' },
  'update-confidence': { ref: 'a', confidence: 0.5 },
  'add-evidence': { ref: 'a', evidence: ['e'] },
  supersede: { old: 'a', new: 'b', reason: 'r' },
  'answer-question': { ref: 'q', answer: 'a' },
  'start-goal': { originalAsk: 'a', plan: 'p', ...labels },
  'start-activity': { description: 'd', goal: 'g', mode: 'm', component: 'c', ...labels },
  'start-task': { ...task, ref: 't' },
  'add-task': task,
  complete: { ref: 't', result: 'r', force: true },
  abandon: { ref: 't', reason: 'r' },
  lift: { ref: 'd', to: 'a' },
  'write-handoff': { title: 't', task: 't', ...parts, contextUsed: 78, body: '# b', complete: true },
  claim: { ...scope, ttl: 60, note: 'n', dependsOn: ['r'], implicit: true, root: '/a', held: { a: { lines: [] } }, more: { a: 'b' } },
  release: { ...scope, status: 'complete', result: 'r', handoff: 'h', more: { a: 'b' } },
  'hand-over': { ...scope, to: 's', note: 'n' },
  'assign-task': { task: 't', role: 'r', to: 's', note: 'n' },
  'share-set': shared,
  'share-append': shared,
  'share-merge': shared,
  'share-delete': { key: 'k', item: 1, path: ['a'] },
  retire: { ref: 'a', reason: 'r' },
  restore: { ref: 'a', to: '2026-01-01', reason: 'r' },
  rename: { ref: 'a', name: 'n' },
  're-anchor': { ref: 'a' },
  curate: { ref: 'a' },
  propose: { action: ['retire', { ref: 'a', reason: 'r' }], evidence: 'e' },
  confirm: { ref: 'a' },
  reject: { ref: 'a', reason: 'r' },
  undo: { batch: 'last', allOf: 's', batches: [], force: true },
  redo: {},
  'define-kind': { name: 'k', about: 'a', plural: 'ks', identity: 'name', key: ['n'], positional: 'n', fields: { n: 'text' } },
  'define-relation': { name: 'r', about: 'a', inverse: 'i', symmetric: true, acyclic: false, impact: 'both' },
  purge: { ref: 'a', secret: 'text', reason: 'r' },
} satisfies Every // biome-ignore format: one verb a line

test.each(VERBS.map((verb) => [verb.name, verb] as const))('[A9] %s takes what its type says', (name, verb) => {
  const given: Record<string, unknown> = every[name]
  const args = { ...verb.args }
  expect(Object.keys(given).filter((k) => k !== 'expectedVersion').sort()).toEqual(Object.keys(args).filter((k) => k !== 'expectedVersion').sort()) // biome-ignore format: one thought
  for (const [arg, declared] of Object.entries<Arg>(args)) {
    if (arg === 'expectedVersion') continue
    const problems: unknown[] = []
    expect(
      readArg(arg, declared, given[arg], (p) => void problems.push(p)),
      `${name}.${arg}`,
    ).toBeDefined()
    expect(problems).toEqual([])
  }
})

test('[A9] the type of act is that of the declarations: required, optional, by name', () => {
  expectTypeOf<ArgsOf<'claim'>['implicit']>().toEqualTypeOf<boolean | undefined>()
  expectTypeOf<ArgsOf<'claim'>['more']>().not.toBeAny()
  expectTypeOf<ArgsOf<'abandon'>>().toMatchTypeOf<{ ref: string; reason: string }>()
  expectTypeOf<ArgsOf<'release'>['status']>().toEqualTypeOf<
    'active' | 'complete' | 'blocked' | 'abandoned' | undefined
  >()
  expectTypeOf<readonly ['supersede', { old: string; new: string }]>().toMatchTypeOf<TypedAction>()
  // @ts-expect-error a reason is required
  const missing: ArgsOf<'retire'> = { ref: 'a' }
  // @ts-expect-error it is called force
  const unknown: ArgsOf<'complete'> = { forced: true }
  expect([missing, unknown]).toHaveLength(2)
})
