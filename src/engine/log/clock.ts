/** A remote or stored stamp never drags the local clock further than this beyond the wall clock (K13). */
export const MAX_LEAD_MS = 5 * 60_000

export interface Clock {
  /** Greatest `ms` seen in any stamp, own or remote. */
  readonly ms: number
  /** The replica's event counter: never reset, so that (replica, counter) names one write for ever. */
  readonly ctr: number
}

/** The reading for one batch: later than everything seen, unless that lies beyond the allowed lead. */
export const tick = (clock: Clock, now: number): number => Math.max(now, Math.min(clock.ms + 1, now + MAX_LEAD_MS))

/** When a write counts as having happened: when it was stamped, or when it came, if its clock was ahead. */
export const momentOf = (stamp: number, received: number): number => (stamp > received + MAX_LEAD_MS ? received : stamp)
