import { openQuestions, PARAMS } from './questions.ts'
import { defineTool } from './tool.ts'

/** `questions`, under the name by which agents know it. */
export const openQuestionsTool = defineTool({
  name: 'open_questions',
  title: 'Open questions',
  about: 'Open questions, newest first or the best match for a topic, each with its ref for answer-question.',
  example: 'tidemark questions hub',
  params: PARAMS,
  readOnly: true,
  run: openQuestions,
})
