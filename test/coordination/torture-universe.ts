/** What the torture of claims is about: a small tree of files, and claims that meet in many ways. */
export const TARGETS = [
  'src',
  'src/auth',
  'src/auth/token.ts',
  'src/auth/token.ts#Token',
  'src/auth/token.ts#Token.read',
  'src/auth/token.ts#parse',
  'src/auth/deep/key.ts',
  'src/db',
  'src/db/open.ts',
  'src/*/open.ts',
  'src/**/*.ts',
  'src/{auth,web}/token.ts',
  'docs',
  'docs/*.md',
  'docs/guide.md',
  '**/*.md',
  'web/?.css',
  'web/a.css',
  'web/b.css',
] as const

/** The names of tasks that are there from the beginning. */
export const TASKS = ['one', 'two', 'three'] as const

/** Files that may come to be: two claims meet if both cover one of these. */
const FILES = ['src', 'docs', 'web', 'src/auth', 'src/db', 'src/web', 'src/auth/deep', 'docs/more']
  .flatMap((d) =>
    ['token.ts', 'open.ts', 'key.ts', 'guide.md', 'x.md', 'a.css', 'b.css', 'x'].map((name) => `${d}/${name}`),
  )
  .concat('x.md', 'x.ts', 'src', 'docs', 'web')
  .concat(['Token', 'Token.read', 'parse'].map((name) => `src/auth/token.ts#${name}`))

/** A glob, read in a way of our own. */
function pattern(on: string): RegExp {
  const signs: Record<string, string> = {
    '**/': '(?:.*/)?',
    '**': '.*',
    '*': '[^/]*',
    '?': '[^/]',
    '{': '(?:',
    '}': ')',
    ',': '|',
    '.': '\\.',
  }
  return new RegExp(`^${on.replace(/\*\*\/|\*\*|[*?{},.]/g, (sign) => signs[sign]!)}$`)
}

/** The files that a claim covers: what it names, and all that lies below. */
export function covered(on: string): Set<string> {
  const [path = '', part] = on.split('#')
  const is = pattern(path)
  return new Set(
    FILES.filter((file) => {
      const [whole = '', symbol] = file.split('#')
      const names = whole.split('/')
      if (part !== undefined) return whole === path && (symbol === part || symbol?.startsWith(`${part}.`))
      return names.some((_, i) => is.test(names.slice(0, i + 1).join('/')))
    }),
  )
}

const meeting = new Map<string, boolean>()

/** Whether there is a file that both claims cover. */
export function meets(a: string, b: string): boolean {
  const key = `${a} ${b}`
  let known = meeting.get(key)
  if (known === undefined) {
    const other = covered(b)
    meeting.set(key, (known = [...covered(a)].some((f) => other.has(f))))
  }
  return known
}
