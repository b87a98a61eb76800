import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { onTerminal, project, tidemark } from './run.ts'

const hasTerminal = existsSync('/usr/bin/script')

describe.skipIf(!hasTerminal)('a person on a terminal', () => {
  test('[X7] needs no --session: claims and the current task are held by a session that bears their name', async () => {
    const { at } = await project()
    const person = async (line: string) => {
      const ran = await onTerminal(at, line.split(' '))
      expect([line, ran.code]).toEqual([line, 0])
      return ran.out
    }
    expect(await person('claims --mine')).toContain('nothing is claimed')
    expect(await person('session list')).toContain('no session is live')
    expect(await person('claim src')).toContain('claimed src')
    expect(await person('claims --mine')).toContain('src tester, for 30 min more')
    expect(await person('task start Write-docs')).not.toContain('note:')
    expect(await person('tree')).toContain('Write-docs ← current')
    expect(await person('task complete')).toContain('completed task Write-docs')
    expect(await person('release')).toContain('released src')
    expect(await person('session end')).toContain('session tester ended')
    expect(await person('session list')).toContain('no session is live')
  })

  test('[X7] where no person types, nobody holds what no session is named for', async () => {
    const { at } = await project()
    for (const ran of [
      await tidemark(at, ['claim', 'src']),
      await onTerminal({ ...at, env: { ...at.env, CLAUDECODE: '1' } }, ['claim', 'src']),
    ]) {
      expect(ran.code).toBe(1)
      expect(ran.err + ran.out).toContain('no session is named')
    }
  })
})
