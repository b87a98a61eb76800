import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { UserError } from '../errors.ts'
import { EXPORTERS, exporterFor } from '../exports/index.ts'
import { readText } from '../imports/files.ts'
import type { Tool } from './tool.ts'

/** A path as a page may name it: from the project's root, or the bare name of a file that lies elsewhere. */
function publicPath(path: string, root: string): string {
  const way = relative(root, path)
  const outside = way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)
  return outside ? basename(path) : way.split(sep).join('/')
}

const quoted = (path: string) =>
  /^[\w./@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''").replaceAll('--', '- -')}'`

export const exportTool: Tool = {
  name: 'export',
  title: 'Export knowledge',
  about: `Writes what is known into a file, or with - to standard output: ${EXPORTERS.map((e) => `${e.name} (${e.about})`).join('; ')}. The same knowledge gives the same bytes.`,
  example: 'tidemark export markdown docs/decisions.md --kind decision',
  params: {
    format: { type: 'text', about: 'what to write', required: true, place: 0, choices: EXPORTERS.map((e) => e.name) },
    path: {
      type: 'text',
      about: 'the file, from the working directory; - is standard output',
      required: true,
      place: 1,
    },
    kind: { type: 'text', about: 'only this kind, e.g. decision' },
    stamp: { type: 'flag', about: 'with the time of the export' },
    force: { type: 'flag', about: 'write over a file that is no earlier export' },
  },
  readOnly: true,
  run({ memory, project }, args) {
    const exporter = exporterFor(String(args.format))
    const kind = typeof args.kind === 'string' ? args.kind : undefined
    const stdout = args.path === '-'
    const path = resolve(String(args.path))
    const command = ` ${stdout ? '-' : quoted(publicPath(path, resolve(project.root)))}${kind === undefined ? '' : ` --kind ${kind}`}`
    const text = exporter.write(memory, {
      command,
      stamp: args.stamp === true,
      ...(kind !== undefined ? { kind } : {}),
    })
    if (stdout) return { text, json: exporter.name === 'json' ? JSON.parse(text) : { markdown: text } }
    const bytes = Buffer.byteLength(text)
    if (existsSync(path)) {
      if (statSync(path).isDirectory())
        throw new UserError(
          'not-a-file',
          `${String(args.path)} is a directory`,
          `give a file, e.g. ${String(args.path).replace(/\/$/, '')}/${kind ?? 'knowledge'}.${exporter.name === 'json' ? 'json' : 'md'}`,
        )
      const before = args.force === true ? undefined : readText(path)
      if (before === text)
        return { text: `${String(args.path)} is up to date`, json: { path: String(args.path), bytes, written: false } }
      if (before !== undefined && before.trim() !== '' && !exporter.isOurs(before))
        throw new UserError(
          'not-ours',
          `${String(args.path)} is there, and no earlier export`,
          'give another path, or --force to write over it',
        )
    }
    try {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    } catch (error) {
      throw new UserError(
        'unwritable',
        `${String(args.path)} cannot be written: ${(error as Error).message}`,
        'check the path and its permissions',
      )
    }
    return {
      text: `${String(args.path)} written, ${bytes} bytes`,
      json: { path: String(args.path), bytes, written: true },
    }
  },
}
