import { openAt } from '../src/project/open.ts'

export interface Talker {
  writes: number
  /** Milliseconds between two writes, from half of it to one and a half. */
  pause: number
  listens: boolean
  /** So many batches there will have been. */
  expected: number
}

/** What a talker that writes has written before it begins: a session is not born when all the others are. */
export const WARM_UP = 20
/** When nothing was heard for so long, nothing comes any more. */
const SILENCE_MS = 10_000

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
/** One clock for all processes of a machine. */
const now = () => Number(process.hrtime.bigint()) / 1e6

/** Writes now and then, or listens, or both, until it has heard everybody; says what it wrote and heard, and when. */
export async function runTalker(root: string, name: string, talker: Talker, begin: () => Promise<void>) {
  const { writes, pause, listens, expected } = talker
  const { memory } = openAt({ projectPath: root })
  const heard: [batch: string, at: number][] = []
  const written: [batch: string, at: number][] = []
  const write = (what: string) =>
    memory.act([['record-decision', { name: `${name}-${what}`, rationale: 'told to the others' }]]).batch!
  if (writes > 0) for (let i = 0; i < WARM_UP; i++) write(`before-${i}`)
  if (listens) memory.subscribe((news) => heard.push([news.batch, now()]), { since: 0 })
  await begin()
  for (let i = 0; i < writes; i++) {
    await rest(pause * (0.5 + Math.random()))
    written.push([write(String(i)), now()])
  }
  let silent = 0
  for (let before = -1; listens && heard.length < expected && silent < SILENCE_MS; silent += 100) {
    if (heard.length > before) silent = 0
    before = heard.length
    await rest(100)
  }
  return { written, heard }
}
