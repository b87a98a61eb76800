import { homedir } from 'node:os'
import { basename } from 'node:path'
import { frontMatterOf, textIn } from '../../../model/markdown.ts'
import { plainLine } from './classify.ts'
import { sectionsOf } from './docs.ts'
import { labelOf } from './files.ts'
import { isRule } from './orders.ts'
import { type Page, pagesAt } from './pages.ts'
import { chunksOf } from './shorten.ts'
import { firstSentence } from './text.ts'
import type { Importer, Item, Unplaced } from './types.ts'

/**
 * Notes that a client keeps. Claude Code: a file each with name, description and type, where `feedback` is what the user
 * wants, with a "Why". Gemini CLI: a list in GEMINI.md. Serena and Cline: pages. Codex: a page for all projects of a user.
 */
export const notes: Importer = {
  name: 'notes',
  about:
    'notes of Claude Code (memory/), Codex, Gemini CLI, Serena and Cline: what the user wants is proposed as rules, the rest learnings and chunks',
  read(path, root) {
    const { pages, unplaced, rest } = pagesAt(path, root, ['.md'])
    const ofCodex = pages.filter((p) => GROUP.test(p.text))
    if (ofCodex.length > 0) {
      const others = pages.length - ofCodex.length
      const why = 'Codex made its page of task groups of them; one is taken in by its own name'
      if (others > 0) unplaced.push({ where: labelOf(path, root), what: `other pages: ${others}`, why })
      const items = ofCodex.flatMap((page) => groupsFor(root, page, unplaced))
      const counts = { notes: items.length }
      return { items, unplaced, counts, ...rest, owns: ['fact', 'learning', 'failed-approach'] }
    }
    const files = new Set(pages.map((page) => basename(page.label)))
    const items = pages.flatMap(({ label, text }): Item[] => {
      // MEMORY.md is an index of the others: a line is kept whose file is not there
      const isRead = (line: string, file: string) => (files.has(basename(file)) ? '' : line)
      const index = /^ {0,8}[-*] \[[^\]\n]{0,200}\]\(([^)\n]{0,300})\).*$/gm
      const own = basename(label) === 'MEMORY.md' ? text.replace(index, isRead) : text
      const front = frontMatterOf(own)
      const type = textIn(front, 'type') ?? /^[ \t]+type:[ \t]*(\w+)/m.exec(text)?.[1]
      const description = textIn(front, 'description')
      const title = description ?? textIn(front, 'name')
      if (title !== undefined && type !== undefined) {
        const body = front.body.trim()
        const [first = '', ...more] = body.split(/\n{2,}/)
        // the first paragraph is the wish, or the story behind it
        const isTold = description !== undefined && (isRule(plainLine(description)) || !isRule(plainLine(first)))
        const isShort = !isTold && /^[^#]/.test(first) && first.length <= 400
        const why = isShort ? more.join(' ') : body
        const isWish = type === 'feedback'
        const context = why.replace(/^\*\*([^*\n]{1,60})\*\*/gm, '$1') || undefined
        const wish = { fact: plainLine(isShort ? first : title), context }
        const args = isWish ? wish : { title, body }
        const attrs = { type, note: label }
        const verb = isWish ? 'record-fact' : 'record-learning'
        return [{ verb, args: { ...args, attrs }, where: label, same: ['note', label] }]
      }
      return sectionsOf(front.body).flatMap((s): Item[] => {
        const where = `${label}:${s.line}`
        if (!s.title.endsWith('Gemini Added Memories'))
          return chunksOf(s.text, { sourceFile: label, section: s.title, where }).chunks
        const added = s.text.split('\n').filter((line) => /^\s*[-*] \S/.test(line))
        return added.map((line) => ({ verb: 'record-fact', args: { fact: plainLine(line) }, where }))
      })
    })
    const chunks = items.filter(({ verb }) => verb === 'record-chunk').length
    const counts = { notes: items.length - chunks, chunks }
    return { items, unplaced, counts, ...rest, owns: ['fact', 'learning', 'chunk'] }
  },
}

const GROUP = /^# Task Group:[ \t]*(\S.*)$/m
const PROOF = / ?\[(?:Task[^\]\n]{0,40}|ad-hoc note)\]/g

/** Of Codex's `memories/MEMORY.md` the groups of tasks that were done in this project: what its user prefers, knows, and failed at. */
function groupsFor(root: string, { label, text }: Page, unplaced: Unplaced[]): Item[] {
  // a page that the project holds was written in another clone of it
  const isOfProject = label.startsWith('.codex/') && root !== homedir()
  const isHere = (group: string) =>
    isOfProject || group.split(`cwd=${root}`).some((after, i) => i > 0 && (after === '' || /^[;,)/\\\s]/.test(after)))
  let line = 0
  const groups = text.split(/^(?=# Task Group:)/m)
  const others = groups.filter((group) => GROUP.test(group) && !isHere(group)).length
  if (others > 0)
    unplaced.push({ where: label, what: `groups of tasks: ${others}`, why: 'their `cwd` is another folder' })
  return groups.flatMap((group) => {
    const from = line
    line += group.split('\n').length - 1
    if (!isHere(group)) return []
    const name = GROUP.exec(group)?.[1]
    const about = name && `Task group: ${name}`
    return sectionsOf(group).flatMap((section) => {
      const said = section.text.split('\n').filter((l) => /^[-*] \S/.test(l))
      const where = `${label}:${from + section.line}`
      const of = section.title.split(' › ').at(-1)
      return said.flatMap((l): Item[] => {
        const words = plainLine(l.replace(PROOF, ''))
        // more than one arrow is a chain of calls
        const [what, instead, ...chain] = words.split(/ (?:->|→) /)
        const learned = { title: firstSentence(words), body: [words, about].filter(Boolean).join('\n\n') }
        if (of === 'User preferences') return [{ verb: 'record-fact', args: { fact: words, context: about }, where }]
        const isFailure = of === 'Failures and how to do differently'
        const isSplit = isFailure && instead !== undefined && chain.length === 0
        if (isSplit)
          return [
            {
              verb: 'record-failed-approach',
              args: { approach: what!, lesson: instead, attrs: about && { about } },
              where,
            },
          ]
        return isFailure || of === 'Reusable knowledge' ? [{ verb: 'record-learning', args: learned, where }] : []
      })
    })
  })
}
