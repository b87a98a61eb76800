import type { ActResult, Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import type { Actor } from '../../engine/write/plan.ts'
import type { Json } from '../../model/field.ts'
import { defined } from '../../model/object.ts'
import { shown, visible } from '../../scheme/invisible.ts'

/** One argument of a tool: from it come the MCP schema, the command line's flags and the check of HTTP bodies. */
export interface Param {
  /**
   * `json`: a list or object; on the command line the text, a file's name or `-` for standard input. `any`: any JSON
   * value; on the command line JSON, else the text as it is.
   */
  readonly type: 'text' | 'number' | 'flag' | 'json' | 'any'
  readonly about: string
  readonly required?: boolean
  /** Its place on the command line, from 0; without one it is `--name`. `rest` takes all that follow, joined. */
  readonly place?: number | 'rest'
  /** What `rest` takes stays apart: joined by line breaks, not by blanks. */
  readonly list?: boolean
  /** On the command line `-` alone stands for standard input. */
  readonly stdin?: boolean
  readonly choices?: readonly string[]
  /** A whole number, from this one on. */
  readonly least?: number
  /** For the command line alone. */
  readonly typed?: boolean
  /** Taken everywhere, but no MCP schema spends tokens on it. */
  readonly rare?: boolean
}

/** What a parameter takes instead of this number; nothing where it takes it. */
export const otherThan = ({ least }: Param, n: unknown): string | undefined =>
  least === undefined || (Number.isInteger(n) && Number(n) >= least) ? undefined : `a whole number from ${least} on`

type Params = Readonly<Record<string, Param>>

type ValueOf<P extends Param> = P['type'] extends 'text'
  ? P extends { readonly choices: readonly (infer C)[] }
    ? C
    : string
  : P['type'] extends 'number'
    ? number
    : P['type'] extends 'flag'
      ? boolean
      : unknown

type Required<P extends Params> = { [K in keyof P]: P[K] extends { readonly required: true } ? K : never }[keyof P]

/** The arguments of a tool as every surface has read them, derived from its parameters. */
export type ToolArgs<P extends Params> = { readonly [K in Required<P>]: ValueOf<P[K]> } & {
  readonly [K in Exclude<keyof P, Required<P>>]?: ValueOf<P[K]>
}

/** What a tool works on. Nothing about a project or a session is global to the process. */
export interface ToolContext {
  readonly memory: Memory
  readonly project: Project
  /** The acting session, where the caller named one. */
  readonly session?: string
  /** The projects that the caller may look into besides this one, where that is not all of its user's: over HTTP those served. */
  readonly served?: readonly Project[]
  /** Where the caller stands, for paths on the command line. */
  readonly directory?: string
  /** The client that calls, for provenance: `claude-code`, `codex`, `cli` … */
  readonly agent?: string
  /** Who wants it, where the surface knows better than by `agent`. */
  readonly by?: Actor
  /** A person reads the text on a terminal: times are local, with their zone; else in UTC. */
  readonly local?: boolean
  /** One line of progress on a terminal; silent elsewhere. */
  progress?: ((line: string) => void) | undefined
  /** Asks the person at the terminal; nothing where nobody could answer. Only a plain yes is one. */
  ask?: ((question: string) => Promise<boolean>) | undefined
  /** Waits for one of these keys from the person at the terminal; `q` where none can come any more. */
  key?: ((question: string, keys: string) => Promise<string>) | undefined
}

/** How a part of a page looks on a terminal. */
export type Look = 'ref' | 'name' | 'kind' | 'aside' | 'warn'
export type Span = string | readonly [Look, string]
/** A part of a page for a person: a table, of which one column may be cut (or `wraps`), or a paragraph. The surface fits both to its width. */
export type Block =
  | {
      readonly head: readonly string[]
      readonly rows: readonly (readonly Span[])[][]
      readonly cuts: number
      readonly wraps?: boolean
    }
  | { readonly line: readonly Span[]; readonly indent?: number }

export interface Output {
  /** What a person or a model reads. */
  readonly text: string
  /** The same for a program: `--json`, `structuredContent`, the HTTP body. */
  readonly json: Json
  /** Instead of the text, where a person reads it on a terminal. */
  page?(): readonly Block[]
  /** On the command line each on a line of its own: with `--json`, and where no person reads. */
  readonly lines?: readonly Json[]
}

/** A read tool or a surface verb: the same value serves MCP, the command line and HTTP. */
export interface Tool {
  readonly name: string
  readonly title: string
  /** What the model reads, or the first line of `--help`. */
  readonly about: string
  /** A command line that runs, for `--help` and the docs. */
  readonly example: string
  readonly params: Params
  readonly readOnly: boolean
  readonly destructive?: boolean
  /** Reads or writes files that the caller names: for the command line alone, never offered over HTTP or MCP. */
  readonly local?: boolean
  /** Offered to the dashboard all the same, where a person sees what they agree to. */
  readonly dashboard?: boolean
  /**
   * Whether this call acts on what a session has already: one that the caller names and nobody knows is a typo then, and
   * refused. Elsewhere a session that acts is there from then on.
   */
  ofSession?(args: Readonly<Record<string, unknown>>): boolean
  /**
   * Whether this call needs a session: a person on a terminal who names none acts in one of their own. Where it is false
   * or the tool only reads, that one acts if it is there.
   */
  needsSession?(args: Readonly<Record<string, unknown>>): boolean
  /** Its text has a fence, within which what others wrote is safe already. Every other text is shown without the marks of one. */
  readonly fences?: boolean
  /** @throws UserError for the caller's mistakes. */
  run(context: ToolContext, args: Readonly<Record<string, unknown>>): Output | Promise<Output>
  /** With `--follow` on the command line: gives what there is and what comes, until the way to stop is called. */
  follow?(
    context: ToolContext,
    args: Readonly<Record<string, unknown>>,
    emit: (several: readonly Output[]) => void,
  ): () => void
}

type Unsaid = 'params' | 'readOnly'

interface Declared<P extends Params> extends Omit<Tool, Unsaid>, Partial<Pick<Tool, Unsaid>> {
  readonly params?: P
  ofSession?(args: ToolArgs<NoInfer<P>>): boolean
  run(context: ToolContext, args: ToolArgs<NoInfer<P>>): Output | Promise<Output>
}

/** Declares a tool: the type of the arguments that `run` gets comes from its parameters. Unless said, it takes none, and writes. */
export const defineTool = <const P extends Params>(tool: Declared<P>): Tool => ({
  params: {},
  readOnly: false,
  ...tool,
})

/** Its text as it may be shown: it steers no terminal, hides nothing, and ends no fence. */
export const textOf = ({ text }: Pick<Output, 'text'>, tool: Pick<Tool, 'fences'>): string =>
  tool.fences ? visible(text) : shown(text)

export const REF = {
  type: 'text',
  about: 'an id, kind:name, a path, a name, or a short reference such as #a3f',
} as const

/** What was written: lines of the tool, then what the batch noted. The JSON is the whole result, unless given. */
export const written = (
  done: Pick<ActResult, 'notes'>,
  lines: readonly string[],
  json: unknown = done,
  last: readonly string[] = [],
): Output => ({ text: [...lines, ...done.notes.map((n) => `note: ${n}`), ...last].join('\n'), json: json as Json })

/** The author of a call: who the context says acts, unless the arguments say otherwise. */
export const actingAs = ({ by, session, agent }: Pick<ToolContext, 'session' | 'agent' | 'by'>) =>
  defined({ by, session: session || undefined, agent: agent || undefined })
