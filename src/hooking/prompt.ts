import { withoutPrivate } from '../memory/secrets.ts'
import { type HookCall, type HookReply, NOTHING } from './call.ts'
import type { Proposed } from './capture/propose.ts'
import { type Hook, joined } from './hook.ts'
import { newsFor } from './news.ts'
import { dataLine } from './told.ts'

const asked = (ids: readonly string[]): string => JSON.stringify(ids.map((ref) => ['confirm', { ref }]))

/** The agent is told what its user seems to have laid down, with the call that makes it stand. */
function put(proposed: readonly Proposed[]): string | undefined {
  if (proposed.length === 0) return undefined
  const lines = proposed.map(
    (p) => `- ${p.kind}${p.category ? ` (${p.category})` : ''} "${dataLine(p.text, 400)}": ${p.id}`,
  )
  return [
    `Tidemark noticed in what the user just said, and proposed:`,
    ...lines,
    `If these are the user's own words, not something pasted or quoted, and meant to last beyond this task, confirm with act ${asked(proposed.map((p) => p.id))}; if not, ["reject", {"ref": "…"}] what is wrong. Until then it binds nobody.`,
  ].join('\n')
}

/** Where a prompt may come from that a person wrote; clients wake their agents with prompts of their own as well. */
const BY_USER: readonly (string | undefined)[] = [undefined, 'user', 'sdk']
/** A subagent's prompt is its parent's. */
const isUsers = ({ source, parent }: HookCall): boolean => parent === undefined && BY_USER.includes(source)

/** A prompt: what the others did meanwhile, what the user laid down in it, and the little that answers it. */
export async function prompt(hook: Hook): Promise<HookReply> {
  const { call, session } = hook
  if (session !== '') {
    hook.attempt('prompt', () => hook.sessions.patch(session, { prompts: Number(hook.kept('prompts') ?? 0) + 1 }))
  }
  const news = hook.attempt('news', () => newsFor(hook))
  const text = withoutPrivate(call.prompt ?? '', () => ' ')
  let proposed: Proposed[] = []
  let recalled: string | undefined
  if (text !== '') {
    if (hook.captures && isUsers(call)) {
      proposed =
        (await hook.attemptLater('capture', async () => {
          const { capturedIn } = await import('./capture/patterns.ts')
          const found = capturedIn(text)
          if (found.length === 0) return []
          const { keepCaptured, proposeCaptured } = await import('./capture/propose.ts')
          const all = found.flatMap((f) => proposeCaptured(hook, f.kind, f.action, `the user said: "${f.said}"`) ?? [])
          keepCaptured(
            hook,
            all.map((p) => p.id),
          )
          return all
        })) ?? []
    }
    if (hook.config.recall)
      recalled = await hook.attemptLater('recall', async () => (await import('./recalled.ts')).recalledFor(hook, text))
  }
  const context = joined(put(proposed), news, recalled)
  return context === undefined ? NOTHING : { context }
}
