import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInside, packageFile } from '../../base/files.ts'
import { tokensOfProse } from '../../find/recall/token-estimate.ts'
import type { Json } from '../../model/field.ts'
import { confirmRules, declaredOf, LEVELS, RULES_DIR, type Rule, rank, rulesOf } from '../../work/evolution/rules.ts'
import { needsPerson } from './person.ts'
import { defineTool, type Output, type ToolContext } from './tool.ts'

const here = ({ project, memory }: ToolContext) => rulesOf(project.root, project.maturity, memory.db)

async function list(context: ToolContext): Promise<Output> {
  const rules = here(context)
  if (!rules)
    return {
      text: `no rules in ${RULES_DIR}: \`tidemark rules init\` writes eleven to start with`,
      json: { active: [], dormant: [] },
    }
  const next = LEVELS[rank(declaredOf(context.project.maturity).level ?? 'ga') + 1]
  const row = (r: Rule): string => {
    const how = [
      r.paths.length > 0 && `for ${r.paths.join(' ')}`,
      !r.autoload && 'on demand',
      r.dormant !== '' && 'more at higher levels',
      !r.isConfirmed && 'not confirmed',
    ]
    const notes = how.filter(Boolean).join(', ')
    return `  ${r.name.padEnd(22)} ${r.level.padEnd(5)} ${String(tokensOfProse(r.text)).padStart(4)} tokens${notes && `  (${notes})`}`
  }
  const active = rules.all.filter((r) => r.isActive)
  const dormant = rules.all.filter((r) => !r.isActive)
  const asleep = rules.all.map((r) => (r.isActive ? r.dormant : `${r.text}\n${r.dormant}`))
  const saved = tokensOfProse(asleep.join('\n').trim())
  const waiting = active.filter((r) => !r.isConfirmed)
  const lines = [
    rules.line,
    ...rules.problems,
    ...active.map(row),
    ...(dormant.length > 0
      ? [`${dormant.length} dormant: ${dormant.map((r) => `${r.name} (${r.level})`).join(', ')}`]
      : []),
    ...(saved > 0 && next !== undefined ? [`${saved} tokens saved in each session`] : []),
    ...(waiting.length > 0 ? [`${waiting.length} bind nobody yet: read them, then \`tidemark rules confirm\``] : []),
  ]
  const brief = ({ name, level, isConfirmed }: Rule) => ({ name, level, confirmed: isConfirmed })
  return {
    text: lines.join('\n'),
    json: {
      line: rules.line,
      active: active.map(brief),
      dormant: dormant.map(brief),
      tokensSaved: saved,
      problems: rules.problems,
    } as unknown as Json,
  }
}

/** Writes the rules that come with the package. What is there already is the project's own, and stays. */
async function init(context: ToolContext): Promise<Output> {
  const folder = packageFile('assets/rules')
  const shipped = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort()
  const written = shipped.filter((name) =>
    createInside(context.project.root, `${RULES_DIR}/${name}`, readFileSync(join(folder, name), 'utf8')),
  )
  if (context.by === 'person') {
    const names = new Set(written.map((name) => basename(name, '.md')))
    confirmRules(context.memory.db, here(context)?.all.filter((r) => names.has(r.name)) ?? [])
  }
  const kept = shipped.length - written.length
  const { text, json } = await list(context)
  return {
    text: `${written.length} written to ${RULES_DIR}${kept > 0 ? `, ${kept} were there and stay` : ''}; edit them, they are yours\n${text}`,
    json: { written, ...(json as { [key: string]: Json }) },
  }
}

function confirm(context: ToolContext): Output {
  if (context.by !== 'person') throw needsPerson('only a person decides which rules bind', 'rules confirm')
  const rules = here(context)?.all.filter((r) => !r.isConfirmed) ?? []
  confirmRules(context.memory.db, rules)
  const names = rules.map((r) => r.name)
  return {
    text:
      names.length === 0
        ? 'nothing waits for your yes'
        : `confirmed: ${names.join(', ')}; a file that changes needs another yes`,
    json: { confirmed: names },
  }
}

export const rules = defineTool({
  name: 'rules',
  title: 'Rules by maturity',
  about:
    'lists the rules in .tidemark/rules that are active at the level of the project, which are dormant, and the tokens saved. init writes eleven to start with, confirm is the person’s yes to the files as they are',
  example: 'tidemark rules',
  params: {
    step: { type: 'text', about: 'what to do (list)', place: 0, choices: ['list', 'init', 'confirm'] },
  },
  local: true,
  run(context, { step = 'list' }) {
    if (step === 'init') return init(context)
    return step === 'confirm' ? confirm(context) : list(context)
  },
})
