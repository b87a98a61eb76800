import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { whenRefused } from '../../../base/errors.ts'
import { writeInside } from '../../../base/files.ts'
import { findProject, type Project } from '../../../engine/store/project.ts'
import { stateDirectory } from '../../../engine/store/user-state.ts'
import { sha256 } from '../../../model/digest.ts'
import { openProject } from '../../../project/open.ts'
import { isTerminal, typist } from '../../../work/coordination/caller.ts'
import type { ServeOptions, Serving } from '../../http/serve.ts'
import type { Command } from '../command.ts'

export const ui: Command = {
  name: 'ui',
  about:
    'opens the dashboard in the browser: who is at work, what is known, what waits for a yes; served on 127.0.0.1 until Ctrl-C',
  example: 'tidemark ui',
  flags: {
    'no-open': { type: 'flag', about: 'print the link and open nothing' },
    port: { type: 'number', about: 'the port (the same each time for a project, if it is free)' },
  },
  async run(call) {
    const { serve } = await import('../../http/serve.ts')
    const project = findProject(call.directory)
    const isPersons = isPerson(project)
    const options = { project: project.root, isPersons, log: () => {} }
    const { port } = call.flags
    const running = await (typeof port === 'number'
      ? serve({ ...options, port })
      : serveAtUsual(serve, project, options))
    call.out(`${project.name}: ${running.link!()}`)
    call.out('  works once, within 10 minutes; `tidemark ui` prints another')
    if (!isPersons) call.out('  no person on a terminal started this: the page shows everything, and approves nothing')
    call.out('Ctrl-C stops it; what is recorded stays')
    const done = isPersons && call.flags['no-open'] !== true && hasScreen() ? openBrowser(running.link!()) : () => {}
    await running.ended
    done()
    return undefined
  },
}

/** Whether somebody sits at this terminal, no agent. */
export function isPerson(project: Project): boolean {
  if (!isTerminal()) return false
  using memory = openProject(project)
  return typist(memory) === 'person'
}

/** The same address each time, so that a page that was left open goes on. */
async function serveAtUsual(serve: (o: ServeOptions) => Promise<Serving>, { id }: Project, options: ServeOptions) {
  const usual = 21_000 + (Number.parseInt(sha256(id).slice(0, 6), 16) % 20_000)
  return serve({ ...options, port: usual }).catch(whenRefused(() => serve(options), 'cannot-listen'))
}

/** Over a remote shell a browser would open on a screen that nobody looks at. */
function hasScreen(): boolean {
  const { SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY } = process.env
  return !SSH_CONNECTION && (process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY))
}

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** The link would stand in the arguments of a process for all to see: the browser gets a file that only this user reads. */
function openBrowser(link: string): () => void {
  const [dir, name] = [stateDirectory(), `ui-${process.pid}.html`]
  const html = `<!doctype html><meta charset="utf-8"><title>Tidemark</title><meta http-equiv="refresh" content="0;url=${link}"><a href="${link}">Tidemark</a>\n`
  writeInside(dir, name, html, { mode: 0o600 })
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, join(dir, name)], { stdio: 'ignore', detached: true })
  child.on('error', () => {}) // the link stands on the terminal
  child.unref()
  return () => rmSync(join(dir, name), { force: true })
}
