import { expect, test } from 'vitest'
import { inProcess, project } from './run.ts'

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
    const ran = await inProcess(at, args)
    expect([args.join(' '), ran.code]).toEqual([args.join(' '), 2])
    return ran.err
  }
  // of a flag it is the value as well, and refused as what it is
  expect(await wrong('events', '--since', '-5')).toContain('--since is not a whole number')
  expect(await wrong('share', 'set', 'k', '-x')).toContain("Unknown option '-x'")
  expect(await wrong('share', 'set', 'k', '-x')).toContain('put -- before it')
  expect(await wrong('claims', '-5')).toContain("Unknown option '-5'")
})

test('[X8] a whole number that JSON readers would round is refused, not kept as another one', async () => {
  const { at, run } = await project()
  const refused = async (args: string[], input?: string) => {
    const ran = await inProcess(at, [...args, '--json'], input)
    expect([args.join(' '), ran.code]).toEqual([args.join(' '), 1])
    return (JSON.parse(ran.out) as { error: { code: string; message: string; hint: string } }).error
  }
  expect(await refused(['share', 'set', 'k', '12345678901234567890'])).toMatchObject({
    code: 'inexact-number',
    message: expect.stringMatching(/12345678901234567890 .*12345678901234567000/),
    // as a shell passes it on: without the outer quotes it would be the number again
    hint: expect.stringContaining(`'"12345678901234567890"'`),
  })
  expect((await refused(['share', 'set', 'k', '-9007199254740993'])).code).toBe('inexact-number')
  expect((await refused(['share', 'append', 'k', '-'], '{"ids": [1, 9007199254740993]}')).code).toBe('inexact-number')
  const batch = '[["share-set", {"key": "k", "value": {"id": 10000000000000000000001}}]]'
  expect((await refused(['act', batch])).code).toBe('inexact-number')
  expect((await refused(['act', '-'], batch)).code).toBe('inexact-number')
  expect((await refused(['share', 'get', 'k'])).code).toBe('not-found')
  // what comes back as it was said is kept: as text, up to 2^53, round, or with a fraction
  await run('share', 'set', 'k', '"12345678901234567890"')
  expect(await run('share', 'get', 'k')).toBe('12345678901234567890\n')
  for (const same of ['9007199254740991', '100000000000000000000', '1.5', '0.1234567890123456789']) {
    await run('share', 'set', 'k', same)
    expect(Number(await run('share', 'get', 'k'))).toBe(Number(same))
  }
})
