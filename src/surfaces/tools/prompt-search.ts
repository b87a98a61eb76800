import { attempt } from '../../base/errors.ts'
import { KEPT_DAYS } from '../../engine/store/prompts.ts'
import { hooksConfig } from '../../session/hooks/config.ts'
import { openPrompts } from '../../session/hooks/kept-prompts.ts'
import { ago, oneLine } from './format.ts'
import type { Output, ToolContext } from './tool.ts'

const MOST = 20
const SHOWN = 600

/** Over HTTP they are for the page alone that a person opened from a terminal. */
export const mayReadPrompts = ({ served, by }: ToolContext): boolean => served === undefined || by === 'person'

/** What was typed in sessions on this machine: the newest that hold all words of a question, or the newest. */
export function keptPrompts({ memory, project }: ToolContext, question: string, limit: number = MOST): Output {
  const now = memory.env.now()
  using prompts = openPrompts(project, { now })
  const found = attempt(() => prompts?.search(question, limit)) ?? []
  const lines = found.map((p) => `${ago(p.at, now)}  ${p.client}  ${oneLine(p.text, SHOWN)}`)
  const isOff = !hooksConfig(project.hooks).config.keepPrompts
  const none = isOff ? 'keeping prompts is switched off ("keepPrompts": false)' : question === '' ? 'no prompt is kept here' : 'no kept prompt holds all of these words' // biome-ignore format: one row
  return {
    text: [lines.join('\n') || none, `(prompts of the last ${KEPT_DAYS} days, on this machine alone)`].join('\n'),
    json: found.map(({ at, session, client, text }) => ({ at: new Date(at).toISOString(), session, client, text })),
  }
}
