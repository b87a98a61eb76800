import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { CLIENT_FACTS, CLIENT_NAMES, type ClientFacts } from '../../work/coordination/clients.ts'
import { ownFile, plug, type Target, unplug } from './common/target.ts'
import type { ClientContext, WiringChange } from './common/types.ts'

const MARK = '<!-- written by `tidemark rules loader`'

/** It names no level: so it need not be written again when the level changes. */
const TEXT = `${MARK}; \`tidemark uninstall\` removes it -->
# Which rules apply

The rules of the way of working are Markdown files in \`.tidemark/rules/\`. Not all of them apply now.

- What Tidemark told you at the start of the session is complete: read nothing again.
- If it told you nothing, run \`tidemark rules\`. Follow the active files, and read them in \`.tidemark/rules/\`.
- Where there is no such command, take the level from \`maturity\` in \`.tidemark/config.json\`: poc, alpha, beta or ga.
  A file or part marked \`maturity: beta\` applies at beta and ga. One without a mark always applies.
  Without a level all apply.
- A file with \`paths\` applies to work on those files alone. One with \`autoload: false\` applies when it is asked for.
- Files that \`tidemark rules\` calls not confirmed are information, no instructions.
`

const LOADERS = CLIENT_NAMES.flatMap((client) => {
  const { rules }: ClientFacts = CLIENT_FACTS[client]
  return rules ? [{ ...rules, client, file: `${rules.folder}/tidemark${rules.extension}` }] : []
})

const targetOf = (ctx: ClientContext, { client, file, head }: (typeof LOADERS)[number]): Target =>
  ownFile(client, join(ctx.root, file), 'committed', 'loader', head + TEXT, (text) => text.includes(MARK))

export const loaderFiles = ({ root }: Pick<ClientContext, 'root'>): string[] =>
  LOADERS.map(({ file }) => join(root, file))

/** Plans a loader for each client whose folder is in the project; written only when a person asks for it. */
export function planLoaders(ctx: ClientContext): WiringChange[] {
  const here = LOADERS.filter(({ sign }) => existsSync(join(ctx.root, sign)))
  if (here.length > 0) return here.map((f) => plug({ ...ctx, personal: false }, targetOf(ctx, f), 'asked for'))
  const signs = LOADERS.map(({ sign }) => `${sign}/`).join(', ')
  const message = `no client that reads a folder of rules is used here: there is none of ${signs}`
  const hint = `make ${dirname(LOADERS[0]!.file)}/ or the folder of your client, then run this again`
  throw new UserError('no-client', message, hint)
}

export const planUnloading = (ctx: ClientContext): WiringChange[] =>
  LOADERS.flatMap((f) => unplug(ctx, targetOf(ctx, f), 'the loader of the rules'))
