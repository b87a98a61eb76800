import { expect, test } from 'vitest'
import { hooksConfig } from '../session/hooks/config.ts'
import { accepted, flag, listOf, number, type SettingProblem } from './settings.ts'

test('settings are told in the same words wherever they stand: what is near, what is accepted, what may be a secret', () => {
  const problems: SettingProblem[] = []
  const table = {
    of: {
      keep: flag,
      share: number(0, 1),
      key: { ...flag, hidden: true },
      deep: { of: { names: listOf('names', 2, 5) } },
    },
  }
  const said = {
    keep: true,
    shaer: 1,
    share: 2,
    key: 'sk-1',
    deep: { names: ['a', 'toolong'], nmaes: [] },
    ['__proto__']: 1,
  }
  expect(accepted(table, said, 'x', problems)).toEqual({ keep: true, deep: {} })
  expect(problems.map((p) => `${p.path}: ${p.message} ${JSON.stringify(p.received)}; ${p.accepted}`)).toEqual([
    'x.shaer: no such setting undefined; did you mean share?',
    'x.share: not accepted 2; a number from 0 to 1',
    'x.key: not accepted "(not shown)"; true or false',
    'x.deep.names: not accepted ["a","toolong"]; names',
    'x.deep.nmaes: no such setting undefined; did you mean names?',
    'x.__proto__: no such setting undefined; keep, share, key, deep',
  ])
})

test('a hook goes on with what is accepted, and doctor is told the rest with what was meant', () => {
  const { config, problems } = hooksConfig({ capture: false, conflict: 'no', captrue: true })
  expect([config.capture, config.conflict]).toEqual([false, 'deny'])
  expect(problems).toEqual([
    'hooks.conflict: not accepted; one of warn, ask, deny',
    'hooks.captrue: no such setting; did you mean capture?',
  ])
})
