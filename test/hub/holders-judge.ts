import { meets } from '../coordination/torture-universe.ts'

/** What a session said it asked, and what it was answered, in its order. `at`: monotonic time in ms, one for the machine. */
export type Line =
  | { t: 'ready' | 'released'; at: number }
  | { t: 'claim'; at: number; on: string[]; ttl?: number }
  /** `isPending`: the hub has not decided yet, so nothing is promised on another machine. */
  | { t: 'claimed'; at: number; on: string[]; fences: number[]; isPending: boolean; text?: string }
  | { t: 'release'; at: number; on?: string[] }
  | { t: 'refused'; at: number; owner?: string; isByHub: boolean; text: string }

/** One process that was a session. */
export interface Life {
  id: string
  member: string
  root: string
  isJoined: boolean
  lines: Line[]
  /** Just before it was killed, and when it was gone. */
  dying: number
  dead: number
}

/** From when to when a session was sure to hold something: answered, and neither run out nor given up nor killed. */
interface Hold {
  life: Life
  on: string
  from: number
  to: number
  asked: number
  fence?: number
}

const nameOf = ({ member, id }: Life) => `${member}/${id}`
const about = ({ life, on, from, to, fence }: Hold) =>
  `${nameOf(life)} in ${life.root} holds ${on} from ${from.toFixed(1)} to ${to.toFixed(1)}, number ${fence}`

/** What a session was sure to hold. What it asks in between may end a hold before the answer comes. */
function holdsOf(life: Life): Hold[] {
  const open = new Map<string, Hold>()
  const all: Hold[] = []
  const end = (places: readonly string[], at: number) => {
    for (const on of places) {
      const hold = open.get(on)
      if (hold) hold.to = Math.min(hold.to, at)
      open.delete(on)
    }
  }
  let asked: Extract<Line, { t: 'claim' }> | undefined
  for (const line of life.lines) {
    if (line.t === 'claim') end((asked = line).on, line.at)
    else if (line.t === 'release') end(line.on ?? [...open.keys()], line.at)
    else if (line.t === 'claimed' && !line.isPending) {
      const to = Math.min(life.dying, asked?.ttl === undefined ? Number.POSITIVE_INFINITY : asked.at + asked.ttl * 1000)
      for (const [i, on] of line.on.entries()) {
        const hold = { life, on, from: line.at, to, asked: asked!.at, ...(life.isJoined && { fence: line.fences[i]! }) }
        open.set(on, hold)
        all.push(hold)
      }
    }
  }
  return all
}

/** Says what is wrong with what all sessions of one run were told. */
export function judge(lives: readonly Life[]) {
  const wrong: string[] = []
  const holds = lives.flatMap(holdsOf)
  const counts = { granted: holds.length, refused: 0, byHub: 0, trees: 0, stale: 0 }
  for (const [i, a] of holds.entries())
    for (const b of holds.slice(i + 1)) {
      const isSame = nameOf(a.life) === nameOf(b.life)
      if (isSame || a.life.isJoined !== b.life.isJoined || !meets(a.on, b.on)) continue
      // without a hub a claim in another work tree is a warning
      if (!a.life.isJoined && (a.life.member !== b.life.member || a.life.root !== b.life.root)) continue
      if (Math.max(a.from, b.from) < Math.min(a.to, b.to)) wrong.push(`two holders: ${about(a)}; ${about(b)}`)
    }

  // numbers of the hub, in the order of time: a later grant has a greater one, unless it is the same grant again
  const granted = holds.filter((h) => h.fence !== undefined)
  for (const b of granted) {
    const isAgain = (a: Hold) => nameOf(a.life) === nameOf(b.life) && a.on === b.on
    for (const a of granted) {
      if (a.fence === b.fence && a !== b && !isAgain(a)) wrong.push(`one number, two grants: ${about(a)}; ${about(b)}`)
      if (a.from >= b.asked || a.fence! <= b.fence!) continue
      // what it asked for before, without hearing the answer, may have been granted then
      const isOlder = lives.some(
        (l) =>
          nameOf(l) === nameOf(b.life) && l.lines.some((x) => x.t === 'claim' && x.at < a.from && x.on.includes(b.on)),
      )
      if (!isOlder) wrong.push(`a later grant has a smaller number: ${about(a)}; ${about(b)}`)
    }
  }

  // who is refused is told who is in the way: that one has asked for it, and lived when the call began
  for (const life of lives) {
    let asked: Extract<Line, { t: 'claim' }> | undefined
    for (const line of life.lines) {
      if (line.t === 'claim') asked = line
      if (line.t === 'release') asked = undefined
      if (line.t === 'claimed')
        for (const h of holds) {
          const isElsewhere = !life.isJoined && h.life.member === life.member && h.life.root !== life.root
          if (!isElsewhere || !(h.from < asked!.at && line.at < h.to)) continue
          if (!line.on.some((on) => meets(on, h.on))) continue
          counts.trees++
          if (line.text !== undefined && !line.text.includes(h.life.id)) wrong.push(`not warned of ${about(h)}: ${JSON.stringify(line)}`) // biome-ignore format: one row
        }
      if (line.t !== 'refused' || line.owner === undefined || !asked) continue
      counts.refused++
      if (line.isByHub) counts.byHub++
      const owners = lives.filter((l) => [l.id, nameOf(l)].includes(line.owner!))
      const wanted = asked.on
      const hasAsked = owners.some((l) =>
        l.lines.some((x) => x.t === 'claim' && x.at < line.at && x.on.some((on) => wanted.some((w) => meets(w, on)))),
      )
      const told = `${nameOf(life)} was told at ${line.at.toFixed(1)}: ${line.text}`
      if (!hasAsked) wrong.push(`never asked for: ${told}`)
      if (owners.some((l) => l.member !== life.member || l.dead >= asked!.at)) continue
      if (line.isByHub) counts.stale++
      wrong.push(`dead on this machine: ${told}`)
    }
  }
  return { wrong, counts }
}
