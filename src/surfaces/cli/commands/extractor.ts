import { basename } from 'node:path'
import { UsageError, unlessRefused } from '../../../base/errors.ts'
import { findProject } from '../../../engine/store/project.ts'
import type { Json } from '../../../model/field.ts'
import { jsonIn } from '../../../model/object.ts'
import * as consent from '../../../session/hooks/extract/consent.ts'
import { factsOf, HEADLESS_CLIENTS } from '../../../work/coordination/clients.ts'
import type { CommandCall, Flag } from '../command.ts'

/** What `models add extractor` takes. */
export const EXTRACTOR_FLAGS: Readonly<Record<string, Flag>> = {
  url: { type: 'text', about: 'extractor: an endpoint for chat completions' },
  model: { type: 'text', value: 'NAME', about: 'extractor: the model, as the endpoint calls it' },
  'key-env': { type: 'text', value: 'NAME', about: 'extractor: the environment variable that holds the key' },
  client: {
    type: 'text',
    value: HEADLESS_CLIENTS.join('|'),
    about: 'extractor: instead of --url, this client without its tools',
  },
  command: {
    type: 'text',
    value: 'JSON',
    about:
      'extractor: instead of --url, a program and its arguments as a JSON list: the prompt on stdin, JSON on stdout',
  },
  budget: { type: 'number', value: 'TOKENS', about: 'extractor: tokens a day that may be used at most' },
}

const EXAMPLE = 'tidemark models add extractor --url http://localhost:11434/v1 --model qwen3 --budget 50000'

function commandFrom(given: string): readonly string[] {
  const parsed = jsonIn(given)
  if (Array.isArray(parsed) && parsed.length > 0 && parsed.every((p) => typeof p === 'string') && parsed[0] !== '')
    return parsed as string[]
  throw new UsageError('--command is not a JSON list of texts', `like --command '["my-model", "--json"]'`)
}

/** What the flags say, or what is wrong with them. */
function allowedFrom(flags: CommandCall['flags']): consent.Allowed {
  const text = (name: string) => (typeof flags[name] === 'string' && flags[name] !== '' ? flags[name] : undefined)
  const { budget } = flags
  const least = text('url') === undefined ? consent.LEAST_BUDGET.command : consent.LEAST_BUDGET.endpoint
  if (typeof budget !== 'number' || !Number.isSafeInteger(budget) || budget < least)
    throw new UsageError(`--budget is needed: tokens a day, at least ${least}`, EXAMPLE)
  const [url, client, command, model, keyFrom] = ['url', 'client', 'command', 'model', 'key-env'].map(text)
  if ([url, client, command].filter((x) => x !== undefined).length !== 1)
    throw new UsageError('one of --url, --client and --command says which model', EXAMPLE)
  if (url === undefined) {
    if (client !== undefined && !HEADLESS_CLIENTS.includes(client))
      throw new UsageError(
        `no such client: ${client}`,
        `there are ${HEADLESS_CLIENTS.join(' and ')}; --command takes any program`,
      )
    const argv = client === undefined ? commandFrom(command!) : factsOf(client)!.headless!(model)
    return { use: 'command', command: argv, model: model ?? client ?? basename(argv[0]!), budget }
  }
  if (model === undefined) throw new UsageError('--model is missing', EXAMPLE)
  if (keyFrom !== undefined && !/^[A-Za-z_]\w*$/.test(keyFrom))
    throw new UsageError('--key-env names an environment variable, never the key', '--key-env OPENAI_API_KEY')
  const allowed: consent.Allowed = { use: 'openai', url, model, budget, ...(keyFrom === undefined ? {} : { keyFrom }) }
  consent.addressOf(allowed)
  return allowed
}

/** Kept in the user's own state, for this project on this machine; nothing of a repository can say it. */
export function allowExtractor(call: CommandCall): { json: Json } {
  const project = findProject(call.directory)
  const allowed = allowedFrom(call.flags)
  using state = consent.openExtraction(project, { create: true })!
  state.allow(allowed)
  call.out(
    `after a session, what was said in it, the commands and how they failed go to ${consent.placeOf(allowed)}, at most ${allowed.budget} tokens a day; what comes back is proposed`,
  )
  call.out(
    'never sent: <private> text, what looks like a secret, excluded paths and commands, files, what is said while paused',
  )
  call.out('`tidemark extract --meter` shows what was used, `tidemark models remove extractor` ends it')
  return { json: { allowed: allowed as unknown as Json } }
}

export function forbidExtractor(call: CommandCall): { json: Json } {
  const removed = consent.forbidExtraction(findProject(call.directory))
  call.out(removed ? 'no transcript is sent any more' : 'there was no extractor')
  return { json: { removed } }
}

/** What reads the transcripts of the project around; nothing where nothing does, or there is no project. */
export const extractorHere = (call: CommandCall): string | undefined =>
  unlessRefused(() => {
    using state = consent.openExtraction(findProject(call.directory))
    const allowed = consent.allowedIn(state)
    return allowed && `${consent.placeOf(allowed)}, at most ${allowed.budget} tokens a day`
  })
