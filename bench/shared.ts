import { statSync } from 'node:fs'
import { openProject } from '../src/project/open.ts'
import { asProjectMemory } from '../src/surfaces/library.ts'
import { tempProject } from './project.ts'
import type { Bench } from './table.ts'

const SIZES = [1000, 2200]
/** The last so many appends are measured: the list is as long as it gets. */
const MEASURED = 100

/** Processor time, which says less of what else the machine does. */
function cpu(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Items are appended one by one to one list. */
export const bench: Bench = {
  name: 'shared',
  about: `a shared list that grows item by item to ${SIZES.join(' and ')} items`,
  async run() {
    const rows = SIZES.map((n) => {
      const project = tempProject()
      const memory = openProject(project)
      const { share, events } = asProjectMemory(memory, project)
      const append = (from: number, to: number) => {
        for (let i = from; i < to; i++) share.append('files', `src/module-${i}/file.ts`, { session: 's1' })
      }
      append(0, n - MEASURED)
      const each = cpu(() => append(n - MEASURED, n)) / MEASURED
      let bytes = 0
      const all = cpu(() => {
        bytes = JSON.stringify(events({ since: 0, types: ['share'] })).length
      })
      const log = memory.db.get<{ n: number }>('SELECT sum(length(line)) AS n FROM log')!.n
      memory.close()
      const kb = (n: number) => Math.round(n / 1024)
      return { what: `${n} items`, cells: [each, kb(log), kb(statSync(project.storePath).size), kb(bytes), all] }
    })
    const columns = ['CPU ms for one append', 'log KB', 'store KB', 'events KB', 'CPU ms for all events']
    return [{ title: 'one item at a time', columns, rows }]
  },
}
