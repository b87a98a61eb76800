import { readFileSync } from 'node:fs'
import { packageFile } from '../files.ts'

export const VERSION = (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
