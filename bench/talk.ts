import { mkdirSync, rmSync } from 'node:fs'
import { bellPath } from '../src/engine/store/bell-file.ts'
import type { Project } from '../src/engine/store/project.ts'
import { openProject } from '../src/project/open.ts'
import { runTogether } from './group.ts'
import { type Talker, WARM_UP } from './talker.ts'

export interface Talk {
  writers: number
  /** Processes that only listen; without any the writers listen as well. */
  listeners: number
  /** Batches that each writer writes. */
  writes: number
  /** Milliseconds between two of them. */
  pause: number
  /** The doorbell cannot be written or watched, as on a file system that tells nobody. */
  deaf?: boolean
}

export interface Heard {
  /** Milliseconds from a batch being acknowledged to its being delivered, of each by each other listener. */
  ms: number[]
  /** Deliveries that did not happen, or not once, or not in order. */
  missing: number
  written: number
  perSecond: number
}

interface Talked {
  written: [batch: string, at: number][]
  heard: [batch: string, at: number][]
}

/** Processes that write and processes that listen through `subscribe`, and what became of every batch. */
export async function talk(project: Project, { writers, listeners, writes, pause, deaf }: Talk): Promise<Heard> {
  const memory = openProject(project)
  const { path } = memory
  memory.close()
  if (deaf) {
    rmSync(bellPath(path), { force: true })
    mkdirSync(bellPath(path))
  }
  const expected = writers * (writes + WARM_UP)
  const talker = (name: string, own: number, listens: boolean) => {
    const said: Talker = { writes: own, pause, listens, expected }
    return ['talker', project.root, name, JSON.stringify(said)]
  }
  const talked = await runTogether<Talked>([
    ...Array.from({ length: writers }, (_, i) => talker(`w${i}`, writes, listeners === 0)),
    ...Array.from({ length: listeners }, (_, i) => talker(`l${i}`, 0, true)),
  ])
  const ms: number[] = []
  let missing = 0
  const committed = new Map(talked.flatMap((t) => t.written))
  for (const [own, { written, heard }] of talked.entries()) {
    if (listeners > 0 && own < writers) continue
    const mine = new Set(written.map(([batch]) => batch))
    const numbers = heard.map(([batch]) => Number(batch.split(':')[1]))
    missing += expected - new Set(numbers).size
    for (let i = 1; i < numbers.length; i++) if (numbers[i]! <= numbers[i - 1]!) missing++
    for (const [batch, at] of heard) {
      const since = committed.get(batch)
      if (since !== undefined && !mine.has(batch)) ms.push(Math.max(0, at - since))
    }
  }
  const times = [...committed.values()]
  const seconds = (times.reduce((a, b) => Math.max(a, b)) - times.reduce((a, b) => Math.min(a, b))) / 1000
  return { ms, missing, written: committed.size, perSecond: committed.size / seconds }
}
