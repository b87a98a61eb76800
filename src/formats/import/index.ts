import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Memory } from '../../memory.ts'
import { formatNamed } from '../format.ts'
import { add } from './add.ts'
import { claudeMd } from './claude-md.ts'
import { labelOf, mustBeInside } from './files.ts'
import { json } from './json.ts'
import { mcpMemory } from './mcp-memory.ts'
import type { ImportReport } from './outcome.ts'
import { type ImportOptions, runImport } from './run.ts'
import type { Importer } from './types.ts'

/** Every format that knowledge comes in. */
export const IMPORTERS: readonly Importer[] = [add, mcpMemory, claudeMd, json]

/** Reads a source and writes what it says into the memory; a source that has not changed writes nothing. */
export async function importFrom(
  memory: Memory,
  format: string,
  path: string,
  options: Omit<ImportOptions, 'source'> & { root: string; source?: string },
): Promise<ImportReport> {
  const { root, source, ...rest } = options
  const importer = formatNamed(IMPORTERS, format)
  mustBeInside(resolve(path), resolve(root))
  const base = realFolder(resolve(root))
  const at = join(realFolder(dirname(resolve(path))), basename(resolve(path)))
  const reading = importer.read(at, base)
  const from = reading.from ?? labelOf(at, base)
  return runImport(memory, reading, { ...rest, source: source ?? `import ${format} ${from}` })
}

/** A folder by its one real name; a link to a file keeps its own, for that is the one clients load it by. */
const realFolder = (dir: string): string => (existsSync(dir) ? realpathSync(dir) : dir)
