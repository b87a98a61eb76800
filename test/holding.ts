import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The forms in which Tidemark writes a text: plain, in a table of a view, in JSON, in JSON within JSON, in base64. */
function formsOf(text: string): Buffer[] {
  const inJson = JSON.stringify(text).slice(1, -1)
  const inBase64 = [0, 1, 2].map((n) =>
    Buffer.from('x'.repeat(n) + text)
      .toString('base64')
      .slice(n === 0 ? 0 : 4, -4),
  )
  const forms = [text, text.replaceAll('|', '\\|'), inJson, JSON.stringify(inJson).slice(1, -1), ...inBase64]
  return forms.map((form) => Buffer.from(form))
}

export const says = (bytes: Buffer, text: string): boolean => formsOf(text).some((form) => bytes.includes(form))

/** Files below directories in which a text stands, in any form that Tidemark writes. */
export const holding = (text: string, ...dirs: string[]): string[] =>
  dirs
    .flatMap((dir) => readdirSync(dir, { recursive: true, withFileTypes: true }))
    .filter((f) => f.isFile())
    .map((f) => join(f.parentPath, f.name))
    .filter((f) => says(readFileSync(f), text))
