// Builds a briefing in a process of its own and says which modules that took.
import { registerHooks } from 'node:module'

const loaded: string[] = []
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    loaded.push(found.url)
    return found
  },
})
const { openAt } = await import('../../src/project/open.ts')
const { brief, wasBriefed } = await import('../../src/session/briefing/brief.ts')
const { memory, project } = openAt({ projectPath: process.argv[2]! })
const told = brief(memory, project, { session: 'me' })
wasBriefed(memory, { session: 'me' }, told, 'session-start', memory.cursor)
memory.close()
process.stdout.write(JSON.stringify({ text: told.text, loaded }))
