import { expect, test, vi } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { cut, errorText, OUTPUT_CHARACTERS, readCall, runTool, schemaOf } from '../../src/surfaces/mcp/call.ts'
import type { Tool, ToolContext } from '../../src/surfaces/tools/tool.ts'

const tool: Tool = {
  name: 'sample',
  title: 'Sample',
  about: 'for this test',
  example: 'tidemark sample x',
  params: {
    text: { type: 'text', about: 'words', required: true },
    limit: { type: 'number', about: 'how many' },
    deep: { type: 'flag', about: 'also below' },
    list: { type: 'json', about: 'a list' },
    scope: { type: 'text', about: 'how wide', choices: ['micro', 'macro'] },
  },
  readOnly: true,
  run: () => ({ text: '👩‍💻'.repeat(20_000), json: null }),
}

test('arguments are read as models send them', () => {
  expect(readCall(tool, { text: 7, limit: '5', deep: 'true', list: '[1]', scope: 'micro', session: 's' })).toEqual({
    // a list that came as text is left to the tool, which repairs it and says so (A5)
    args: { text: '7', limit: 5, deep: true, list: '[1]', scope: 'micro' },
    session: 's',
  })
  expect(readCall(tool, { text: 'x', list: '[1', limit: null }).args).toEqual({ text: 'x', list: '[1' })
})

test('every problem of a call is told at once', () => {
  const refused = (() => {
    try {
      readCall(tool, { limit: 'many', deep: 1, scope: 'wide', txt: 'x', constructor: 1 })
    } catch (error) {
      return error as UserError
    }
  })()
  expect(refused).toBeInstanceOf(UserError)
  for (const part of [
    'limit: number',
    'deep: flag',
    'scope: one of micro, macro',
    'did you mean text',
    'text: missing',
    'constructor: not',
  ])
    expect(refused!.message).toContain(part)
  for (const input of [null, [], 'x']) expect(() => readCall(tool, input)).toThrow(/not an object/)
})

test('the schema says types, choices and what is required, and offers session and project', () => {
  expect(schemaOf(tool)).toEqual({
    type: 'object',
    properties: {
      text: { type: 'string', description: 'words' },
      limit: { type: 'number', description: 'how many' },
      deep: { type: 'boolean', description: 'also below' },
      list: { type: 'array', items: {}, description: 'a list' },
      scope: { type: 'string', description: 'how wide', enum: ['micro', 'macro'] },
      session: expect.anything(),
      project: expect.anything(),
    },
    required: ['text'],
  })
})

test('an answer is at most 40,000 characters, cut between characters, and says how much is missing', async () => {
  const { text } = await runTool(tool, {} as ToolContext, {})
  expect(text.length).toBeLessThanOrEqual(OUTPUT_CHARACTERS)
  const left = Number(/… (\d+) characters left out/.exec(text)?.[1])
  expect(text.indexOf('\n…') + left).toBe('👩‍💻'.length * 20_000)
  expect(text.isWellFormed()).toBe(true)
  expect(cut('x'.repeat(OUTPUT_CHARACTERS))).toBe('x'.repeat(OUTPUT_CHARACTERS))
})

test('mistakes of the caller come with the hint; ours are called a bug and stand whole on stderr', () => {
  expect(errorText(new UserError('no', 'not so', 'do this'))).toBe('not so\n→ do this')
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  expect(errorText(new TypeError('x is undefined'))).toBe('a bug in tidemark: x is undefined')
  expect(String(written.mock.calls[0]![0])).toMatch(/TypeError: x is undefined\n\s+at /)
  written.mockRestore()
})
