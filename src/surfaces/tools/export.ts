import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { attempt, refuse, UserError } from '../../base/errors.ts'
import { pathIn, writeInside } from '../../base/files.ts'
import { shellWord } from '../../model/shell.ts'
import { EXPORTERS } from '../../travel/formats/export/index.ts'
import type { Exporter } from '../../travel/formats/export/types.ts'
import { formatNamed } from '../../travel/formats/format.ts'
import { mustBeInside, readBytes, readText } from '../../travel/formats/import/files.ts'
import { defineTool } from './tool.ts'

/** A path as a page may name it: from the project's root, or the bare name of a file that lies elsewhere. */
function publicPath(path: string, root: string): string {
  const way = pathIn(root, path)
  return way === undefined ? basename(path) : way.split(sep).join('/')
}

const isDirectory = (path: string) => existsSync(path) && statSync(path).isDirectory()

/** Whether the file has to be written. @throws UserError when it holds what this export did not write. */
function mustWrite(
  exporter: Exporter,
  path: string,
  root: string,
  shown: string,
  content: string | Uint8Array,
  force: boolean,
): boolean {
  mustBeInside(path, root)
  if (!existsSync(path)) return true
  if (isDirectory(path)) {
    const file = `${shown.replace(/(?<!\/)\/+$/, '')}/knowledge.${exporter.name === 'markdown' ? 'md' : exporter.name}`
    throw new UserError('not-a-file', `${shown} is a directory`, `give a file, e.g. ${file}`)
  }
  if (force) return true
  if (typeof content !== 'string') {
    const before = readBytes(path, root)
    if (before.equals(content)) return false
    if (before.length === 0 || exporter.isOursInBytes?.(before)) return true
  } else {
    const before = readText(path, root)
    if (before === content) return false
    if (before.trim() === '' || exporter.isOurs(before)) return true
  }
  throw new UserError(
    'not-ours',
    `${shown} is there, and no earlier export`,
    'give another path, or --force to write over it',
  )
}

export const exportTool = defineTool({
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
    history: { type: 'flag', about: 'with every line of the log, for a replica of this project (json)' },
    force: { type: 'flag', about: 'write over a file that is no earlier export' },
  },
  readOnly: false, // the knowledge stays as it is, but a file is written
  local: true,
  run({ memory, project }, args) {
    const exporter = formatNamed(EXPORTERS, args.format)
    const { kind, path: shown } = args
    const path = resolve(shown)
    const root = resolve(project.root)
    const named = shown === '-' ? '-' : shellWord(publicPath(path, root))
    const options = {
      // what would end the comment it stands in is taken apart
      command: ` ${named.replaceAll('--', '-\u200b-')}${kind === undefined ? '' : ` --kind ${kind}`}`,
      name: project.name,
      history: args.history === true,
      ...(kind !== undefined && { kind }),
    }
    const text = exporter.write?.(memory, options)
    if (shown === '-') {
      if (typeof text !== 'string')
        throw new UserError('not-a-stream', `${exporter.name} is no text to print`, 'give a file or a directory')
      return { text, json: exporter.name === 'json' ? JSON.parse(text) : { markdown: text } }
    }
    if (text === undefined && existsSync(path) && !isDirectory(path))
      throw new UserError('not-a-directory', `${shown} is a file, not a directory`, `${exporter.name} is several files`)
    const files = text !== undefined ? { [path]: text } : filesIn(path, exporter.files?.(memory, options) ?? {})
    const names = Object.keys(files).map((f) =>
      text !== undefined ? shown : `${shown.replace(/(?<!\/)\/+$/, '')}/${relative(path, f).split(sep).join('/')}`,
    )
    // every file is looked at before the first is written
    const due = Object.entries(files).filter(([f, t], i) =>
      mustWrite(exporter, f, root, names[i]!, t, args.force === true),
    )
    const put = (file: string, content: string | Uint8Array) => {
      const way = pathIn(root, file)
      if (way !== undefined) return writeInside(root, way, content)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
    }
    const unwritable = ({ message }: Error) =>
      refuse('unwritable', `${shown} cannot be written: ${message}`, 'check the path and its permissions')
    for (const [file, content] of due) attempt(() => put(file, content), unwritable)
    const written = due.map(([f]) => names[Object.keys(files).indexOf(f)]!)
    const lines = names.map((n) => `${n} ${written.includes(n) ? 'written' : 'is up to date'}`)
    const left = exporter.leftOut?.(memory) ?? []
    return {
      text: [...lines, ...left].join('\n'),
      json: { path: shown, files: names, written, ...(left.length > 0 && { left: [...left] }) },
    }
  },
})

const filesIn = (dir: string, files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [join(dir, name), text]))
