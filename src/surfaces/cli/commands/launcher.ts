import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launcherOf } from '../../../session/clients/common/path.ts'
import type { ClientContext } from '../../../session/clients/common/types.ts'

/** The script that starts Tidemark here: `bin/tidemark.js` of the package this code is in. */
export function launcherScript(): string {
  const started = process.argv[1]
  if (started && /tidemark(\.js)?$/.test(started)) return started
  return join(dirname(fileURLToPath(import.meta.url)), '..', 'bin', 'tidemark.js')
}

/** A file as a person is told of it: from the root of the project, or from their home. */
export function shownFile({ root, home }: Pick<ClientContext, 'root' | 'home'>, file: string): string {
  const inside = relative(root, file)
  return inside.startsWith('..') ? file.replace(home, '~') : inside
}

/** What wiring needs to know about this machine. */
export function clientContext(root: string, from = root): ClientContext {
  const { env } = process
  return { root, from, home: env.HOME ?? homedir(), env, launcher: launcherOf(launcherScript(), env) }
}
