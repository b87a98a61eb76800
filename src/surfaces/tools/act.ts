import { attempt, UserError } from '../../base/errors.ts'
import type { ActOptions, ActResult, Memory } from '../../engine/memory.ts'
import { shortBatch } from '../../engine/store/keys.ts'
import type { Prompts } from '../../engine/store/prompts.ts'
import { isRefusedFor } from '../../engine/write/batch.ts'
import type { Result } from '../../engine/write/plan.ts'
import { isObject } from '../../model/object.ts'
import { hooksConfig } from '../../session/hooks/config.ts'
import { evidenceFor, markUsed, openPrompts } from '../../session/hooks/kept-prompts.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { claimedLines, releasedLines } from './claim-lines.ts'
import { actingAs, defineTool, type Output, type ToolContext, written } from './tool.ts'

export const act = defineTool({
  name: 'act',
  title: 'Write knowledge',
  about: `Records what was learned, decided or done, and coordinates with other sessions; a batch happens whole or not at all.
actions: [verb, object] pairs, e.g. [["record-decision", {"name": "use-sqlite", "rationale": "no daemon"}]].
record-decision {name, description, rationale, optionsConsidered}
record-fact {fact, category, context}: a rule for all sessions; waits for the user's yes
record-failed-approach {approach, outcome, lesson}
record-file-understanding {path, summary, importantSymbols}
record-learning {title, body, severity}
record-<kind> (principle, correction, question …), link-entities {from, to, type}, supersede {old, new, reason}, answer-question, start-goal {originalAsk}, start-task {description}, complete, retire, rename, undo
Beside others: claim {paths}, release {paths}, hand-over {to, paths}, share-set or share-append {key, value}; write-handoff {inProgress, nextSteps} before you stop.
"said" takes the user's exact words; without it nobody is asked to confirm a rule.
The same name again adds to it. (verbs) and (describe "decision") in discover list the rest.`,
  example: `tidemark act '[["record-decision", {"name": "use-sqlite", "rationale": "no daemon"}]]'`,
  params: {
    actions: { type: 'json', about: 'at most 50 [verb, object] pairs', required: true, place: 0 },
    intent: { type: 'text', about: 'its purpose' },
    redact: { type: 'flag', about: 'keep a secret as its category' },
  },
  async run(context, args) {
    const { actions, intent } = args
    const batch = intent === undefined ? actions : isObject(actions) ? { intent, ...actions } : { intent, actions }
    const seen = context.by === 'person' ? await (await import('./confirm.ts')).asShown(context, batch) : batch
    const acted = await acting(context, seen, args.redact)
    const notes = [...acted.notes]
    if (acted.results.some((r) => TOUCHING.has(String(r.kind)))) {
      const { touchedBy } = await import('./related.ts')
      notes.push(...touchedBy(context, acted.results))
    }
    const observed = acted.results.findLast((r) => r.verb === 'record-observation' && r.created === true)
    if (observed) {
      const { askWhetherSame } = await import('../../work/evolution/same-trouble.ts')
      notes.push(...[askWhetherSame(context.memory, String(observed.id))].filter((note) => note !== undefined))
    }
    return printed({ ...acted, notes }, context.memory)
  },
})

/** What is recorded for later sessions; a file that was understood says nothing of what the user typed. */
const LASTS = /^record-(?!file|observation|measurement|event|action)/

/** What may answer a question, or contradict a rule. */
const TOUCHING = new Set(['decision', 'fact', 'principle'])

/** Writes; what an action says that the user said is looked up in the prompts that are kept here. */
function write(context: ToolContext, batch: unknown, options: ActOptions): ActResult {
  const { memory, project, session } = context
  const now = memory.env.now()
  using prompts = hooksConfig(project.hooks).config.keepPrompts ? openPrompts(project, { now }) : undefined
  mustNotEraseWords(context, batch, prompts)
  const found = new Map<string, string>()
  const evidence = (quote: string): string | undefined => {
    const [said, words] = attempt(() => evidenceFor(prompts, quote, session ?? '')) ?? []
    if (said !== undefined) found.set(said, words!)
    return said
  }
  const done = memory.act(batch, { ...options, evidence })
  const isUnasked = attempt(() => prompts && markUsed(prompts, found, session ?? '', now))
  // who answers what we asked has judged no more than that
  if (isUnasked && session !== undefined && done.results.some((r) => LASTS.test(r.verb)))
    attempt(() => sessionsOf(memory).patch(session, { recordedAt: now }))
  if (session !== undefined && done.results.some((r) => r.verb === 'write-handoff'))
    attempt(() => sessionsOf(memory).patch(session, { handedOffAt: now }))
  return done
}

/** What a person typed goes with a person's yes alone. */
function mustNotEraseWords({ by }: ToolContext, batch: unknown, prompts: Prompts | undefined): void {
  const actions: unknown = isObject(batch) ? batch.actions : batch
  if (by === 'person' || !Array.isArray(actions)) return
  for (const action of actions) {
    const secret: unknown =
      Array.isArray(action) && action[0] === 'purge' && isObject(action[1]) ? action[1].secret : undefined
    if (typeof secret === 'string' && (attempt(() => prompts?.search(secret, 1).length) ?? 0) > 0)
      throw new UserError(
        'needs-a-person',
        'the user typed this text, and only the user erases it',
        'ask them: tidemark act, in a terminal',
      )
  }
}

/** Acts; where only a person can say yes to it, and can be asked, asks first. */
async function acting(context: ToolContext, batch: unknown, redact?: boolean): Promise<ActResult> {
  try {
    return write(context, batch, { ...actingAs(context), redact })
  } catch (error) {
    if (context.ask === undefined || !isRefusedFor(error, 'person')) throw error
    const { askToConfirm } = await import('./confirm.ts')
    const agreed = await askToConfirm(context, batch)
    if (!agreed) throw error
    return agreed
  }
}

function printed(done: ActResult, memory: Memory): Output {
  const what = (r: Result) =>
    r.verb === 'link-entities'
      ? `${r.from} ${r.type} ${r.to}`
      : r.verb === 'supersede' && r.old !== undefined
        ? `${r.old} by ${r.id}`
        : r.id
  const lines = done.results.flatMap((r) => {
    const held = r.verb === 'claim' ? claimedLines(r, memory) : r.verb === 'release' ? releasedLines(r) : []
    if (held.length > 0) return held
    return `${r.verb} ${what(r)}${r.created === true ? ' (new)' : ''}${r.version !== undefined ? ` v${r.version}` : ''}`
  })
  if (done.batch) lines.push(`batch ${shortBatch(done.batch)}`)
  return written(done, lines)
}
