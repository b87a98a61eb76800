import { expect, test } from 'vitest'
import { project, tidemark } from './run.ts'

test('[X8] a negative number is a value where one is expected, with and without --', async () => {
  const { at, run } = await project()
  await run('share', 'set', 'k', '-5')
  expect(await run('share', 'get', 'k')).toBe('-5\n')
  await run('share', 'set', 'k', '-1.5e3', '--session', 's1', '--json')
  expect(await run('share', 'get', 'k')).toBe('-1500\n')
  await run('share', 'set', 'k', '--', '-7')
  expect(await run('share', 'get', 'k')).toBe('-7\n')
  await run('share', 'append', 'list', '-1')
  await run('--json', 'share', 'append', 'list', '-2')
  expect(await run('share', 'get', 'list')).toBe('[-1,-2]\n')
  await run('share', 'delete', 'list', '-1')
  expect(await run('share', 'get', 'list')).toBe('[-2]\n')
  expect(await run('discover', '-5')).toBe('-5\n')
  const wrong = async (...args: string[]) => {
    const ran = await tidemark(at, args)
    expect([args.join(' '), ran.code]).toEqual([args.join(' '), 2])
    return ran.err
  }
  // of a flag it is the value as well, and refused as what it is
  expect(await wrong('events', '--since', '-5')).toContain('--since is not a whole number')
  expect(await wrong('share', 'set', 'k', '-x')).toContain("Unknown option '-x'")
  expect(await wrong('share', 'set', 'k', '-x')).toContain('put -- before it')
  expect(await wrong('claims', '-5')).toContain("Unknown option '-5'")
})
