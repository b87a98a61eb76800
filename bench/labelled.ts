import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Labelled {
  readonly language: string
  readonly prompt: string
  readonly rules: readonly { readonly category: string; readonly text: string }[]
}

/** The prompts of a file in bench/capture/: a line each, `prompt => category: rule => category: rule`, `⏎` for a line's end. */
export function labelled(file: string): Labelled[] {
  let language = ''
  return readFileSync(join(import.meta.dirname, 'capture', `${file}.txt`), 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('%%')) language = line.slice(3).split(':')[0]!.trim()
      if (line.trim() === '' || line.startsWith('%%')) return []
      const [prompt, ...rules] = line.replaceAll('⏎', '\n').split(' => ')
      return [
        {
          language,
          prompt: prompt!,
          rules: rules.map((rule) => {
            const at = rule.indexOf(': ')
            return { category: rule.slice(0, at), text: rule.slice(at + 2) }
          }),
        },
      ]
    })
}

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}_]+/gu))
const shared = (a: ReadonlySet<string>, b: ReadonlySet<string>) => [...a].filter((word) => b.has(word)).length

/** How much of two texts' words are the same, 0 to 1 (Jaccard). */
export function likeness(a: string, b: string): number {
  const [x, y] = [wordsOf(a), wordsOf(b)]
  const both = shared(x, y)
  return both / Math.max(1, x.size + y.size - both)
}

/** How much of a rule's words a text holds, 0 to 1. */
export function covers(text: string, rule: string): number {
  const words = wordsOf(rule)
  return shared(words, wordsOf(text)) / Math.max(1, words.size)
}
