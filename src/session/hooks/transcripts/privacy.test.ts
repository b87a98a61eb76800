import { expect, test } from 'vitest'
import { HOOK_DEFAULTS } from '../config.ts'
import { cleaner } from './privacy.ts'

const clean = cleaner({ ...HOOK_DEFAULTS, excludePaths: ['secrets/**'] }, [])

test('[A7] a line that names an excluded path is left out, at whatever depth it stands', () => {
  expect(clean('one\nsee a/b/secrets/key.pem\ntwo in src/a.ts')).toBe('one\ntwo in src/a.ts')
})

test.each(['a/', 'a.', 'a', 'a-b/'])('[A7] a line without end holds no run up, and is left out: %s', (part) => {
  const before = process.cpuUsage()
  expect(clean(`one\n${part.repeat(200_000 / part.length)}\ntwo`)).toBe('one\ntwo')
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(1_000)
})
