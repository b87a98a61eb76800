import { resolve } from 'node:path'
import { UserError } from '../../errors.ts'
import type { Memory } from '../../memory.ts'
import type { Project } from '../../store/project.ts'
import { capturedIn } from '../capture/patterns.ts'
import { CAPTURE_SOURCE } from '../capture/propose.ts'
import { hooksConfig } from '../config.ts'
import { pauses } from '../pause.ts'
import { type Looked, proposeAll } from './run.ts'
import { asText, readTranscript } from './transcript.ts'

/** Characters of a transcript that are looked at, from its end. */
const MOST = 1_000_000

/** Looks at a transcript by words alone, as hooks do at prompts: for a session that no hook saw. */
export function extractByRules(memory: Memory, project: Project, transcript: string, session: string): Looked {
  const { config } = hooksConfig(project.hooks)
  const read = readTranscript(resolve(transcript), { config, pauses: pauses(memory.db) })
  if (!read)
    throw new UserError('bad-transcript', `${transcript} cannot be read as a transcript`, 'a JSONL file of the client')
  const candidates = asText(read.turns, MOST)
    .turns.filter((t) => t.who === 'user')
    .flatMap((t) => capturedIn(t.text))
    .map(({ kind, action, said }) => ({ kind, action, quote: said, confidence: 1 }))
  return { session, proposed: proposeAll(memory, { session, client: 'import' }, CAPTURE_SOURCE, candidates) }
}
