import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['test/build-once.ts'],
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // in memory where the system has such a place: the real files, without waiting for a disk
    env: existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {},
    setupFiles: ['test/own-state.ts'],
    tags: [
      {
        name: 'long',
        description: 'kills, damage, torture, conformance, sizes, whole sets: `npm run test:long` alone',
        timeout: 180_000,
      },
      {
        name: 'property',
        description:
          'tried a few times, or on a small store, by `npm test`; many times, or on a large one, by `npm run test:long`',
        timeout: 180_000,
      },
    ],
    // three times what the slowest test needs on an idle machine that starts a process in 75 ms. On a busy one: --test-timeout=180000
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Every day all files share two processes: to load the modules again for each takes longer than its tests. `own-state.ts`
    // fails a file that leaves something changed. The long suite kills, fills disks and fills memory: a process for each file
    // keeps that from the others.
    isolate: process.env.TIDEMARK_LONG !== undefined,
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
