import type { McpServer } from '@modelcontextprotocol/server'
import { hereOf } from '../../project/open.ts'
import { fenced } from '../../session/briefing/fence.ts'
import type { ToolContext } from '../tools/tool.ts'
import type { Resolve } from './resources.ts'

interface Prompt {
  readonly name: string
  readonly title: string
  readonly about: string
  text(context: ToolContext): Promise<string>
}

/** What a person may ask for by name; the agent does it. */
const PROMPTS: readonly Prompt[] = [
  {
    name: 'handoff',
    title: 'Write the handoff',
    about: 'leave the state of the work to whoever goes on with it',
    async text({ memory, project, session }) {
      const { sectionsOf } = await import('../../session/briefing/brief.ts')
      const current = sectionsOf(memory, project, ['handoff'], { session })
      return `Write the handoff of this session now, with Tidemark's tool act and the verb write-handoff:
[["write-handoff", {"inProgress": [...], "decisionsMade": [...], "blockers": [...], "nextSteps": [...]}]]
Say only what the next session needs and cannot see in the code: at most 50 lines, the next steps last and most exact. It replaces the handoff of the same task. Record decisions, failed approaches and corrections that are not recorded yet in the same batch.${current === '' ? '' : `\n\nWhat is current:\n\n${current}`}`
    },
  },
  {
    name: 'retro',
    title: 'Look back',
    about: 'what went wrong or well lately, what recurs, and what to do differently',
    async text({ memory, project, session }) {
      const { processOf } = await import('../../session/briefing/process-notes.ts')
      const lines = processOf(memory, project, { session })
      const what = lines.length === 0 ? 'Nothing is recorded yet that a retrospective could look at.' : fenced(lines)
      return `Look back on how the work went, not on what was built. Below is what was recorded of it, newest first.

${what}

1. Say what happened in this session that cost time or saved it. Record each with act, one line: [["record-observation", {"operation": "deploy", "what": "skipped the smoke test", "cost": "cost: 2 h of debugging"}]].
2. Group what is alike. Three or more of the same are a pattern; two are not.
3. For each pattern propose one change to how you work: what to do now, before what, with the observations that speak for it. Record it with act: [["record-mutation", {"change": "deploy now runs the smoke test before it announces the release", "skill": "deploy", "step": "Run the smoke test.", "before": "Announce the release", "trigger": "3 of 5 deploys skipped it"}]]. Change no skill and no rule yourself: a person decides with tidemark mutation.`
    },
  },
  {
    name: 'back',
    title: 'I am back',
    about: 'where things stand, and what happened since you left',
    async text({ memory, project, session }) {
      const { back } = await import('../../session/briefing/back.ts')
      return `I am back. Tell me in a few lines where things stand: the handoff, who works on what, decisions since I left, and what changed. Name what is missing. Then say what you would do next, and wait for me.

${fenced(back(memory, project, { ...hereOf(project), session }).text.split('\n'))}`
    },
  },
]

export function registerPrompts(server: McpServer, resolve: Resolve): void {
  for (const prompt of PROMPTS)
    server.registerPrompt(prompt.name, { title: prompt.title, description: prompt.about }, async (ctx) => {
      const text = await prompt.text(await resolve(ctx))
      return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] }
    })
}
