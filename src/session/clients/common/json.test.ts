import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { insertJson, isEmptyJson, readJson, removeJson } from './json.ts'

const KEY = { key: 'tidemark', value: { command: 'tidemark', args: ['mcp'] } }
const add = (text: string, path = ['mcpServers']) => insertJson(text, path, KEY, 'f.json')
const gap = fc.constantFrom('', ' ', '  ', '\n', '\r\n', '\n\t', '\n  ', ' \r\n    ')

/** A settings file as anybody may have formatted it: white space of any kind between any two tokens. */
const file = fc
  .record({
    value: fc.dictionary(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('mcpServers', 'projects', 'permissions', '__proto__')),
      fc.letrec((tie) => ({
        any: fc.oneof(
          { maxDepth: 3 },
          fc.string({ unit: 'grapheme' }),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.constantFrom(true, null),
          fc.array(tie('any'), { maxLength: 3 }),
          fc.dictionary(fc.string(), tie('any'), { maxKeys: 3 }),
        ),
      })).any,
      { maxKeys: 4, noNullPrototype: true },
    ),
    servers: fc.option(fc.dictionary(fc.constantFrom('a', 'b', 'ü"\\'), fc.constant({ command: 'x' }))),
    gaps: fc.infiniteStream(gap),
    bom: fc.boolean(),
    tail: fc.constantFrom('', '\n', '\r\n', ' \n\n'),
  })
  .map(({ value, servers, gaps, bom, tail }) => {
    const root = new Map<string, unknown>(Object.entries(value))
    root.delete('mcpServers')
    if (servers) root.set('mcpServers', servers)
    const ws = () => gaps.next().value as string
    const print = (v: unknown): string => {
      if (typeof v !== 'object' || v === null) return JSON.stringify(v)
      if (Array.isArray(v)) return `[${v.map((x) => ws() + print(x) + ws()).join(',') || ws()}]`
      const members = v instanceof Map ? [...v] : Object.entries(v)
      const inner = members.map(([k, x]) => `${ws()}${JSON.stringify(k)}${ws()}:${ws()}${print(x)}${ws()}`).join(',')
      return `{${inner || ws()}}`
    }
    return (bom ? '\uFEFF' : '') + print(root) + tail
  })

describe('putting an entry into JSON text', () => {
  test('changes nothing but the entry, and taking it out gives the same bytes, however the file is formatted', () => {
    fc.assert(
      fc.property(file, (text) => {
        const { text: wired, undo } = add(text)
        const value = readJson(wired, 'f') as { mcpServers: Record<string, unknown> }
        expect(value.mcpServers.tidemark).toEqual(KEY.value)
        const { tidemark: _, ...others } = value.mcpServers
        expect(others).toEqual(readJson(text, 'f').mcpServers ?? {})
        expect(removeJson(wired, ['mcpServers'], KEY, undo)).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })

  test('taking it out keeps what the user added around it since', () => {
    fc.assert(
      fc.property(file, fc.constantFrom('"mcpServers"', '"other"'), (text, where) => {
        const { text: wired, undo } = add(text)
        // a member in front, and one behind ours
        const brace = wired.indexOf('{') + 1
        const front = (s: string) => `${s.slice(0, brace)} "user": 1 ,${s.slice(brace)}`
        const edited =
          where === '"other"' ? front(wired) : wired.replace('"tidemark"', '"zz": {"command": "y"}, "tidemark"')
        const left = readJson(removeJson(edited, ['mcpServers'], KEY, undo), 'f')
        const before = readJson(text, 'f')
        if (where === '"other"') expect(left).toEqual({ user: 1, ...before })
        else expect(left.mcpServers).toEqual({ ...(before.mcpServers as object), zz: { command: 'y' } })
      }),
      { numRuns: 1000 },
    )
  })

  test('keeps the indentation and line ends of the file', () => {
    expect(add('{\r\n\t"a": 1\r\n}\r\n', []).text).toBe(
      '{\r\n\t"a": 1,\r\n\t"tidemark": {\r\n\t\t"command": "tidemark",\r\n\t\t"args": [\r\n\t\t\t"mcp"\r\n\t\t]\r\n\t}\r\n}\r\n',
    )
    expect(add('{"a":1}').text).toBe('{"a":1,"mcpServers":{"tidemark":{"command":"tidemark","args":["mcp"]}}}')
    expect(add('{"a": 1}', []).text).toBe('{"a": 1, "tidemark": {"command": "tidemark", "args": ["mcp"]}}')
  })

  test('appends to a list, and takes only its own item out', () => {
    const { text, undo } = insertJson('{"on": ["a"]}', ['on'], { item: 'tidemark' }, 'f')
    expect(text).toBe('{"on": ["a", "tidemark"]}')
    expect(removeJson(text, ['on'], { item: 'tidemark' }, undo)).toBe('{"on": ["a"]}')
    const made = insertJson('{"a":[]}', ['on'], { item: 'tidemark' }, 'f')
    expect(made.text).toBe('{"a":[],"on":["tidemark"]}')
    expect(removeJson(made.text, ['on'], { item: 'tidemark' })).toBe('{"a":[]}')
  })

  test('an empty file, or one of white space, is restored as it was', () => {
    for (const text of ['', '\n', ' \r\n', '\uFEFF', '\uFEFF\n']) {
      const { text: wired, undo } = add(text)
      expect(removeJson(wired, ['mcpServers'], KEY, undo)).toBe(text)
    }
  })

  test('refuses what is not JSON, or not the shape that is needed, and names the file', () => {
    for (const text of [
      '{ nope',
      '[1]',
      '{"a": 1,}',
      '// x\n{}',
      '{"mcpServers": []}',
      '{"mcpServers": "x"}',
      '{"mcpServers":null}',
    ])
      expect(() => add(text), text).toThrow(/f\.json/)
  })

  test('a file is empty when it holds nothing but empty containers', () => {
    expect(['', '{}', '{ "a": {} , "b": [] }\n'].map((text) => isEmptyJson(text))).toEqual([true, true, true])
    expect(['{"a":0}', '{"a":[1]}', '{"a":null}'].map((text) => isEmptyJson(text))).toEqual([false, false, false])
  })
})
