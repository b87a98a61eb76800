import { UserError } from '../../base/errors.ts'
import { isBelowClient, isOfClient } from '../../work/coordination/caller.ts'
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
  if (ask === undefined) throw needsPerson(`a person on a terminal ${decides}`, command)
  return ask
}

export const needsPerson = (message: string, command: string): UserError =>
  new UserError('needs-a-person', message, `run \`tidemark ${command}\` in a terminal of your own`)

/** Refuses an agent; a script of the person, which is on no terminal, may. @throws UserError */
export function mustBeNoAgent({ by, directory, memory }: ToolContext, command: string): void {
  if (by === 'person' || (directory !== undefined && !isOfClient(memory))) return
  throw needsPerson(`\`tidemark ${command}\` is for the user, not for an agent`, command)
}
