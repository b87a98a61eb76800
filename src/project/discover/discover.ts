/**
 * discover: the Scheme functions that read knowledge. `knowledge.ts` for entities and links, the others for recall, the
 * work tree, sessions, the shared context, handoffs, and for asking what exists (`introspection.ts`).
 */

import { UserError } from '../../base/errors.ts'
import { redact } from '../../base/secrets/find.ts'
import { screen } from '../../base/secrets/screen.ts'
import type { Memory } from '../../engine/memory.ts'
import { dropOldDefines, type Kept, keepDefine, keptDefine, measureDefines } from '../../engine/store/definitions.ts'
import type { Project } from '../../engine/store/project.ts'
import { storeCorpus } from '../../find/recall/corpus.ts'
import { momentSaid } from '../../find/recall/moment.ts'
import { rank } from '../../find/recall/rank.ts'
import { topicVocabularyOf } from '../../find/recall/topic-vocabulary.ts'
import { readValidAt } from '../../find/recall/validity.ts'
import type { Entity } from '../../model/entity.ts'
import type { Budget } from '../../scheme/budget.ts'
import { freeze, thaw } from '../../scheme/freeze.ts'
import { createInterpreter, Source as ProcedureSource } from '../../scheme/interpreter.ts'
import { elements, list, type Run, SchemeError, Sym, type Value } from '../../scheme/values.ts'
import { graphFunctions } from './graph.ts'
import { introspection } from './introspection.ts'
import { type Functions, knowledgeFunctions, type Source } from './knowledge.ts'
import { textOf } from './options.ts'
import { sharedFunctions } from './shared.ts'
import { signalFunctions } from './signals.ts'
import { treeFunctions } from './tree.ts'
import { shapesOf } from './values.ts'

/** Definitions a session keeps at most (design §4), and characters in one and in all. */
const MAX_DEFINES = 512
const MAX_DEFINE = 1_000_000
const MAX_OF_SESSION = 8_000_000
/** A kept value is made again from its text: the shortest that takes a pair is `0,`. */
const CHARACTERS_PER_CELL = 2
/** The definitions of a session are forgotten after this long without a new one. */
const DEFINES_KEPT_MS = 30 * 86_400_000

/** What a read costs, in steps of a program. So a loop of reads looks at the clock often enough. */
const STEPS_OF_A_READ = 100
/** Looks at the clock each time: it may fold much of the history. */
const STEPS_OF_AS_OF = 5_000

export interface DiscoverOptions {
  /** Definitions persist for this session; without it they end with the call. */
  session?: string
  asOf?: string
  budget?: Partial<Budget>
  /** For what its configuration says of topics and rules. */
  project?: Project
  /** Functions of other parts of Tidemark. */
  functions?(source: Source): Functions
}

/** Evaluates a program and returns a printed value for each form; an error stands in its place. Never writes. */
export function discover(memory: Memory, program: string, options: DiscoverOptions = {}): string[] {
  const source: Source = {
    reader: memory.reader,
    now: () => memory.env.now(),
    topics: () => topicVocabularyOf(options.project ?? {}),
    ranked: (question, found, kinds) => (source.at === undefined ? ranked(memory, question, found, kinds) : found),
  }
  if (options.asOf !== undefined) readAt(memory, source, { at: options.asOf })
  const registry = memory.registry()
  const functions: Functions = {
    ...knowledgeFunctions(source, registry.kinds()),
    ...treeFunctions(source),
    ...graphFunctions(source),
    ...signalFunctions(memory, source, options.project),
    ...sharedFunctions(memory, source),
    ...options.functions?.(source),
    ...introspection(memory, source, () => functions),
    ...asOfFunctions(memory, source),
  }
  const { session } = options
  const pending = new Map<string, Kept>()
  const interpreter = createInterpreter({
    functions: Object.fromEntries(
      Object.entries(functions).map(([help, run]): [string, Run] => [
        help,
        (args, ctx) => {
          ctx.charge(STEPS_OF_A_READ)
          return run(args, ctx)
        },
      ]),
    ),
    shapes: shapesOf(registry),
    syntax: { 'as-of': expandAt('as-of'), 'valid-at': expandAt('valid-at') },
    ...(options.budget ? { budget: options.budget } : {}),
    ...(session === undefined ? {} : keeping(memory, session, pending)),
  })
  const printed = memory.db.read(() => interpreter.run(program))
  if (session !== undefined && pending.size > 0) keepAll(memory, session, pending)
  return printed
}

