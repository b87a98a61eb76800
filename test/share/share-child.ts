// A process that shares: `share-child.ts DIR NAME COUNT`: updates its own key, appends to one list and merges into one map.
import { openMemory } from '../../src/library.ts'

const [dir = '', name = '', count = '0'] = process.argv.slice(2)
const memory = openMemory({ projectPath: dir })
const options = { session: name }
for (let i = 1; i <= Number(count); i++) {
  memory.share.set(`own ${name}`, { n: i }, options)
  memory.share.append('list', `${name}-${i}`, options)
  memory.share.append('list', 'of all', options)
  memory.share.merge('map', { [name]: { [`k${i}`]: i }, all: [i] }, options)
}
memory.close()
process.stdout.write('done\n')
