import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { at } from './json.ts'
import { appendBlock, readToml, removeBlock } from './toml.ts'

const PATH = ['mcp_servers', 'tidemark']
const LINES = ['[mcp_servers.tidemark]', 'command = "tidemark"', 'args = ["mcp"]']
const read = (text: string, ...path: string[]) => at(readToml(text, 'c.toml'), ...path)

describe('reading TOML', () => {
  test('finds a table in every way it can be written', () => {
    for (const text of [
      '[mcp_servers.tidemark]\ncommand = "x"',
      '[ mcp_servers . "tidemark" ] # c\ncommand = \'x\'',
      '[mcp_servers]\ntidemark = { command = "x" }',
      '[mcp_servers]\ntidemark.command = "x"',
      'mcp_servers.tidemark.command = "x"',
      'mcp_servers = { tidemark = { command = "x" } }',
    ])
      expect(read(text, ...PATH, 'command'), text).toBe('x')
  })

  test('is not fooled by a header inside a string, a list or a comment', () => {
    for (const text of [
      'a = """\n[mcp_servers.tidemark]\n"""',
      "a = '''\n[mcp_servers.tidemark]'''",
      '# [mcp_servers.tidemark]',
      'a = [\n  ["mcp_servers.tidemark"], # ]\n]',
    ])
      expect(read(text, ...PATH), text).toBeUndefined()
  })

  test('reads what Codex users write', () => {
    const text =
      'model = "o"\nn = 1_000\nf = 3.14\nd = 1979-05-27 07:32:00Z\nx = [1, 2,\n 3]\n[[hooks.Stop]]\na = true\n[projects."/a b/c"]\ntrust_level = "trusted"\n[p.\'C:\\x\']\nu = "\\u00fc\\"\\\\"\n'
    expect(read(text, 'projects', '/a b/c', 'trust_level')).toBe('trusted')
    expect(read(text, 'p', 'C:\\x', 'u')).toBe('ü"\\')
    expect(read(text, 'x')).toEqual([1, 2, 3])
  })

  test('refuses what is broken, with the line', () => {
    for (const text of [
      'a = ',
      'a',
      '[x',
      'a = "x',
      'a = [1',
      'a = {b = 1',
      'a = 1 b',
      'a = nope',
      '{"json": 1}',
      'a = """x',
      'a = "\\q"',
      'a={b="x",b.c=1}',
      'a = 1\na = 2',
    ])
      expect(() => readToml(`\n${text}`, 'c.toml'), text).toThrow(/c\.toml is not valid TOML: .* in line \d/)
  })
})

describe('our block in a TOML file', () => {
  const part = fc.constantFrom(
    'model = "x"',
    '# note',
    '',
    '[a]',
    'b = [1,\n  2]',
    '[mcp_servers.other]',
    'command = "y"',
    's = """\n[t]\n"""',
  )
  const text = fc
    .tuple(fc.uniqueArray(part, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
    .map(([parts, eol, ended]) => parts.join('\n').replaceAll('\n', eol) + (ended && parts.length > 0 ? eol : ''))

  test('goes without a trace, whatever stands around it', () => {
    fc.assert(
      fc.property(text, (before) => {
        const wired = appendBlock(before, LINES)
        expect(read(wired, ...PATH)).toMatchObject({ command: 'tidemark', args: ['mcp'] })
        // a last line without an end has got one: that is what the journal restores
        const eol = before.includes('\r\n') ? '\r\n' : '\n'
        expect([before, before + eol]).toContain(removeBlock(wired, PATH, 'c'))
      }),
    )
  })

  test('what the user wrote inside it, or behind it, stays', () => {
    const wired = appendBlock('a = 1\n', LINES)
    expect(removeBlock(`${wired}\n[mine]\nb = 2\n`, PATH, 'c')).toBe('a = 1\n\n[mine]\nb = 2\n')
    const inside = wired.replace(
      '# tidemark: end',
      '[mcp_servers.tidemark.env]\nK = "v"\n\n[mine]\nb = 2\n# tidemark: end',
    )
    expect(removeBlock(inside, PATH, 'c')).toBe('a = 1\n\n[mine]\nb = 2\n')
  })

  test('what looks like it inside a string stays', () => {
    const own = 'a = """\n# tidemark: begin\n[mcp_servers.tidemark]\n# tidemark: end\n"""\n'
    expect(removeBlock(appendBlock(own, LINES), PATH, 'c')).toBe(own)
    expect(removeBlock(own, PATH, 'c')).toBe(own)
  })

  test('goes in every way its table can be written', () => {
    for (const ours of [
      '[mcp_servers."tidemark"] # c\nargs = ["=", "]"]\n',
      '[[mcp_servers.tidemark]]\nx = 1\n',
      "[mcp_servers]\n'tidemark'.command = 'x'\n",
      'mcp_servers . tidemark = { command = "x" }\n',
      '\uFEFF[ mcp_servers . tidemark ]\ncommand = "x"\n',
    ])
      expect(removeBlock(`${ours}[z]\nb = 1\n`, PATH, 'c'), ours).toBe(
        `${ours.startsWith('\uFEFF') ? '\uFEFF' : ''}${ours.startsWith('[mcp_servers]') ? '[mcp_servers]\n' : ''}[z]\nb = 1\n`,
      )
  })

  test('goes also when a client that rewrote the file dropped the marks', () => {
    expect(
      removeBlock('a = 1\n\n[mcp_servers.tidemark]\nargs = [\n  "mcp",\n]\ncommand = "tidemark"\n\n[z]\n', PATH, 'c'),
    ).toBe('a = 1\n\n[z]\n')
  })
})