/** How the definitions of a session are found and, after their form has succeeded, collected. */
function keeping(memory: Memory, session: string, pending: Map<string, Kept>) {
  const { db } = memory
  let there: { count: number; characters: number } | undefined
  return {
    lookup(name: string, alloc: (cells: number) => void) {
      const kept = keptDefine(db, session, name)
      if (!kept) return undefined
      alloc(Math.ceil(kept.source.length / CHARACTERS_PER_CELL))
      return kept.form === 'source' ? new ProcedureSource(kept.source) : thaw(kept.source)
    },
    onDefine(name: string, value: Value, text: string, usesEarlier: boolean) {
      const isNew = !pending.has(name) && !keptDefine(db, session, name)
      there ??= measureDefines(db, session)
      if (isNew && there.count + pending.size >= MAX_DEFINES)
        throw new UserError(
          'too-many-defines',
          `a session keeps at most ${MAX_DEFINES} definitions`,
          'start a fresh session',
        )
      const frozen = freeze(value)
      if (frozen === undefined && usesEarlier && !isNew)
        throw new UserError(
          'not-kept',
          `${redact(name)}: a procedure made from an earlier value of its name, or set with set!, is not kept`,
          'define it under another name',
        )
      const held = screen({ [name]: frozen ?? text }, false)
      if (held.secrets.length > 0 || held.privateLeftOut)
        throw new UserError(
          'secret',
          held.privateLeftOut
            ? `${redact(name)}: private text is not kept`
            : `${redact(name)} looks like a secret (${held.secrets[0]!.category}) and is not kept`,
          'use it without define, or without a session',
        )
      const size = (frozen ?? text).length
      const all = [...pending.values()].reduce((sum, kept) => sum + kept.source.length, there.characters + size)
      if (size > MAX_DEFINE || all > MAX_OF_SESSION)
        throw new UserError(
          'define-too-large',
          `${redact(name)} is not kept: one definition has at most ${MAX_DEFINE} characters, a session ${MAX_OF_SESSION}`,
          'define the procedure that makes it instead of its value',
        )
      pending.set(name, frozen === undefined ? { form: 'source', source: text } : { form: 'value', source: frozen })
    },
  }
}

function keepAll(memory: Memory, session: string, pending: ReadonlyMap<string, Kept>): void {
  const { db } = memory
  const now = memory.env.now()
  db.write(() => {
    dropOldDefines(db, now - DEFINES_KEPT_MS)
    for (const [name, kept] of pending) keepDefine(db, session, name, kept, now)
  })
}

/** `(as-of when expr …)` → `(call-as-of when (lambda () expr …))`, and so for `valid-at`. */
const expandAt =
  (name: 'as-of' | 'valid-at') =>
  (form: Value): Value => {
    const parts = elements(form)
    if (!parts || parts.length < 3)
      throw new SchemeError(`${name} takes a moment and an expression`, `(${name} "2026-08-01" (get-decisions))`)
    return list([new Sym(`call-${name}`), parts[1]!, list([new Sym('lambda'), list([]), ...parts.slice(2)])])
  }

/** What was found by its words, best first as recall ranks it. By words alone: to load vectors takes longer than a search. */
function ranked(
  { db, reader }: Memory,
  question: string,
  found: readonly Entity[],
  kinds: readonly string[] | undefined,
): readonly Entity[] {
  if (found.length < 2) return found
  const byId = new Map(found.map((e) => [e.id, e]))
  const admitted = (all: readonly Entity[]) => all.filter((e) => byId.has(e.id))
  const best = rank(question, { corpus: storeCorpus(db), reader, vectors: undefined, kinds, all: true, admitted })
  best.sort((a, b) => b.relevance - a.relevance || (a.entity.id < b.entity.id ? -1 : 1))
  return [...new Set([...best.map((r) => r.entity.id), ...byId.keys()])].map((id) => byId.get(id)!)
}

/** Reads as of a moment, or what is valid at one; the other one stays as it is. */
function readAt(memory: Memory, source: Source, said: Pick<Source, 'at' | 'validAt'>): void {
  const iso = (moment: string | undefined) =>
    moment === undefined
      ? undefined
      : new Date(momentSaid(moment, memory.env.now(), 'as-of', memory.reader)).toISOString()
  if (said.at !== undefined) source.at = iso(said.at)
  if (said.validAt !== undefined) source.validAt = iso(said.validAt)
  const reader = source.at === undefined ? memory.reader : memory.asOf(Date.parse(source.at))
  source.reader = source.validAt === undefined ? reader : readValidAt(reader, Date.parse(source.validAt))
}

const asOfFunctions = (memory: Memory, source: Source): Functions => {
  const calling =
    (name: 'at' | 'validAt'): Run =>
    ([moment, procedure], ctx) => {
      ctx.charge(STEPS_OF_AS_OF)
      const { reader, at, validAt } = source
      readAt(memory, source, { [name]: textOf(moment) })
      try {
        return ctx.call(procedure, [])
      } finally {
        Object.assign(source, { reader, at, validAt })
      }
    }
  // biome-ignore format: a table
  return {
    '(call-as-of moment procedure) | calls a procedure with the knowledge as it was at a moment; written (as-of moment expr) | (as-of "2026-11-21" (length (get-decisions)))': calling('at'),
    '(call-valid-at moment procedure) | calls a procedure without what is not true in the world at a moment (validFrom, validTo); written (valid-at moment expr) | (valid-at "2026-11-21" (length (get-decisions)))': calling('validAt'),
  }
}
