/**
 * A process of the torture test: `node steps-child.ts approve|revert DIR STEPS`. It kills itself after so many of the
 * steps by which a mutation is approved or taken back.
 */

import { findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { approveSteps, changeOf, finishApproval, revertSteps } from '../../src/work/evolution/change.ts'

const [mode = '', dir = '', steps = ''] = process.argv.slice(2)
const project = findProject(dir)
const memory = openProject(project)
const e = memory.reader.list('mutation', { all: true })[0]!
const author = { approver: 'tester' }
const all =
  mode === 'revert'
    ? revertSteps(memory, project, e, author)
    : finishApproval(memory, project, e, author)
      ? []
      : approveSteps(memory, project, e, changeOf(project, e), {}, author)
for (const step of all.slice(0, steps === '' ? all.length : Number(steps))) step()
if (steps !== '') process.kill(process.pid, 'SIGKILL')
memory.close()
