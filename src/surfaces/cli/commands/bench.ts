import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { UsageError, UserError } from '../../../base/errors.ts'
import { packageFile } from '../../../base/files.ts'
import { EMBEDDERS } from '../../../find/recall/config.ts'
import type { Json } from '../../../model/field.ts'
import { didYouMean } from '../../../model/names.ts'
import type { Command, CommandCall } from '../command.ts'

const misused = (message: string): UsageError =>
  new UsageError(message, 'tidemark bench recall FILE… --embedder static; `tidemark bench --help` tells more')

export const bench: Command = {
  name: 'bench',
  about:
    'measures recall on data sets, in a clone of the repository: each group goes into a fresh store of its own as an import would write it, every question is asked, and the answers are judged\n\nFILE is JSON, plain or gzip: {name, unit: "doc"|"session", groups: [{id, docs: [{id, text, session, speaker?, date?, project?}],\nqueries: [{text, gold: [id…], category}]}]}. R@k is the share of the gold ids among the first k, any@5 whether one is among the first five;\nMRR and nDCG@10 are as usual, with binary relevance. Fractions in --json, percent in the table; milliseconds of each call of recall.',
  usage: 'recall FILE…',
  example: 'tidemark bench recall questions.json.gz --embedder none --json',
  flags: {
    embedder: {
      type: 'text',
      value: EMBEDDERS.join('|'),
      about: 'what makes the vectors (default: static, which is built in)',
    },
    ablate: { type: 'flag', about: 'ask everything again without each rule of ranking, and show what it brings' },
  },
  async run(call) {
    const [what, ...files] = call.place
    if (what !== 'recall')
      throw misused(what === undefined ? 'say what to measure: recall' : `there is no bench "${what}"; there is recall`)
    if (files.length === 0) throw misused('FILE is missing: name at least one data set')
    const embedder = String(call.flags.embedder ?? 'static')
    if (!(EMBEDDERS as readonly string[]).includes(embedder))
      throw misused(
        `there is no embedder "${embedder}"; ${didYouMean(embedder, EMBEDDERS, `there are ${EMBEDDERS.join(', ')}`)}`,
      )
    return (await measuring())({ ...call, flags: { ...call.flags, embedder } }, files)
  },
}

type Measure = (call: CommandCall, files: readonly string[]) => Promise<{ json: Json }>

/** A clone measures with what stands in `bench/`, which the package leaves out. */
async function measuring(): Promise<Measure> {
  const script = packageFile('bench/evaluate/measure.ts')
  if (!existsSync(script))
    throw new UserError('no-bench', 'the package has no benchmarks', 'run it in a clone that is built')
  const { measure } = (await import(pathToFileURL(script).href)) as { measure: Measure }
  return async (...args) => {
    try {
      return await measure(...args)
    } catch (error) {
      // the sources have a class of their own by this name
      const { code, message, hint, details } = error as UserError
      throw (error as Error).name === 'UserError' ? new UserError(code, message, hint, details) : error
    }
  }
}
