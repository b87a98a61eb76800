import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll } from 'vitest'
import { SEED } from './runs.ts'

// a failure of CI is met again here: CI=true, or TIDEMARK_SEED with the seed that it printed
if (process.env.CI) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED })

// what Tidemark keeps of a user: not this user's, and not that of other tests, whose projects a purge would look through
const state = mkdtempSync(join(tmpdir(), 'tidemark-test-state-'))
process.env.TIDEMARK_STATE = state

// test files share a process: what one leaves behind, the next one meets
const globals = Object.entries(Object.getOwnPropertyDescriptors(globalThis))
  .filter(([, found]) => 'value' in found)
  .filter(([name]) => name !== 'Request' && name !== 'Response') // replaced by @hono/node-server, once, when it is loaded
const variables = { ...process.env }
const directory = process.cwd()

afterAll(() => {
  rmSync(state, { recursive: true, force: true, maxRetries: 5 })
  const left = [
    ...globals
      .filter(([name, { value }]) => !Object.is(Object.getOwnPropertyDescriptor(globalThis, name)?.value, value))
      .map(([name]) => `globalThis.${name}`),
    ...Object.keys({ ...variables, ...process.env })
      .filter((name) => process.env[name] !== variables[name])
      .map((name) => `process.env.${name}`),
    ...(process.cwd() === directory ? [] : ['the working directory']),
  ]
  if (left.length > 0) throw new Error(`this file leaves changed: ${left.join(', ')}`)
})
