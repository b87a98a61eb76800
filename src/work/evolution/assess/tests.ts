import { commandOfTests } from './commands.ts'
import { type Dimension, percent } from './repository.ts'

export const tests: Dimension = {
  name: 'tests',
  look(repo) {
    const { tests, sources, ratio, testedCommits } = repo
    const { of, share } = testedCommits
    const some = `${tests.length} test files for ${sources.length} of source, ${ratio.toFixed(2)} lines a line`
    const hasCommand = tests.length > 0 && commandOfTests(repo) !== undefined
    return {
      evidence:
        tests.length === 0
          ? `no test, ${sources.length} source files`
          : `${some}; ${percent(share)} of ${of} source changes with tests`,
      findings: [
        [
          'alpha',
          'must',
          tests.length > 0 && ratio >= 0.05,
          'test the critical path: one line of test for twenty of source',
        ],
        ['alpha', '', hasCommand, 'let one command run all tests (such as `npm test`)'],
        ['beta', 'must', ratio >= 0.3, 'test more: 3 lines of test for 10 of source'],
        ['beta', '', share >= 0.3, 'change a test with the source, or right before it: in 30 % of such changes'],
        ['ga', 'must', ratio >= 0.5, 'test more: one line of test for two of source'],
        ['ga', '', share >= 0.5, 'change a test with every second change of source'],
      ],
    }
  },
}
