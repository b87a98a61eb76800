import { readFileSync } from 'node:fs'
import { packageFile } from '../base/files.ts'

export const VERSION = (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
