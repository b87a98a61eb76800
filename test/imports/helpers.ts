import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ImportOptions } from '../../src/travel/formats/import/import-run.ts'
import { importFrom } from '../../src/travel/formats/import/index.ts'
import type { ImportReport } from '../../src/travel/formats/import/report.ts'
import type { TestMemory } from '../helpers.ts'

/** Writes files below a directory. */
export function lay(dir: string, files: Readonly<Record<string, unknown>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
}

/** Imports a file of the test's project. */
export const take = async (
  t: TestMemory,
  format: string,
  path: string,
  options: Partial<ImportOptions> = {},
): Promise<ImportReport> => importFrom(t.memory, format, join(t.dir, path), { root: t.dir, ...options })

/** The lines of what could not be placed. */
export const unplaced = (report: ImportReport): string[] =>
  report.unplaced.map((u) => `${u.where} ${u.what} — ${u.why}`)
