import { readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { attempt, UserError, unlessRefused } from '../../../base/errors.ts'
import { inspect } from '../../../base/files.ts'
import { parseJson } from '../../../model/exact-json.ts'
import type { Json } from '../../../model/field.ts'
import { configItems } from './add/config.ts'
import { feedbackItems } from './add/feedback.ts'
import type { AddFolder } from './add/folder.ts'
import { handoffItems } from './add/handoff.ts'
import { learningItems, learningsOfView } from './add/learnings.ts'
import { observationItems } from './add/observations.ts'
import { decisionItems, mutationItems, swarmItems } from './add/process.ts'
import { scoreItems } from './add/scores.ts'
import { labelOf, mustBeDirectory, mustBeInside, readText } from './files.ts'
import { scrub } from './text.ts'
import type { Importer, Item, Reading, Unplaced } from './types.ts'

/** In the order in which they are written. */
const FILES = [
  'config.json', 'learnings.json', 'learnings-archive.json', 'learnings.md', 'retro-scores.json', 'observations.md', 'add-feedback.md', 'decisions.md', 'mutations.md', 'swarm-state.md', 'handoff.md',
] as const // biome-ignore format: a list

const HINT = 'give the root of a project that has .add/, or that folder'

export const add: Importer = {
  name: 'add',
  about:
    'the process files of an ADD project (.add/): learnings, decisions, mutations, swarm state, handoff, config, retro scores, feedback',
  read(path, root) {
    mustBeDirectory(path, HINT)
    const inner = join(path, '.add')
    mustBeInside(inner, path)
    const dir = inspect(path, '.add').is === 'directory' ? inner : path
    if (!FILES.some((f) => inspect(dir, f).is !== 'nothing'))
      throw new UserError('no-add-files', `${path} has no process files of ADD`, HINT, { looked: [...FILES] })
    return { ...readFolder(dir), from: labelOf(dir, root) }
  },
}

function readFolder(dir: string): Reading {
  const prefix = basename(dir) === '.add' ? '.add/' : ''
  const unplaced: Unplaced[] = []
  const redacted: { where: string; category: string }[] = []
  const counts: { [what: string]: number } = {}
  let partial = false
  const label = (name: string) => `${prefix}${name}`
  const leaveOut = (where: string, what: string, why: string) => void unplaced.push({ where, what, why })
  const broken = (name: string, why: string) => {
    partial = true
    return leaveOut(label(name), 'the whole file', why)
  }
  const open = (name: string): string | undefined => {
    if (inspect(dir, name).is === 'nothing') return undefined
    const at = join(dir, name)
    return unlessRefused(
      () => readText(at, dir),
      ({ message }) => broken(name, message.replace(at, 'it')),
    )
  }
  const folder: AddFolder = {
    project: basename(prefix === '' ? resolve(dir) : dirname(resolve(dir))),
    label,
    leaveOut,
    count: (what, n) => void (n > 0 && (counts[what] = (counts[what] ?? 0) + n)),
    page(name) {
      const page = scrub(open(name) ?? '', label(name))
      redacted.push(...page.redacted)
      return page.text
    },
    json(name) {
      const text = open(name)
      if (text === undefined) return undefined
      return attempt(
        () => parseJson(text.replace(/^\uFEFF/, '')) as Json,
        ({ message }) => broken(name, `not JSON: ${message}`),
      )
    },
  }
  const learnings = learningItems(folder)
  const items: Item[] = [
    ...configItems(folder),
    ...learnings,
    ...learningsOfView(folder, learnings),
    ...scoreItems(folder),
    ...observationItems(folder),
    ...feedbackItems(folder),
    ...decisionItems(folder),
    ...mutationItems(folder),
    ...swarmItems(folder),
    ...handoffItems(folder),
  ]
  for (const entry of readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)))
    if (!(FILES as readonly string[]).includes(entry.name))
      leaveOut(label(entry.name), entry.isDirectory() ? 'a folder' : 'a file', 'none of the files that are read')
  return { items, unplaced, counts, redacted, owns: ['fact', 'chunk'], files: FILES.map(label), partial }
}
