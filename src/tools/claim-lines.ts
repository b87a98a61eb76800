import type { Result } from '../write/plan-types.ts'

interface Lease {
  readonly n: number
  readonly on: string
  readonly what: string
  readonly until: string
}

const leases = (said: unknown): readonly Lease[] => (Array.isArray(said) ? (said as Lease[]) : [])

/** What a claim took, a line each; `nameOf` tells what a task is called. */
export const claimedLines = (r: Result, nameOf: (task: string) => string | undefined = () => undefined): string[] =>
  leases(r.claims).map(({ n, on, what, until }) => {
    const name = what === 'task' ? `task "${nameOf(on) ?? on}"` : on
    return `claimed ${name} until ${until.slice(11, 16)} UTC (fence ${n})`
  })

/** What was given up, or to whom it went. */
export const releasedLines = (r: Result, to?: string): string[] =>
  leases(r.released ?? r.claims).map(({ n, on }) =>
    to === undefined ? `released ${on}` : `${on} is ${to}'s now (fence ${n})`,
  )
