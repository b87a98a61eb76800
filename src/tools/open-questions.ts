import { openQuestions, PARAMS } from './questions.ts'
import type { Tool } from './tool.ts'

/** `questions`, under the name by which agents know it. */
export const openQuestionsTool: Tool = {
  name: 'open_questions',
  title: 'Open questions',
  about:
    'Questions nobody has answered yet, newest first, or the best match for a topic, each with its ref for answer-question.',
  example: 'tidemark questions hub',
  params: PARAMS,
  mcp: true,
  readOnly: true,
  run: openQuestions,
}
