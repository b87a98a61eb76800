import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { inspect, readInside } from '../../base/files.ts'
import type { Db } from '../../engine/store/db.ts'
import { getMeta, setMeta } from '../../engine/store/meta.ts'
import { digest } from '../../model/digest.ts'
import { frontMatterOf, textIn } from '../../model/markdown.ts'

export const LEVELS = ['poc', 'alpha', 'beta', 'ga'] as const
export type Level = (typeof LEVELS)[number]

const isLevel = (value: unknown): value is Level => LEVELS.includes(value as Level)
export const rank = (level: Level): number => LEVELS.indexOf(level)

/** More agents at once cost more in conflicts than they bring. */
export const AGENTS: Readonly<Record<Level, number>> = { poc: 1, alpha: 2, beta: 4, ga: 6 }

/** What `maturity` in `.tidemark/config.json` says, checked. */
export interface Declared {
  readonly level?: Level
  /** Why a person set another level than the assessed one. */
  readonly because?: string
  /** What is wrong with it; then no level counts. */
  readonly problem?: string
}

export function declaredOf(raw: unknown): Declared {
  if (raw === undefined) return {}
  const { level, because } = (typeof raw === 'object' && raw !== null ? raw : { level: raw }) as Record<string, unknown>
  if (isLevel(level)) return typeof because === 'string' ? { level, because } : { level }
  const said = JSON.stringify(level ?? null).slice(0, 40)
  return { problem: `maturity in .tidemark/config.json is ${said}, not one of ${LEVELS.join(', ')}` }
}

export const RULES_DIR = '.tidemark/rules'
const MOST_FILES = 40
const MOST_BYTES = 16_000

/** One file of rules, at the level of the project. */
export interface Rule {
  readonly name: string
  readonly path: string
  readonly level: Level
  /** Globs: it is for work on these files alone. */
  readonly paths: readonly string[]
  /** False where it is read on demand. */
  readonly autoload: boolean
  readonly isActive: boolean
  /** What holds at the level of the project, and what comes with higher ones. */
  readonly text: string
  readonly dormant: string
  readonly isConfirmed: boolean
  /** The whole file, and its name with a digest of it. */
  readonly file: string
  readonly mark: string
}

export interface Rules {
  /** In the order of levels, then of names. */
  readonly all: readonly Rule[]
  /** `N rules active at {level} level.`, or why all are. */
  readonly line: string
  readonly problems: readonly string[]
}

/** The rules of a project; nothing where it has no folder of them, which costs one look. */
export function rulesOf(root: string, raw: unknown, db: Db): Rules | undefined {
  if (inspect(root, RULES_DIR).is !== 'directory') return undefined
  const declared = declaredOf(raw)
  const confirmed = confirmedIn(db)
  const problems: string[] = []
  const all = readdirSync(join(root, RULES_DIR))
    .filter((name) => /^[\w.-]{1,80}\.md$/.test(name))
    .sort()
    .slice(0, MOST_FILES)
    .flatMap((name): Rule[] => {
      const path = `${RULES_DIR}/${name}`
      const file = readInside(root, path, MOST_BYTES)?.toString('utf8')
      if (file === undefined) problems.push(`${path} cannot be read: it is a link, or larger than ${MOST_BYTES} bytes`)
      return file === undefined
        ? []
        : [ruleOf(name.slice(0, -3), path, file, declared.level ?? 'ga', problems, confirmed)]
    })
    .sort((a, b) => rank(a.level) - rank(b.level))
  if (all.length === 0) return undefined
  const active = all.filter((r) => r.isActive).length
  const why = declared.problem ?? 'no level is set (`tidemark maturity adopt` sets it)'
  const line =
    declared.level === undefined
      ? `All ${active} rules are active: ${why}.`
      : `${active} rules active at ${declared.level} level.`
  return { all, line, problems }
}

function ruleOf(
  name: string,
  path: string,
  file: string,
  at: Level,
  problems: string[],
  confirmed: ReadonlySet<string>,
): Rule {
  const head = frontMatterOf(file)
  const [maturity, paths] = [textIn(head, 'maturity'), head.fields.get('paths') ?? []]
  const mark = `${name}@${digest(file).slice(0, 32)}`
  const levelSaid = (said: string): Level => {
    if (isLevel(said)) return said
    problems.push(`${path}: "${said.slice(0, 20)}" is no level; it is active at every one`)
    return 'poc'
  }
  let level = maturity === undefined ? undefined : levelSaid(maturity)
  let part = level ?? 'poc'
  const text: string[] = []
  const dormant: string[] = []
  for (const line of head.body.split(/\r?\n/)) {
    const marked = /^<!-- *maturity: *([\w-]+) *-->$/.exec(line.trim())?.[1]
    if (marked === undefined) {
      ;(rank(part) <= rank(at) ? text : dormant).push(line)
      continue
    }
    part = levelSaid(marked)
    if (level === undefined && [...text, ...dormant].every((l) => l.trim() === '')) level = part
    if (level !== undefined && rank(part) < rank(level)) part = level
  }
  return {
    name,
    path,
    level: level ?? 'poc',
    paths: typeof paths === 'string' ? [paths] : paths,
    autoload: textIn(head, 'autoload') !== 'false',
    isActive: rank(level ?? 'poc') <= rank(at),
    text: text.join('\n').trim(),
    dormant: dormant.join('\n').trim(),
    isConfirmed: confirmed.has(mark),
    file,
    mark,
  }
}

const CONFIRMED = 'rules-confirmed'
const confirmedIn = (db: Db): Set<string> => new Set((getMeta(db, CONFIRMED) ?? '').split('\n'))

/** Keeps a person's yes to files as they are now: a file that changes needs another. */
export function confirmRules(db: Db, rules: readonly Pick<Rule, 'name' | 'mark'>[]): void {
  const names = new Set(rules.map((r) => r.name))
  db.write(() => {
    const others = [...confirmedIn(db)].filter((mark) => mark !== '' && !names.has(mark.split('@')[0]!))
    setMeta(db, CONFIRMED, [...others, ...rules.map((r) => r.mark)].join('\n'))
  })
}
