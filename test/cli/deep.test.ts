import { join } from 'node:path'
import { expect, test } from 'vitest'
import { files, scratch, tidemark } from './run.ts'

const LEVELS = 200_000
const deep = (open: string, close: string) => open.repeat(LEVELS) + '1' + close.repeat(LEVELS)

test('[T15] JSON nested without end is refused in words, by act and by every import', async () => {
  const at = scratch()
  await tidemark(at, ['init', '--client', 'none', '--yes'])
  for (const value of [deep('{"a":', '}'), deep('[', ']'), deep('[1234567890123456,', ']')]) {
    files(at.dir, { 'knowledge.json': value, 'memory.jsonl': value, 'project/.add/learnings.json': value })
    const tries: [args: string[], input?: string][] = [
      [['act', '-', '--json'], `[["record-decision",{"name":"d","attrs":${value}}]]`],
      [['share', 'set', 'k', '-', '--json'], value],
      [['import', 'json', join(at.dir, 'knowledge.json'), '--json']],
      [['import', 'mcp-memory', join(at.dir, 'memory.jsonl'), '--json']],
      [['import', 'add', join(at.dir, 'project'), '--json']],
    ]
    for (const [args, input] of tries) {
      const { out, err } = await tidemark(at, args, input)
      expect(out + err, args.join(' ')).not.toMatch(/bug|RangeError|call stack/)
      expect(() => JSON.parse(out)).not.toThrow()
    }
  }
}, 120_000)
