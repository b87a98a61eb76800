/** What can be done to knowledge, and to what coordinates work. */
export const CHANGES = ['add', 'change', 'retire', 'supersede', 'retype', 'delete', 'purge', 'purge-text', 'undo', 'restore', 'release', 'define'] as const // biome-ignore format: a list
export type Change = (typeof CHANGES)[number]

/** Who wants it: a person or agent here, another replica, or one with an accepted reviewer's key. The signing key decides. */
export const ACTORS = ['person', 'agent', 'writer', 'reviewer'] as const
export type ActorRole = (typeof ACTORS)[number]

/** Whose it is: the actor's own, somebody else's at this store (`here`), or of a replica that nobody here stands by. */
export const OWNERS = ['own', 'here', 'elsewhere'] as const
export type Owner = (typeof OWNERS)[number]

/** How it stands here: `binding` = a rule for sessions, `confirmed` = by a person here or a reviewer, `plain` = anything else. */
export const STANDINGS = ['binding', 'confirmed', 'plain'] as const
export type AuthorityStanding = (typeof STANDINGS)[number]

/** `done`: counts at once. `proposed`: waits for a yes. `refused`: has no effect. */
export type Outcome = 'done' | 'proposed' | 'refused'

interface Rule {
  readonly change?: readonly Change[]
  readonly who?: readonly ActorRole[]
  readonly whose?: readonly Owner[]
  readonly standing?: readonly AuthorityStanding[]
  readonly outcome: Outcome
  readonly why: string
}

const ERASE = ['purge', 'purge-text'] as const

/** The first rule that fits decides. */
export const AUTHORITY: readonly Rule[] = [
  { change: ['release'], whose: ['own'], outcome: 'done', why: 'a lease ends by its holder' },
  { change: ['release'], outcome: 'refused', why: 'a lease is released by its holder alone' },
  { who: ['person', 'reviewer'], outcome: 'done', why: 'a person decides, and the reviewers whom a person accepted' },
  { standing: ['binding'], outcome: 'proposed', why: 'only a yes makes a rule bind, changes one, or takes one away' },
  { change: ['add'], outcome: 'done', why: 'knowledge that binds nobody is recorded by anybody' },
  { standing: ['confirmed'], outcome: 'proposed', why: 'the words of a person stand until a person says otherwise' },
  { change: ERASE, whose: ['here', 'elsewhere'], outcome: 'proposed', why: 'an erasure is final: its author agrees' },
  { who: ['agent'], change: ['undo'], whose: ['here'], outcome: 'proposed', why: 'an agent takes back its own work' },
  { who: ['writer'], whose: ['here'], outcome: 'proposed', why: 'no line of another replica changes what we wrote' },
  { outcome: 'done', why: 'agents and replicas work on what nobody stands by' },
]

/** What comes of a change: the one place that decides it, for local batches and for lines of other replicas. */
export function outcomeOf(change: Change, who: ActorRole, whose: Owner, standing: AuthorityStanding): Outcome {
  const fits = <T>(values: readonly T[] | undefined, value: T) => values === undefined || values.includes(value)
  return AUTHORITY.find(
    (r) => fits(r.change, change) && fits(r.who, who) && fits(r.whose, whose) && fits(r.standing, standing),
  )!.outcome
}

/** Kinds of the work itself and of what coordinates it: there all work on one thing by design, so nobody's words are guarded. */
const SHARED_WORK: ReadonlySet<string> = new Set([
  'goal', 'activity', 'task', 'action-note', 'result', 'context', 'handoff', 'observation', 'event-note', 'mutation',
  'mark', 'measurement', 'question', 'retro-score', 'chunk', 'turn', 'proposal',
]) // biome-ignore format: a list to read at a glance

/** Whether entities of a kind are knowledge, of which the table speaks. */
export const isGuarded = (kind: string): boolean => !SHARED_WORK.has(kind)
