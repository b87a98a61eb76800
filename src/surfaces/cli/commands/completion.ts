import { UsageError } from '../../../base/errors.ts'
import type { Command } from '../command.ts'

/** For each shell: it hands over the words up to the cursor, and offers the lines that come back. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_tidemark() {
  local IFS=$'\\n'
  COMPREPLY=($(tidemark completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _tidemark tidemark`,
  zsh: `#compdef tidemark
_tidemark() {
  local -a found
  found=("\${(@f)$(tidemark completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $found[1] ]]; then compadd -- $found; else _files; fi
}
compdef _tidemark tidemark`,
  fish: `complete -c tidemark -a '(tidemark completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
}
const names = Object.keys(SCRIPTS)

export const completion: Command = {
  name: 'completion',
  about: 'prints a script that lets your shell complete commands, options and names',
  usage: names.join('|'),
  example: 'tidemark completion bash >> ~/.bashrc',
  flags: {},
  async run(call) {
    const [shell = ''] = call.place
    if (!Object.hasOwn(SCRIPTS, shell))
      throw new UsageError(
        shell === '' ? 'the shell is missing' : `there is no completion for ${JSON.stringify(shell)}`,
        `give ${names.join(', ')}`,
      )
    call.out(SCRIPTS[shell]!)
    return { json: { shell, script: SCRIPTS[shell]! } }
  },
}
