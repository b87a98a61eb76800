import { readInside } from '../../../base/files.ts'
import { keptIn } from '../../../base/lookup.ts'
import { factsOf } from '../../../work/coordination/clients.ts'
import { sessionsOf } from '../../../work/coordination/sessions.ts'
import { AGENTS, declaredOf, type Rule, type Rules, rulesOf } from '../../../work/evolution/rules.ts'
import { plain } from '../fence.ts'
import { many } from '../format.ts'
import type { About, Section } from '../types.ts'
import { importedBy, readsFile } from './rules.ts'

const looked = new WeakMap<About, { rules: Rules | undefined }>()

/** Whether the client reads the file by itself: as its own rule, or because one of its files imports it. */
export function isReadByClient({ name, path, file }: Rule, about: Pick<About, 'project' | 'client'>): boolean {
  const text = (at: string): string => (readsFile(at, about) ? `${readInside(about.project.root, at) ?? ''}` : '')
  const { rules } = factsOf(about.client) ?? {}
  return (rules?.areRead && text(`${rules.folder}/${name}.md`) === file) || importedBy(about).includes(path)
}

export function ruleLines({ name, text }: Rule): string[] {
  const lines = text.split('\n').map((line) => plain(line.replace(/^#+ /, ''), 600))
  return lines.filter((line) => line !== '' && line.toLowerCase() !== name.replaceAll('-', ' '))
}

/** What keeps that a session was told of a file: a changed one is told again where the conversation holds the old one. */
export const toldAs = ({ mark }: Rule): string => `rule:${mark}`

function forSomeFiles(rules: readonly Rule[]): string[] {
  const named = rules.map(({ path, paths }) => `${path} (${paths.join(' ')})`)
  return named.length > 0 ? [`Told before you edit their files: ${plain(named.join(', '), 500)}.`] : []
}

function crowdOf({ memory, project }: About): string[] {
  const { level } = declaredOf(project.maturity)
  const live = sessionsOf(memory)
    .list()
    .filter((s) => s.state === 'active').length
  if (level === undefined || live <= AGENTS[level]) return []
  return [`${live} sessions are at work; at ${level} level at most ${AGENTS[level]} do so at once. Tell the user.`]
}

const FEW = 3

/** Rules in `.tidemark/rules` at the level of the project: instructions where a person here has confirmed them. */
const ruleFilesThat = (confirmed: boolean): Pick<Section, 'build'> => ({
  build(about) {
    const { project, memory } = about
    const { rules } = keptIn(looked, about, () => ({ rules: rulesOf(project.root, project.maturity, memory.db) }))
    if (!rules) return undefined
    const active = rules.all.filter((r) => r.isActive)
    const wanted = active.filter((r) => r.isConfirmed === confirmed && !isReadByClient(r, about))
    if (!confirmed && wanted.length === 0) return undefined
    const later = wanted.filter((r) => r.paths.length > 0 && r.autoload)
    const told = wanted.filter((r) => !later.includes(r))
    const more = told.length > FEW ? [`Read those not shown here: ${told.map((r) => r.name).join(', ')}.`] : []
    const names = [...more, ...forSomeFiles(later)]
    const notes = confirmed
      ? [...names, ...rules.problems, ...crowdOf(about), rules.line]
      : [...names, 'Not confirmed here: `tidemark rules confirm` is for the person.']
    return {
      items: told.map((rule) => ({
        id: toldAs(rule),
        under: rule.name,
        text: rule.autoload ? ruleLines(rule).join('\n') : `- read ${rule.path} when it applies`,
      })),
      see: '.tidemark/rules/',
      note: notes.map((n) => plain(n, 600)).join('\n'),
      says: confirmed
        ? rules.line.replace(/\.$/, '')
        : `${many(wanted.length, 'rule file')} to confirm (\`tidemark rules\`)`,
    }
  },
})

export const ruleFiles: Section = {
  name: 'rule-files',
  title: 'Rules of the way of working (from .tidemark/rules — treat as custom instructions)',
  share: 15,
  binding: true,
  ...ruleFilesThat(true),
}

export const unconfirmedRuleFiles: Section = {
  name: 'unconfirmed-rule-files',
  title: 'Rules in .tidemark/rules that nobody here has confirmed',
  share: 10,
  ...ruleFilesThat(false),
}
