// A process that shares: `share-child.ts DIR NAME COUNT [compact]`: updates its own key, appends to one list and merges
// into one map. With `compact` it says what was acknowledged, and folds the log away all the time.
import { writeSync } from 'node:fs'
import { findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { asProjectMemory } from '../../src/surfaces/library.ts'

const [dir = '', name = '', count = '0', compact] = process.argv.slice(2)
const project = findProject(dir)
const memory = openProject(project)
const { share } = asProjectMemory(memory, project)
const options = { session: name }
for (let i = 1; i <= Number(count); i++) {
  share.set(`own ${name}`, { n: i }, options)
  if (compact) {
    writeSync(1, `${i}\n`)
    if (i % 3 === 0) memory.compact(Date.now())
    continue
  }
  share.append('list', `${name}-${i}`, options)
  if (i % 10 === 0) share.append('list', 'of all', options)
  share.merge('map', { [name]: { [`k${i}`]: i }, all: [i] }, options)
}
memory.close()
