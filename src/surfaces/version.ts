import { readFileSync } from 'node:fs'

/** The version in package.json, which lies one directory above the bundle and two above this source. */
function read(): string {
  for (const up of ['../package.json', '../../package.json']) {
    try {
      const found = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as {
        name?: string
        version?: string
      }
      if (found.name === 'tidemark' && found.version) return found.version
    } catch {} // not at this level
  }
  return '0.0.0'
}

export const VERSION = read()
