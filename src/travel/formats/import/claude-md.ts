import { dirname, isAbsolute, resolve } from 'node:path'
import { UserError } from '../../../base/errors.ts'
import { inspect, pathIn } from '../../../base/files.ts'
import { enterHeading } from '../../../model/markdown.ts'
import { foldText } from '../../../model/names.ts'
import { type Category, categoryOfHeading, classifyRule, plainLine } from './classify.ts'
import { labelOf, readText } from './files.ts'
import { blocksOf, sentencesOf } from './markdown.ts'
import { scrub } from './text.ts'
import { unlessNone } from './trees.ts'
import type { Importer, Item, Unplaced } from './types.ts'

/** An item longer than this says more than a rule, whatever its heading promises. */
const SHORT_ITEM = 200
/** Headings that say nothing about what the rules below them are about. */
const EMPTY_HEADING =
  /^(?:rules?|guidelines?|conventions?|instructions?|notes?|general|overview|important|misc\w*|claude|agents|claude\.md|agents\.md)$/

interface Found {
  fact: string
  category: Category
  context: string[]
  locations: string[]
  topics: string[]
}

interface Page {
  file: string
  label: string
  text: string
}

export const claudeMd: Importer = {
  name: 'claude-md',
  about: 'rules of a CLAUDE.md or AGENTS.md become facts',
  read(path, root) {
    const unplaced: Unplaced[] = []
    const redacted: { where: string; category: string }[] = []
    const open = (file: string): Page => {
      const label = labelOf(file, root)
      const page = scrub(readText(file, root), label)
      redacted.push(...page.redacted)
      return { file, label, text: page.text }
    }
    const first = open(path)
    const pages = [first]
    const found = new Map<string, Found>()
    const counts = { rules: 0, prose: 0 }
    for (const page of pages) {
      for (const i of importsOf(page.text)) {
        const target = resolveImport(i.path, page.file, root)
        const leaveOut = (why: string) =>
          void unplaced.push({ where: `${page.label}:${i.line}`, what: `@${i.path}`, why })
        if (typeof target !== 'string') {
          if (target && page === first) leaveOut(target.why)
        } else if (page !== first) leaveOut('an import within an import is not followed')
        else if (!pages.some((p) => p.file === target))
          try {
            pages.push(open(target))
          } catch (error) {
            if (!(error instanceof UserError)) throw error
            leaveOut(error.message)
          }
      }
      const prose = rulesOf(page, found)
      counts.prose += prose.length
      if (prose.length > 0)
        unplaced.push({
          where: `${page.label}:${prose[0]}`,
          what: `${prose.length} ${prose.length === 1 ? 'passage' : 'passages'} of prose`,
          why: 'no rules; they stay in the file',
        })
    }
    counts.rules = found.size
    const items = [...found.values()].map(itemOf)
    return { items, unplaced, counts, redacted, owns: ['fact', 'chunk'], files: pages.map((p) => p.label) }
  },
}

function itemOf({ fact, category, locations, topics, context }: Found): Item {
  const more = { topics: unlessNone(topics), context: context.join(' ') || undefined }
  return { verb: 'record-fact', args: { fact, category, locations, ...more }, where: locations[0]! }
}

/** Adds the rules of a page to what was found; returns the lines at which prose begins. */
function rulesOf(page: Page, found: Map<string, Found>): number[] {
  const prose: number[] = []
  const headings: string[] = []
  for (const block of blocksOf(page.text)) {
    if (block.type === 'heading') {
      enterHeading(headings, block.level, plainLine(block.text))
      continue
    }
    const where = `${page.label}:${block.line}`
    const promised = headings.findLast((h) => h && categoryOfHeading(h) !== undefined)
    let last: Found | undefined
    let before: string | undefined
    for (const sentence of sentencesOf(block.text)) {
      const rule = classifyRule(sentence)
      if (rule) {
        last = add(found, rule.fact, rule.category, where, topicsOf(headings))
        // "Don't break this." means little without the sentence before it
        if (before !== undefined) last.context.push(before)
        before = undefined
      } else if (last) last.context.push(sentence.trim())
      else before = sentence.trim()
    }
    if (last) continue
    const category = promised && categoryOfHeading(promised)
    const whole = plainLine(block.text)
    if (
      block.type === 'item' &&
      category &&
      whole.length >= 6 &&
      whole.length <= SHORT_ITEM &&
      !/[?:]$/.test(whole) &&
      !/^@/.test(whole)
    )
      add(found, whole, category, where, topicsOf(headings))
    else if (importsOf(block.text).length === 0) prose.push(block.line)
  }
  return prose
}

function add(found: Map<string, Found>, fact: string, category: Category, where: string, topics: string[]): Found {
  const key = foldText(fact)
  const there = found.get(key)
  if (there) {
    // said again: one fact, both places
    if (!there.locations.includes(where)) there.locations.push(where)
    there.topics.push(...topics.filter((t) => !there.topics.includes(t)))
    return { ...there, context: [] }
  }
  const fresh: Found = { fact, category, context: [], locations: [where], topics: [...topics] }
  found.set(key, fresh)
  return fresh
}

function topicsOf(headings: readonly string[]): string[] {
  return headings
    .slice(1)
    .map(
      (h) =>
        h
          ?.toLowerCase()
          .replace(/[`*_:]/g, '')
          .replace(/^\d+[.)]\s*/, '')
          .trim() ?? '',
    )
    .filter((h) => h !== '' && h.length <= 40 && !EMPTY_HEADING.test(h))
}

/** `@path` outside code, with its line. */
function importsOf(text: string): { path: string; line: number }[] {
  return blocksOf(text).flatMap((b) => {
    if (b.type === 'heading') return []
    return [...b.text.replace(/`[^`]*`/g, '').matchAll(/(?:^|\s)@([\w.~/\\-][\w.~/\\@-]*)/g)].map((m) => ({
      path: m[1]!.replace(/(?<![.,;:])[.,;:]+$/, ''),
      line: b.line,
    }))
  })
}

/** The file that `@path` means; why it is not read; nothing when it is no import at all (`@types/node`, `@ana`). */
function resolveImport(path: string, from: string, root: string): string | { why: string } | undefined {
  if (path.startsWith('~')) return { why: 'outside the project' }
  const target = isAbsolute(path) ? path : resolve(dirname(from), path)
  const way = pathIn(root, target)
  const found = way === undefined ? undefined : inspect(root, way)
  if (found?.is === 'file') return target
  if (!/\.(?:md|mdx|mdc|txt)$/i.test(path)) return undefined
  if (!found) return { why: 'outside the project' }
  return { why: found.is === 'unsafe' ? 'a link, which is not followed' : 'there is no such file' }
}
