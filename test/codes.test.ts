import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const SRC = resolve(import.meta.dirname, '../src')

/** Where words are looked at all the same, and why. */
const ALLOWED: Readonly<Record<string, string>> = {
  'engine/write/batch.ts':
    'a value that the message shows is not shown twice: it looks for the value, whatever the words',
  'surfaces/http/mcp.ts': 'the MCP SDK gives requests that it rejected no code',
}

const TEXT = String.raw`(?:\b(?:message|hint|lastError|stderr)\)?|String\((?:error|e|err)\))`
const MATCHES = [
  new RegExp(String.raw`${TEXT}[!?]?\.(?:includes|startsWith|endsWith|match|matchAll|search|indexOf|lastIndexOf)\(`),
  new RegExp(String.raw`\.(?:test|exec)\((?:[^()]|\([^()]*\))*${TEXT}[!?]?\)`),
  /\.(?:message|hint)\)? [!=]== ['"`]/,
  /switch \([^)]*\.(?:message|hint)\)/,
]
const decidesByWords = (line: string): boolean => MATCHES.some((m) => m.test(line))

test('nothing is decided by the words of an error: it has a code', () => {
  const found = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts'))
    .map((f) => join(SRC, f))
    .filter((f) => readFileSync(f, 'utf8').split('\n').some(decidesByWords))
  expect(found.map((f) => relative(SRC, f)).sort()).toEqual(Object.keys(ALLOWED).sort())
})

test.each([
  'if (error.message.includes("no such table")) return',
  'const lost = / is claimed by /.test(error.message)',
  "const [, name] = /^Option '(\\w+)'/.exec((error as Error).message) ?? []",
  "return (error as Error).message.startsWith('recall')",
  'if (/ENOENT/.test(String(error))) return',
  "if (error.message === 'gone') return",
  'switch (error.message) {',
])('the search finds: %s', (line) => expect(decidesByWords(line)).toBe(true))

test.each(["const [first] = error.message.split('\\n')", "if (error.code === 'refused') return", 'log(error.message)'])(
  'and lets stand: %s',
  (line) => expect(decidesByWords(line)).toBe(false),
)
