import type { HookClient } from '../../hooks/call.ts'
import { launchProblem } from './command.ts'
import { notWired } from './finding.ts'
import { at } from './json.ts'
import { type JsonFile, settingsIn, starts, wordsOf } from './json-parts.ts'
import type { ClientContext, Finding } from './types.ts'

/** Whether a client finds our server at `path` in one of its files (the first that has it counts), and it starts. */
export function serverFindings(
  ctx: ClientContext,
  client: HookClient,
  title: string,
  path: string[],
  files: readonly JsonFile[],
): Finding[] {
  const bad = (message: string, hint: string): Finding => ({ client, ok: false, message, hint })
  const [found, ...hidden] = files
    .map((f) => ({ file: f.file, entry: at(settingsIn(f), ...path) }))
    .filter((f) => f.entry !== undefined)
  if (!found) return [notWired(client, `${title} is not wired: ${files[0]!.file} has no server tidemark`)]
  if (!starts(found.entry))
    return [
      bad(
        `${found.file} has a server called tidemark that starts something else`,
        'rename or remove it, then run `tidemark init`',
      ),
    ]
  const problem = launchProblem(ctx, ...wordsOf(found.entry))
  const works = hidden.find((f) => starts(f.entry) && launchProblem(ctx, ...wordsOf(f.entry)) === undefined)
  return [
    problem === undefined
      ? { client, ok: true, message: `${title} starts tidemark from ${found.file}` }
      : bad(
          `${found.file}: ${problem}`,
          works === undefined
            ? 'install it with `npm install -g tidemark`, or run `tidemark init` again from where it lies'
            : `install it with \`npm install -g tidemark\`: ${works.file} would start it, but ${title} takes the first`,
        ),
  ]
}
