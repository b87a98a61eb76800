import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Memory } from '../../src/engine/memory.ts'
import type { Project } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { FENCE_BEGIN, FENCE_END } from '../../src/session/briefing/fence.ts'
import { onMachine, openTestMemory, seededBytes, type TestMemory } from '../helpers.ts'

/** Another replica of the same project: another store, another person with a key and a machine of their own. */
export function replicaOf(t: TestMemory, name = 'mallory', seed = 99): Memory {
  const machine = join(dirname(t.dir), `${name}-machine`)
  const there = <T>(body: () => T): T => onMachine(machine, body)
  const project: Project = { ...t.project, storePath: join(dirname(t.dir), `${name}-store`, 'store.db') }
  const env = { now: () => t.clock.now, random: seededBytes(seed), log: () => {} }
  const author = { session: `${name}-session`, user: name }
  const memory = there(() => openProject(project, { env, author, unlisted: true }))
  onTestFinished(() => {
    memory.close()
    for (const dir of [dirname(project.storePath), machine]) rmSync(dir, { recursive: true, force: true })
  })
  return new Proxy(memory, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (...args: unknown[]) => there(() => value.apply(target, args)) : value
    },
  })
}

/** Takes over what the other replica knows. */
export const sync = (from: Memory, to: Memory) => to.applyUpdates(from.updatesSince().bytes)

/** What stands outside the fence and what within, and how often each mark stands on a line of its own. */
export function parts(text: string): { outside: string; inside: string; begins: number; ends: number } {
  const lines = text.split('\n')
  const begins = lines.filter((l) => l.trim() === FENCE_BEGIN).length
  const ends = lines.filter((l) => l.trim() === FENCE_END).length
  const from = lines.indexOf(FENCE_BEGIN)
  const to = lines.lastIndexOf(FENCE_END)
  if (from < 0) return { outside: text, inside: '', begins, ends }
  return {
    outside: [...lines.slice(0, from), ...lines.slice(to + 1)].join('\n'),
    inside: lines.slice(from + 1, to).join('\n'),
    begins,
    ends,
  }
}

export { openTestMemory, type TestMemory }
