import { pausedSince, resumeNow } from '../hooks/pause.ts'
import type { Tool } from './tool.ts'

export const resume: Tool = {
  name: 'resume',
  title: 'Resume capture',
  about: 'hooks capture again, after `tidemark pause`',
  example: 'tidemark resume',
  params: {},
  readOnly: false,
  run({ memory }) {
    const was = pausedSince(memory.db) !== undefined
    if (was) resumeNow(memory.db, memory.env.now())
    return { text: was ? 'capture goes on' : 'capture was not paused', json: { paused: false, was } }
  },
}
