import { join } from 'node:path'
import { stateDirectory } from '../../store/state.ts'

/** Where this user's leave for extraction is kept, and what waits: without it nobody has switched it on. */
export const extractionFile = (): string => join(stateDirectory(), 'extraction.db')
