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
      { name: 'long', description: 'kills, damage, torture, conformance, whole sets: `npm run test:long` alone' },
      { name: 'property', description: 'tried a few times by `npm test`, many times by `npm run test:long`' },
    ],
    // for a machine with six times as much to do as it has cores
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // a process for each file would load the same modules again; `own-state.ts` sees to what files share
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
