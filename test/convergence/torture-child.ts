/**
 * A process of the torture tests: `node torture-child.ts MODE DIR NAME COUNT`. Says on stdout what was acknowledged,
 * one line each, written at once: what stands there was said before the process could be killed.
 */
import { writeSync } from 'node:fs'
import { createProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'

const [mode = '', dir = '', name = '', count = '0'] = process.argv.slice(2)
const say = (line: string) => void writeSync(1, `${line}\n`)

/** Starts working at a moment that all processes share. */
function waitUntil(at: number): void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  while (Date.now() < at) Atomics.wait(cell, 0, 0, Math.min(5, Math.max(1, at - Date.now())))
}

const skew = Number(process.env.TORTURE_SKEW ?? 0)
const env = {
  now: () => Date.now() + skew,
  random: (n: number) => crypto.getRandomValues(new Uint8Array(n)),
  log: () => {},
}

waitUntil(Number(process.env.TORTURE_AT ?? 0))
const { project } = createProject(dir)
if (mode === 'first') say(`project ${project.id}`)
const memory = openProject(project, { env, author: { session: name } })

for (let i = 0; i < Number(count); i++) {
  const batch =
    mode === 'big'
      ? Array.from({ length: 20 }, (_, j) => ['record-insight', { summary: `${name} ${i} ${j} ${'x'.repeat(500)}` }])
      : [
          ['record-principle', { name: 'shared', evidence: [`${name}-${i}`], confidence: (i % 10) / 10 }],
          ['record-fact', { fact: `${name} did ${i}`, category: 'tool' }],
        ]
  const { batch: id } = memory.act(batch)
  say(`ack ${id} ${name}-${i}`)
  if (mode === 'maintain' && i % 5 === 4) memory.compact(Date.now() - 50)
  if (mode === 'maintain' && i % 7 === 6) memory.rebuild()
}
memory.close()
say('done')
