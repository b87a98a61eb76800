export interface Help {
  readonly name: string
  /** `(name a [b] c …)`: brackets are optional, `…` is any number of the one before. */
  readonly signature: string
  readonly about: string
  readonly example: string
}

export type Definition<Body> = Help & { readonly body: Body }

/** Declarations by name. Each is written `'(name a b) | What it does. | (example)': body`. */
export function declare<Body>(entries: Readonly<Record<string, Body>>): Map<string, Definition<Body>> {
  const definitions = new Map<string, Definition<Body>>()
  for (const [help, body] of Object.entries(entries)) {
    const [signature = '', about = '', example = ''] = help.split(' | ')
    const name = signature.slice(1).split(/[ )]/)[0]!
    definitions.set(name, { name, signature, about, example, body })
  }
  return definitions
}

export function arityOf(signature: string): { min: number; max: number } {
  const words = signature.slice(1, -1).split(' ').slice(1)
  const many = words.includes('…')
  const optional = words.filter((word) => word.startsWith('[')).length
  // the word before `…` may be left out
  return { min: words.length - optional - (many ? 2 : 0), max: many ? Number.POSITIVE_INFINITY : words.length }
}
