import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { UsageError, UserError } from '../../../base/errors.ts'
import { packageFile } from '../../../base/files.ts'
import { EMBEDDERS } from '../../../find/recall/config.ts'
import type { Json } from '../../../model/field.ts'
import type { Command, CommandCall } from '../command.ts'

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
    // a clone measures with what stands in `bench/`, which the package leaves out
    const script = packageFile('bench/evaluate/measure.ts')
    if (!existsSync(script))
      throw new UserError('no-bench', 'the package has no benchmarks', 'run it in a clone that is built')
    const { measure } = (await import(pathToFileURL(script).href)) as {
      measure(call: CommandCall): Promise<{ json: Json }>
    }
    try {
      return await measure(call)
    } catch (error) {
      // the sources have classes of their own by these names
      const { name, code, message, hint, details } = error as UserError
      if (code === 'bad-argument') throw new UsageError(message, hint)
      throw name === 'UserError' ? new UserError(code, message, hint, details) : error
    }
  },
}
