import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { UserError } from '../errors.ts'
import { pathIn, writeInside } from '../files.ts'
import { EXPORTERS } from '../formats/export/index.ts'
import type { Exporter } from '../formats/export/types.ts'
import { formatNamed } from '../formats/format.ts'
import { mustBeInside, readText } from '../formats/import/files.ts'
import { shellWord } from '../model/shell.ts'
import type { Tool } from './tool.ts'

/** A path as a page may name it: from the project's root, or the bare name of a file that lies elsewhere. */
function publicPath(path: string, root: string): string {
  const way = pathIn(root, path)
  return way === undefined ? basename(path) : way.split(sep).join('/')
}

/** What would end the comment it stands in is taken apart. */
const inComment = (text: string) => text.replaceAll('--', '-\u200b-')

const isDirectory = (path: string) => existsSync(path) && statSync(path).isDirectory()

/** Whether the file has to be written. @throws UserError when it holds what this export did not write. */
function mustWrite(
  exporter: Exporter,
  path: string,
  root: string,
  shown: string,
  text: string,
  force: boolean,
): boolean {
  mustBeInside(path, root)
  if (!existsSync(path)) return true
  if (isDirectory(path)) {
    const file = `${shown.replace(/(?<!\/)\/+$/, '')}/knowledge.${exporter.name === 'json' ? 'json' : 'md'}`
    throw new UserError('not-a-file', `${shown} is a directory`, `give a file, e.g. ${file}`)
  }
  if (force) return true
  const before = readText(path, root)
  if (before === text) return false
  if (before.trim() === '' || exporter.isOurs(before)) return true
  throw new UserError(
    'not-ours',
    `${shown} is there, and no earlier export`,
    'give another path, or --force to write over it',
  )
}

export const exportTool: Tool = {
  name: 'export',
  title: 'Export knowledge',
  about: `Writes what is known into a file, or with - to standard output; the same knowledge gives the same bytes.
${EXPORTERS.map((e) => `  ${e.name}: ${e.about}`).join('\n')}`,
  example: 'tidemark export markdown docs/decisions.md --kind decision',
  params: {
    format: { type: 'text', about: 'what to write', required: true, place: 0, choices: EXPORTERS.map((e) => e.name) },
    path: {
      type: 'text',
      about: 'the file, or the directory of add, from the working directory; - is standard output',
      required: true,
      place: 1,
    },
    kind: { type: 'text', about: 'only this kind, e.g. decision' },
    stamp: { type: 'flag', about: 'with the time of the export (json)' },
    force: { type: 'flag', about: 'write over a file that is no earlier export' },
  },
  readOnly: false, // the knowledge stays as it is, but a file is written
  local: true,
  run({ memory, project }, args) {
    const exporter = formatNamed(EXPORTERS, String(args.format))
    const kind = typeof args.kind === 'string' ? args.kind : undefined
    const shown = String(args.path)
    const path = resolve(shown)
    const root = resolve(project.root)
    const named = shown === '-' ? '-' : shellWord(publicPath(path, root))
    const options = {
      command: ` ${inComment(named)}${kind === undefined ? '' : ` --kind ${kind}`}`,
      name: project.name,
      stamp: args.stamp === true,
      ...(kind !== undefined ? { kind } : {}),
    }
    const text = exporter.write?.(memory, options)
    if (shown === '-') {
      if (text === undefined)
        throw new UserError('not-a-stream', `${exporter.name} is several files`, 'give a directory')
      return { text, json: exporter.name === 'json' ? JSON.parse(text) : { markdown: text } }
    }
    if (text === undefined && existsSync(path) && !isDirectory(path))
      throw new UserError('not-a-directory', `${shown} is a file, not a directory`, `${exporter.name} is several files`)
    const files = text !== undefined ? { [path]: text } : filesIn(path, exporter.files?.(memory, options) ?? {})
    const names = Object.keys(files).map((f) =>
      text !== undefined ? shown : `${shown.replace(/(?<!\/)\/+$/, '')}/${basename(f)}`,
    )
    // every file is looked at before the first is written
    const due = Object.entries(files).filter(([f, t], i) =>
      mustWrite(exporter, f, root, names[i]!, t, args.force === true),
    )
    for (const [file, content] of due) {
      try {
        const way = pathIn(root, file)
        if (way !== undefined) writeInside(root, way, content)
        else {
          mkdirSync(dirname(file), { recursive: true })
          writeFileSync(file, content)
        }
      } catch (error) {
        throw new UserError(
          'unwritable',
          `${shown} cannot be written: ${(error as Error).message}`,
          'check the path and its permissions',
        )
      }
    }
    const written = due.map(([f]) => names[Object.keys(files).indexOf(f)]!)
    return {
      text: names.map((n) => `${n} ${written.includes(n) ? 'written' : 'is up to date'}`).join('\n'),
      json: { path: shown, files: names, written },
    }
  },
}

const filesIn = (dir: string, files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [join(dir, name), text]))
