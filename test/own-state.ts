import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

// what Tidemark keeps of a user: not this user's, and not that of other tests, whose projects a purge would look through
const state = mkdtempSync(join(tmpdir(), 'tidemark-test-state-'))
process.env.TIDEMARK_STATE = state
afterAll(() => rmSync(state, { recursive: true, force: true, maxRetries: 5 }))
