import { UserError, unlessRefused } from '../../base/errors.ts'
import { inspect, readInside } from '../../base/files.ts'
import { wordSet } from '../../find/recall/word-overlap.ts'
import { digest } from '../../model/digest.ts'
import { fencedLines } from '../../model/markdown.ts'
import { foldText } from '../../model/names.ts'
import { ALL_FACTS } from '../coordination/clients.ts'

/** Where clients keep what agents follow, by the name of a skill. */
const PLACES = [
  ...[...ALL_FACTS.flatMap((f) => f.skills), 'plugin/skills', 'skills'].map((folder) => `${folder}/NAME/SKILL.md`),
  ...[...ALL_FACTS.flatMap((f) => f.commands), 'commands'].map((folder) => `${folder}/NAME.md`),
  ...[...ALL_FACTS.flatMap((f) => f.agents), 'agents'].map((folder) => `${folder}/NAME.md`),
  ...['.tidemark/rules', '.claude/rules', 'rules'].map((folder) => `${folder}/NAME.md`),
]

export function fileOfSkill(root: string, skill: string): string | undefined {
  if (!/^[\w.-]{1,80}$/.test(skill) || skill.startsWith('.')) return undefined
  return PLACES.map((place) => place.replace('NAME', skill)).find((path) => inspect(root, path).is === 'file')
}

export type SkillFile = Readonly<{ path: string; hash: string; text: string }>

/** @throws UserError where it is no file of a skill, or cannot be read as text. */
export function readSkill(root: string, path: string): SkillFile {
  // one that tells agents how to work, and nothing else
  if (!/(?:^|\/)(?:SKILL\.md|(?:commands|agents|rules)\/[^/]{1,80}\.mdc?)$/.test(path)) {
    const hint = 'give the path of one in this project: .claude/skills/NAME/SKILL.md'
    throw new UserError('no-skill-file', `${path} is no skill, command, agent or rule`, hint)
  }
  const bytes = readInside(root, path)
  const text = bytes?.toString('utf8')
  if (bytes === undefined || !Buffer.from(text!).equals(bytes)) {
    const hint = 'give the path of a plain text file in this project'
    throw new UserError('no-skill-file', `${path} cannot be read as text`, hint)
  }
  return { path, hash: digest(bytes), text: text! }
}

/** The same where one is there. */
export const findSkill = (root: string, path: string | undefined): SkillFile | undefined =>
  path === undefined ? undefined : unlessRefused(() => readSkill(root, path))

interface Step {
  /** Its first line, and the one after its last. */
  readonly from: number
  readonly to: number
  readonly indent: string
  readonly number: number
  readonly mark: string
  readonly text: string
}

const ITEM = /^( {0,3})(\d{1,3})([.)])[ \t]+(\S.*)$/
const ABOUT_STEPS = /^#{1,6} .*\b(?:steps?|execution|workflow|process|procedure|instructions)\b/i

/** The numbered lists of a page, each with the heading above it. Code is passed over. */
function listsIn(lines: readonly string[]): { heading: string; steps: Step[] }[] {
  const lists: { heading: string; steps: Step[] }[] = []
  const fenced = fencedLines(lines)
  let heading = ''
  let steps: Step[] | undefined
  lines.forEach((line, i) => {
    const item = fenced[i] ? null : ITEM.exec(line)
    const isHeading = !fenced[i] && /^#{1,6} /.test(line)
    const isIn = line.trim() === '' || /^\s/.test(line) || fenced[i]
    if (item) {
      const [, indent = '', digits, dot = '.', said = ''] = item
      if (!steps || Number(digits) < steps.at(-1)!.number) lists.push({ heading, steps: (steps = []) })
      steps.push({ from: i, to: i + 1, indent, number: Number(digits), mark: dot, text: said.trim() })
    } else if (isHeading) [heading, steps] = [line, undefined]
    else if (steps && !isIn && lines[i - 1]?.trim() === '')
      steps = undefined // a paragraph of its own
    else if (steps && line.trim() !== '') steps[steps.length - 1] = { ...steps.at(-1)!, to: i + 1 }
  })
  return lists
}

/** The steps that a skill takes: the list under a heading that says so, else the first one. */
function stepsIn(lines: readonly string[]): readonly Step[] {
  const lists = listsIn(lines)
  return (lists.find((l) => ABOUT_STEPS.test(l.heading)) ?? lists[0])?.steps ?? []
}

const splitLines = (text: string) => text.split(/(?<=\n)/)

export const stepTexts = (text: string): string[] =>
  stepsIn(splitLines(text).map((l) => l.trimEnd())).map((s) => s.text)

/** The step before which something belongs that is about these words: behind the one that speaks of it, else the last. */
export function placeFor(text: string, about: string): string | undefined {
  const steps = stepTexts(text)
  const words = wordSet(about)
  const speaks = steps.findIndex((s) => [...wordSet(s)].some((word) => words.has(word)))
  return steps[speaks + 1 > 0 ? speaks + 1 : steps.length - 1] ?? steps.at(-1)
}

export const hasStep = (text: string, step: string): boolean =>
  stepTexts(text).some((s) => foldText(s) === foldText(step))

/** Inserts a step before the one given, else before the last, and renumbers. A page without steps gets a section. */
export function withStep(text: string, step: string, before: string | undefined): string {
  const lines = splitLines(text)
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  const steps = stepsIn(lines.map((l) => l.trimEnd()))
  if (steps.length === 0) {
    const gap = text === '' ? '' : text.endsWith('\n') ? end : end + end
    return `${text}${gap}## Execution steps${end}${end}1. ${step}${end}`
  }
  const named = before === undefined ? -1 : steps.findIndex((s) => foldText(s.text) === foldText(before))
  const at = named >= 0 ? named : steps.length - 1
  const isCounted = steps.length === 1 || steps[1]!.number !== steps[0]!.number // else all are written as 1.
  const { from, indent, number, mark } = steps[at]!
  const isLoose = lines[steps[0]!.to]?.trim() === '' && steps.length > 1
  const out = lines.slice(0, from)
  out.push(`${indent}${number}${mark} ${step}${end}`, ...(isLoose ? [end] : []))
  let line = from
  for (const s of isCounted ? steps.slice(at) : []) {
    out.push(...lines.slice(line, s.from))
    const old = `${s.indent}${s.number}${s.mark}`
    out.push(`${s.indent}${s.number + 1}${s.mark}${lines[s.from]!.slice(old.length)}`)
    // a wider number moves what belongs to the step
    const wider = String(s.number + 1).length > String(s.number).length ? ' ' : ''
    for (const l of lines.slice(s.from + 1, s.to)) out.push(/^[ \t]+\S/.test(l) ? wider + l : l)
    line = s.to
  }
  return [...out, ...lines.slice(line)].join('')
}

const CONTEXT = 2

/** The lines that differ, with those around them: `-` what goes, `+` what comes. */
export function diffOf(path: string, before: string, after: string): string {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let [i, j] = [a.length, b.length]
  while (i > start && j > start && a[i - 1] === b[j - 1]) [i, j] = [i - 1, j - 1]
  const from = Math.max(0, start - CONTEXT)
  const around = (lines: readonly string[]) => lines.map((l) => ` ${l}`)
  return [
    `--- ${path}`,
    `+++ ${path}`,
    `@@ -${from + 1} +${from + 1} @@`,
    ...around(a.slice(from, start)),
    ...a.slice(start, i).map((l) => `-${l}`),
    ...b.slice(start, j).map((l) => `+${l}`),
    ...around(a.slice(i, i + CONTEXT)),
  ]
    .join('\n')
    .replaceAll('\r', '')
}
