import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { UserError } from '../../src/base/errors.ts'
import { importTool } from '../../src/surfaces/tools/import.ts'
import { openTestMemory } from '../helpers.ts'

/** The error with which an import of these bytes ends. */
async function refusal(format: string, bytes: Uint8Array | string | undefined) {
  const t = openTestMemory()
  const path = join(t.dir, 'source')
  if (bytes !== undefined) writeFileSync(path, bytes)
  const before = t.memory.cursor
  try {
    await importTool.run(t, { format, path })
  } catch (error) {
    expect(t.memory.cursor).toBe(before)
    return error as UserError
  }
  throw new Error('it was not refused')
}

test.each(['mcp-memory', 'claude-md', 'json'])('%s refuses what is no text, and says what to do', async (format) => {
  expect(await refusal(format, undefined)).toMatchObject({ name: 'UserError', code: 'no-file' })
  expect(await refusal(format, new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1]))).toMatchObject({ code: 'binary' })
  expect(await refusal(format, new Uint8Array([0x61, 0xff, 0xfe]))).toMatchObject({ code: 'not-utf8' })
  const error = await refusal(format, new Uint8Array([0x61, 0xff]))
  expect(error.hint).not.toBe('')
})

test('a directory is no file, and a file no directory', async () => {
  const t = openTestMemory()
  mkdirSync(join(t.dir, 'folder'))
  writeFileSync(join(t.dir, 'file'), 'x')
  for (const format of ['mcp-memory', 'json'])
    await expect(importTool.run(t, { format, path: join(t.dir, 'folder') })).rejects.toMatchObject({
      code: 'not-a-file',
    })
  await expect(importTool.run(t, { format: 'add', path: join(t.dir, 'file') })).rejects.toMatchObject({
    code: 'not-a-directory',
  })
  await expect(importTool.run(t, { format: 'add', path: join(t.dir, 'folder') })).rejects.toMatchObject({
    code: 'no-add-files',
  })
  await expect(importTool.run(t, { format: 'add', path: join(t.dir, 'nowhere') })).rejects.toMatchObject({
    code: 'no-file',
  })
  await expect(importTool.run(t, { format: 'claude-md', path: '/dev/zero' })).rejects.toMatchObject({
    code: 'not-a-file',
  })
})

test('a file of 100 MB is refused with its size, unread', async () => {
  const t = openTestMemory()
  const path = join(t.dir, 'large.json')
  writeFileSync(path, '')
  truncateSync(path, 100 * 1024 * 1024)
  await expect(importTool.run(t, { format: 'json', path })).rejects.toMatchObject({
    code: 'too-large',
    message: expect.stringContaining('100 MB'),
  })
})

test('an unknown format is refused with the nearest', async () => {
  const t = openTestMemory()
  await expect(importTool.run(t, { format: 'claudemd', path: 'x' })).rejects.toMatchObject({
    hint: expect.stringContaining('claude-md'),
  })
})

test('what is no export of Tidemark is refused with the reason', async () => {
  expect(await refusal('json', '{"a":1}')).toMatchObject({
    code: 'bad-format',
    message: expect.stringContaining('no "tidemark"'),
  })
  expect(await refusal('json', 'x')).toMatchObject({ code: 'bad-format', message: expect.stringContaining('not JSON') })
  expect(await refusal('json', '{"tidemark":2,"project":"p","entities":[]}')).toMatchObject({ hint: 'update Tidemark' })
  expect(await refusal('mcp-memory', 'hello\nworld\n')).toMatchObject({ code: 'bad-format' })
})
