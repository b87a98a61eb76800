// In CI a test that fails is tried once more. What passed then is named here, so that nobody takes it for sound.
import type { Reporter, TestCase } from 'vitest/node'

export default class SecondTry implements Reporter {
  readonly #names: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#names.push(`${test.module.relativeModuleId}: ${test.fullName}`)
  }

  onTestRunEnd(): void {
    for (const name of this.#names) console.log(`failed once, passed at the second try: ${name}`)
  }
}
