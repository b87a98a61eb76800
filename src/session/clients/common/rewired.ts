import { join, relative } from 'node:path'
import { realPath } from '../../../base/files.ts'
import type { Memory } from '../../../engine/memory.ts'
import { getMeta, setMeta } from '../../../engine/store/meta.ts'
import { sha256 } from '../../../model/digest.ts'
import { sessionsOf } from '../../../work/coordination/sessions.ts'
import { isInside, readText } from './files.ts'
import { entryOf, journalFiles } from './journal.ts'
import { mainWorkTree } from './path.ts'

/** Clients write their settings anew in a form of their own: what names us is to stand there still. */
function namesUs(text: string): string[] {
  const named = (text.match(/"(?:[^"\\]|\\.)*\\?(?:"|$)/gs) ?? []).filter((name) => name.includes('tidemark'))
  return named.length > 0 ? named : [text]
}

export function rewired(root: string): string[] {
  return journalFiles(root).filter((file) => {
    const entry = entryOf(root, file)
    if (!entry) return false
    const text = readText(file) ?? ''
    if (sha256(text) === entry.written) return false
    // of a file that we made no stretches are kept: each part of it names us
    if (entry.original === null && text.split('tidemark').length <= entry.steps.length) return true
    return entry.steps.some(({ splice }) => namesUs(splice.inserted).some((name) => !text.includes(name)))
  })
}

/** Tells the person once in a session that somebody has changed how Tidemark is wired: an agent may have. */
export function tellRewired(memory: Memory, root: string, session: string): string | undefined {
  const files = rewired(root)
  const sessions = sessionsOf(memory)
  const data = sessions.get(session)?.data
  const changed = files.join('\n')
  if (session === '' || !data || changed === (data.rewired ?? '')) return undefined
  sessions.patch(session, { rewired: changed === '' ? null : changed })
  if (changed === '') return undefined
  const named = files.map((file) => (file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file)).join(', ')
  return `Tidemark: what wires it in ${named} was changed or removed, perhaps by an agent; \`tidemark init\` puts it back`
}

/** Said once in a linked work tree whose main one has hooks that git did not bring along. */
export function tellUnwired({ db }: Memory, root: string): string | undefined {
  const main = mainWorkTree(root)
  if (main === realPath(root) || getMeta(db, `unwired:${root}`) !== undefined) return undefined
  const hooked = journalFiles(main).filter(
    (file) => isInside(file, main) && entryOf(main, file)?.steps.some(({ part }) => part.startsWith('hooks.')),
  )
  const ofClients = Map.groupBy(hooked.map((file) => relative(main, file)), (file) => file.split('/')[0]) // biome-ignore format: one row
  const isHere = (file: string) => readText(join(root, file))?.includes('tidemark') === true
  const missing = [...ofClients.values()].filter((files) => !files.some(isHere)).flat()
  if (missing.length === 0) return undefined
  db.tryWrite(() => setMeta(db, `unwired:${root}`, ''))
  return `no hooks run in this work tree, since ${missing.join(', ')} stands in ${main} alone: \`tidemark init\` wires it here too`
}
