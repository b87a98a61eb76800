import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['test/build-once.ts'],
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // the list of a user's projects: not this user's
    env: { TIDEMARK_STATE: join(tmpdir(), 'tidemark-test-state') },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      globalSetup: ['test/build-once.ts'],
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: 'coverage',
    },
  },
})
