import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { UserError, unlessRefused } from '../../base/errors.ts'
import { findProject } from '../../engine/store/project.ts'
import { openProject } from '../../project/open.ts'
import { isBelowClient, isTerminal, markOfAgent } from '../../work/coordination/caller.ts'
import type { CommandCall } from './command.ts'

/** Asks at the terminal. `otherwise` is what an empty answer means; whatever else is not y or yes is a no. */
export async function ask(question: string, otherwise = false): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await reader.question(`${question} ${otherwise ? '[Y/n]' : '[y/N]'} `)
    return answer.trim() === '' ? otherwise : /^y(es)?$/i.test(answer.trim())
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error
    // Ctrl-C or Ctrl-D; the cursor stands behind the question
    process.stdout.write('\n')
    throw new UserError('stopped', 'stopped; what the question asks was not done', 'the same command asks again')
  } finally {
    reader.close()
  }
}

/** Ctrl-C and Ctrl-D, as a terminal sends them that passes keys on. */
const ENDS = '\x03\x04'

/** Shows a question and waits for one of the keys, without Enter; what ends a program, or the terminal's end, is `q`. */
export async function key(question: string, keys: string): Promise<string> {
  const { stdin, stdout } = process
  // both stay until the process ends: a key that comes between two questions waits for no Enter, and is dropped
  stdin.setRawMode(true)
  const pressed = await new Promise<string>((resolve) => {
    // what is pressed twice is meant once; an arrow comes as one sequence, and is none of the keys
    const take = (data: Buffer): void => {
      const k = data.toString('utf8').charAt(0).toLowerCase()
      if (k !== '' && `${keys}${ENDS}`.includes(k)) end(k)
    }
    const gone = (): void => end('q')
    const end = (k: string): void => {
      stdin.off('data', take).off('end', gone).unref()
      resolve(ENDS.includes(k) ? 'q' : k)
    }
    stdin.on('data', take).once('end', gone).resume().ref()
    stdout.write(`${question} `)
  })
  stdout.write(`${pressed}\n`)
  return pressed
}

/** What a script of a person may do as well, and no agent: whose a store is, where texts go, that knowledge or wiring goes. */
export function refuseAgents(projectPath = process.cwd()): void {
  const mark = markOfAgent()
  if (mark === undefined && !isBelow(projectPath)) return
  throw new UserError(
    'needs-a-person',
    'an agent does not decide this for its user',
    `run it yourself, in a terminal of your own${mark === undefined ? '' : `; if this is one, ${mark} stands in its environment: unset it`}`,
  )
}

/** Not where there is no store that hooks could have told of a client. */
const isBelow = (projectPath: string): boolean | undefined =>
  unlessRefused(() => {
    const project = findProject(projectPath)
    if (!existsSync(project.storePath)) return false
    using memory = openProject(project, { hurried: true, unlisted: true })
    return isBelowClient(memory)
  })

/** Asks a person, and says so where nothing is done; in a pipe `--yes` has to stand. */
export async function agreed(call: CommandCall, question: string): Promise<boolean> {
  refuseAgents(call.directory)
  if (call.flags.yes === true) return true
  if (isTerminal() && !call.json) {
    const yes = await ask(question)
    if (!yes) call.out('nothing was done')
    return yes
  }
  throw new UserError('needs-yes', 'this is for a person to decide', 'on a terminal it asks; elsewhere add --yes')
}
