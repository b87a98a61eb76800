import type { Json } from '../../../model/field.ts'

/** One thing a source says, as an action that can be compared with what is known already. */
export interface Item {
  /** `record-<kind>`, `link-entities`, `supersede`, `rename`, `propose`, `define-kind` or `define-relation`. */
  readonly verb: string
  /** What is undefined was not said. */
  readonly args: Readonly<{ [arg: string]: Json | undefined }>
  /** Where it stands: `file:line` or `file#key`. */
  readonly where: string
  /** What later items call the entity, when its id is not known yet. */
  readonly as?: string
  /** The attribute that recognises an entity of this import again, whatever else of it has changed. */
  readonly same?: readonly [attr: string, value: string]
  /** What it is in the project it comes from: kept as `attrs.origin` when its id cannot be. */
  readonly origin?: string
  /** The source has put it away: it is retired, with this reason. */
  readonly retired?: string
  /** The location that holds one rule at a time: another rule found there takes the place of the old one. */
  readonly slot?: string
}

/** What could not become knowledge, and why. */
export type Unplaced = Readonly<{ where: string; what: string; why: string }>

/** What a source says: items in the order in which they are to be written, any number of them. */
export interface Reading {
  readonly items: readonly Item[]
  readonly unplaced: readonly Unplaced[]
  /** What was read, by name, for the report: `{learnings: 54}`. */
  readonly counts: Readonly<{ [what: string]: number }>
  /** Secrets that were replaced while reading. */
  readonly redacted?: readonly { where: string; category: string }[]
  /** What the source calls itself, where that says more than its path: a project's id. */
  readonly from?: string
  /** Kinds that the source keeps as its own: what is no longer there is retired. */
  readonly owns?: readonly string[]
  /** The files it came from, as `locations` name them. */
  readonly files?: readonly string[]
  /** Lines of the log of the project `from`: a replica of it takes them in as they are. */
  readonly log?: readonly string[]
  /** Part of the source could not be read: nothing is concluded from what is missing. */
  readonly partial?: boolean
}

/** One format that knowledge comes in. Reads, and knows nothing of any store. */
export interface Importer {
  readonly name: string
  /** Its texts name what is known: they are linked to it once they are written. */
  readonly linksNames?: boolean
  /** One clause for help and docs. */
  readonly about: string
  /**
   * @param root the project's root: paths are named from there, and nothing outside it is followed.
   * @param others what is read by itself, and not counted again where the path imports it.
   * @throws UserError when there is nothing to read at the path.
   */
  read(path: string, root: string, others?: readonly string[]): Reading
}
