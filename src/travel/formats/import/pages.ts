import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { UserError } from '../../../base/errors.ts'
import { filesBelow } from '../../../base/files.ts'
import { labelOf, readText } from './files.ts'
import { scrub } from './text.ts'
import type { Unplaced } from './types.ts'

/** Folders that hold no documents of the project. */
export const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'vendor', 'dist', 'build', 'target'])

export type Page = Readonly<{ label: string; text: string }>

/**
 * A file, or the files below a folder by name, without their secrets; hidden folders and links are left out. Of a folder
 * what cannot be read is told. `rest`: what of a `Reading` comes of reading pages alone. @throws UserError where there is nothing to read.
 */
export function pagesAt(path: string, root: string, extensions: readonly string[], skipped = SKIPPED) {
  const files = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? filesIn(path, extensions, skipped) : [path]
  const hint = `documents end in ${extensions.join(', ')}`
  if (files.length === 0) throw new UserError('no-documents', `no document under ${labelOf(path, root)}`, hint)
  const pages: Page[] = []
  const unplaced: Unplaced[] = []
  const redacted: { where: string; category: string }[] = []
  for (const file of files) {
    const label = labelOf(file, root)
    try {
      const scrubbed = scrub(readText(file, root), label)
      redacted.push(...scrubbed.redacted)
      pages.push({ label, text: scrubbed.text })
    } catch (error) {
      if (!(error instanceof UserError) || files.length === 1) throw error
      unplaced.push({ where: label, what: 'the document', why: error.message })
    }
  }
  const rest = { redacted, files: files.map((f) => labelOf(f, root)), partial: unplaced.length > 0 }
  return { pages, unplaced, rest }
}

function filesIn(dir: string, extensions: readonly string[], skipped: ReadonlySet<string>): string[] {
  const isSeen = (name: string) => !name.startsWith('.') && !skipped.has(name)
  return filesBelow(dir, (name) => isSeen(name) && extensions.includes(extname(name).toLowerCase()), isSeen)
}
