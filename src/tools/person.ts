import { isBelowClient } from '../coordination/caller.ts'
import { UserError } from '../errors.ts'
import type { ToolContext } from './tool.ts'

/** How to ask the person at the terminal; nothing unless one sits there, and no client runs this. */
export const askPerson = ({ ask, by, memory }: ToolContext): ToolContext['ask'] =>
  by === 'person' && !isBelowClient(memory) ? ask : undefined

/**
 * How the person is asked. `decides`: what only a person does, `command`: how they do it.
 * @throws UserError unless a person sits at the terminal, and no client runs this.
 */
export function mustBePerson(context: ToolContext, decides: string, command: string): NonNullable<ToolContext['ask']> {
  const ask = askPerson(context)
  if (ask === undefined)
    throw new UserError(
      'needs-a-person',
      `a person on a terminal ${decides}`,
      `run \`tidemark ${command}\` in a terminal of your own`,
    )
  return ask
}
