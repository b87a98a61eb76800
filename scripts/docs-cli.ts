// Writes docs/cli.md from what `--help` says. test/cli/docs.test.ts holds the two against each other.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMANDS } from '../src/surfaces/cli/commands/index.ts'
import { commandHelp, listing, toolHelp } from '../src/surfaces/cli/help.ts'
import { TOOLS } from '../src/surfaces/tools/index.ts'

/** The page, as it should stand in docs/cli.md. */
export async function cliPage(): Promise<string> {
  const rows: string[] = []
  const pages: string[] = []
  for (const [, names] of listing()) {
    for (const name of names) {
      const tool = Object.hasOwn(TOOLS, name) ? await TOOLS[name]!.load() : undefined
      const command = tool ? undefined : await COMMANDS[name]!.load()
      const help = tool ? toolHelp(tool) : commandHelp(command!)
      const usage = help.split('\n')[0]!.replace('usage: ', '').replace(' [options]', '')
      const about = (tool ?? command!).about.split('\n')[0]!.split('. ')[0]!
      rows.push(`| \`${usage.replaceAll('|', '\\|')}\` | ${about.replaceAll('|', '\\|')} |`)
      pages.push(`## ${name}`, '', '```', help, '```', '')
    }
  }
  return [
    '# The command line',
    '',
    '<!-- written by scripts/docs-cli.ts from `--help`; do not edit -->',
    '',
    'Every command takes `--json`, `--project DIR`, `--session ID` and `--help`. With `--json` standard output holds JSON only.',
    'Diagnostics go to standard error.',
    '',
    '| exit code | means |',
    '|---|---|',
    '| 0 | done |',
    '| 1 | refused: the message says what, why, and what to do next; with `--json` an object `{"error": {"code", "message", "hint", "details"}}` |',
    '| 2 | wrong use: an unknown command, step or flag, something missing or one too many; the code is `usage` |',
    '',
    '| command | does |',
    '|---|---|',
    ...rows,
    '',
    '**On a terminal** a person reads tables and prose that fit its width, in colour (`NO_COLOR` and `FORCE_COLOR` are',
    'honoured). A long answer goes through `PAGER` (else `less`; `cat` or nothing turns it off). `FORCE_COLOR` asks for the same',
    'in a pipe. Pipes, agents and `--json` get what they always get; `recall --sexp` gives a person the notation of agents.',
    '`#a3f` is a short reference, which every command and `act` takes; where a shell takes # for a comment, quote it. A person',
    'who names no session claims and works on tasks in one that bears their name. Days are said as `2026-11-21`, as a moment, or',
    'in words: `yesterday`, `3 months ago`.',
    '',
    'Environment: `TIDEMARK_PROJECT` (as `--project`), `TIDEMARK_SESSION` (as `--session`), `TIDEMARK_AGENT` (who calls),',
    '`TIDEMARK_STORE` (a directory for the store), `TIDEMARK_MODELS` (one for models), `TIDEMARK_TOKEN` (of `serve`),',
    '`TIDEMARK_STATE` (your own state: the list of projects, what you allowed, the marks of your stores), `TIDEMARK_USER`.',
    'A relative path counts as none in `TIDEMARK_STATE` and `TIDEMARK_MODELS`: it would lead into whatever repository is open.',
    '',
    ...pages,
  ].join('\n')
}

if (process.argv[1] === import.meta.filename)
  writeFileSync(join(import.meta.dirname, '..', 'docs', 'cli.md'), await cliPage())
