import { resolve } from 'node:path'
import { UserError } from '../../errors.ts'
import type { Memory } from '../../memory.ts'
import type { Project } from '../../store/project.ts'
import { hooksConfig } from '../config.ts'
import { pauses } from '../pause.ts'
import { rules } from './rules.ts'
import { type Looked, proposeAll } from './run.ts'
import { asText, readTranscript } from './transcript.ts'

/** Looks at a transcript by words alone, as hooks do at prompts: for a session that no hook saw. */
export async function extractByRules(
  memory: Memory,
  project: Project,
  transcript: string,
  session: string,
): Promise<Looked> {
  const { config } = hooksConfig(project.hooks)
  const read = readTranscript(resolve(transcript), { config, pauses: pauses(memory.db) })
  if (!read)
    throw new UserError('bad-transcript', `${transcript} cannot be read as a transcript`, 'a JSONL file of the client')
  const { text, turns } = asText(read.turns, rules.most)
  const { candidates } = await rules.extract(turns, text, AbortSignal.timeout(1_000))
  return { session, proposed: proposeAll(memory, { session, client: 'import' }, rules, candidates) }
}
