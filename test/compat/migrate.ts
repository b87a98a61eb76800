// node migrate.ts STORE: opens a store as any process does, and says what it took
import { writeSync } from 'node:fs'
import { systemEnv } from '../../src/base/env.ts'
import { UserError } from '../../src/base/errors.ts'
import { open } from '../convergence/harness.ts'

writeSync(1, 'ready\n')
const since = performance.now()
try {
  open(process.argv[2]!, systemEnv, false).close()
  const mb = process.resourceUsage().maxRSS / 1024
  writeSync(1, JSON.stringify({ seconds: (performance.now() - since) / 1000, mb }))
} catch (error) {
  if (!(error instanceof UserError)) throw error
  writeSync(1, JSON.stringify({ refused: error.code }))
}
