// Made-up knowledge of any size, always the same for the same number: words as often as people use them (Zipf), taken
// from this repository's own prose, and a long tail of identifiers made of them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { redact } from '../src/base/secrets/find.ts'
import { ROOT } from './project.ts'

/** The same numbers for the same seed (mulberry32), from 0 to 1. */
export function seeded(seed: number): () => number {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Beside an identifier such a word makes a credential of it, which is refused. */
const NAMES_SECRETS = /key|pass|auth|token|secret|credential|sign|cookie|bearer|salt|^pin$/

/** Words of the documentation and of comments, the most frequent first. */
function proseWords(): string[] {
  const counts = new Map<string, number>()
  for (const folder of ['docs', 'src'])
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      if (!/\.(?:md|ts)$/.test(name)) continue
      const whole = readFileSync(join(ROOT, folder, name), 'utf8')
      const prose = name.endsWith('.md') ? whole : (whole.match(/\/\*\*[\s\S]*?\*\/|\/\/ .*/g) ?? []).join('\n')
      for (const [word] of prose.matchAll(/\b[a-z]{2,14}\b/g))
        if (!NAMES_SECRETS.test(word)) counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([word]) => word)
}

const words = proseWords()
const TAIL = 12_000
const title = (word: string) => word[0]!.toUpperCase() + word.slice(1)

/** The word of a rank; behind the prose come identifiers. */
function wordAt(rank: number): string {
  if (rank < words.length) return words[rank]!
  const n = rank - words.length
  const [one, two] = [
    words[60 + ((n * 7919) % (words.length - 60))]!,
    words[60 + ((n * 104_729) % (words.length - 60))]!,
  ]
  return n % 3 === 0 ? `${one}${title(two)}${n}` : n % 3 === 1 ? `${one}_${two}_${n}` : `src/${one}/${two}-${n}.ts`
}

const most = Math.log(words.length + TAIL)

/** A rank by Zipf's law: the logarithm of ranks is even. */
export const someWord = (chance: () => number): string => wordAt(Math.floor(Math.exp(chance() * most)) - 1)

const text = (chance: () => number, n: number, end = ''): string => {
  const out = Array.from({ length: n }, () => someWord(chance))
  for (let i = 9; i < n; i += 10 + Math.floor(chance() * 8)) out[i] += '.'
  return redact(title(`${out.join(' ')}.${end}`)) // chance makes what looks like one, and a store refuses that
}

type Made = [verb: string, args: Record<string, unknown>]

const SPEAKERS = ['Ana', 'Ben', 'user', 'assistant']
/** Turns of a conversation in a row. */
const SESSION = 20

/** The entity of a number: four of ten are turns of conversations, the others what agents record. */
export function entity(i: number): Made {
  const chance = seeded(i * 2 + 1)
  const length = (least: number, spread: number) => least + Math.floor(chance() * chance() * spread)
  const tags = [someWord(chance), `team-${i % 40}`]
  const day = new Date(Date.UTC(2025, 0, 1) + Math.floor(i / 40) * 3_600_000).toISOString()
  switch (i % 10) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const turn = Math.floor(i / 10) * 4 + (i % 10)
      const place = { sourceFile: 'chats', section: `session ${Math.floor(turn / SESSION)}`, position: turn }
      return [
        'record-chunk',
        { content: text(chance, length(6, 90)), ...place, speaker: SPEAKERS[turn % 4], date: day },
      ]
    }
    case 4:
    case 5:
      return [
        'record-decision',
        {
          name: `${someWord(chance)}-${i}`,
          description: text(chance, length(8, 24)),
          rationale: text(chance, length(10, 60)),
          tags,
        },
      ]
    case 6:
    case 7:
      return ['record-learning', { title: text(chance, 7, ` ${i}`), body: text(chance, length(15, 80)), tags }]
    case 8:
      return ['record-fact', { fact: text(chance, length(6, 20), ` ${i}`) }]
    default:
      return [
        'record-file',
        {
          path: `src/${someWord(chance).replaceAll('/', '-')}/part-${i}.ts`,
          summary: text(chance, length(5, 20)),
          tags,
        },
      ]
  }
}

/** The question of a number: a few words of one entity, common words alone, or a sentence around a rare word. */
export function question(i: number, entities: number): string {
  const chance = seeded(i * 2 + 1_000_000)
  const some = (n: number) => Array.from({ length: n }, () => someWord(chance)).join(' ')
  const args = entity(Math.floor(chance() * entities))[1]
  const said = Object.values(args)
    .filter((v) => typeof v === 'string')
    .join(' ')
    .split(/\s+/)
  const of = (n: number) => Array.from({ length: n }, () => said[Math.floor(chance() * said.length)]).join(' ')
  switch (i % 4) {
    case 0:
      return of(4)
    case 1:
      return `what do we know of ${of(2)} and ${some(2)}?`
    case 2:
      return some(3)
    default:
      return `Why did we decide that ${of(5)} ${some(3)} last month?`
  }
}
