import { join } from 'node:path'
import { CLIENT_FACTS, CLIENT_NAMES, type ClientFacts } from '../../work/coordination/clients.ts'
import { ownFile, unplug } from './common/target.ts'
import type { ClientContext, WiringChange } from './common/types.ts'

/** How a rule began that an earlier version wrote into a client's folder of rules. */
const MARK = '<!-- written by `tidemark rules loader`'

const LOADERS = CLIENT_NAMES.flatMap((client) => {
  const { rules }: ClientFacts = CLIENT_FACTS[client]
  return rules ? [{ client, file: `${rules.folder}/tidemark${rules.extension}` }] : []
})

export const loaderFiles = ({ root }: Pick<ClientContext, 'root'>): string[] =>
  LOADERS.map(({ file }) => join(root, file))

export const planUnloading = (ctx: ClientContext): WiringChange[] =>
  LOADERS.flatMap(({ client, file }) => {
    const target = ownFile(client, join(ctx.root, file), 'committed', 'loader', MARK, (text) => text.includes(MARK))
    return unplug(ctx, target, 'the loader of the rules')
  })
