import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stalenessOf } from '../../src/find/recall/told.ts'
import { explain } from '../../src/surfaces/tools/explain.ts'
import { list } from '../../src/surfaces/tools/list.ts'
import { review } from '../../src/surfaces/tools/review.ts'
import { show } from '../../src/surfaces/tools/show.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { openTestCode } from './code.ts'

const AUTH = `import { read } from './read.ts'

export function verify(token: string): boolean {
  return token.length > 10 && read(token)
}

export class Session {
  open(id: string): void {
    this.verify(id)
  }
  close(): void {
    read('closed')
  }
}
`
const decision = (name: string, ...locations: string[]) => [
  'record-decision',
  { name, rationale: 'because', locations },
]

test('[F1] exactly the entities whose anchored text changed are stale, with why', async () => {
  const c = openTestCode({ 'src/auth.ts': AUTH, 'notes.md': 'one\n\ntwo\n\nthree\n\nfour\n' })
  await c.record(
    decision('by-line', 'src/auth.ts:4'),
    decision('by-symbol', 'src/auth.ts#Session.open'),
    decision('by-both', 'src/auth.ts:3#Session.close', 'src/auth.ts:8#verify'),
    decision('by-file', 'src/auth.ts'),
    decision('by-text', 'notes.md:5'),
    decision('elsewhere', 'src/none.ts:1', 'src/'),
  )
  await c.scan()
  c.write('src/auth.ts', AUTH.replace('> 10', '> 12'))
  expect((await c.scan()).stale.length).toBe(3)
  for (const ref of ['by-line', 'by-both']) expect(c.why(ref)).toBe('verify in src/auth.ts changed')
  expect(c.why('by-file')).toBe('src/auth.ts changed')
  for (const ref of ['by-symbol', 'by-text', 'elsewhere']) expect(c.why(ref)).toBeUndefined()
  c.write('notes.md', 'zero\none\n\ntwo\n\nthree\n\nfive\n')
  await c.scan()
  expect(c.why('by-text')).toBeUndefined()
  c.write('notes.md', 'one\n\ntwo\n\n3\n')
  await c.scan()
  expect(c.why('by-text')).toBe('line 6 is gone from notes.md')
})

test('[F1] of a list of rules only the one whose text is gone is stale', async () => {
  const c = openTestCode({ 'CLAUDE.md': '# Shop\n\n- Never round\n  twice\n- Keep money in cents\n- Ask first\n' })
  await c.record(decision('round', 'CLAUDE.md:3'), decision('cents', 'CLAUDE.md:5'), decision('ask', 'CLAUDE.md:6'))
  await c.scan()
  const why = () => ['round', 'cents', 'ask'].map((ref) => c.why(ref) !== undefined)
  c.write('CLAUDE.md', '# Shop\n\n- Never round\n  twice\n- Keep money in euros\n- Ask first\n')
  await c.scan()
  expect(why()).toEqual([false, true, false])
  c.write('CLAUDE.md', '# Shop\n\n- Ask first\n- Keep money in cents\n- Never round\n  at all\n')
  await c.scan()
  expect(why()).toEqual([true, false, false])
})

test('[F1] a line that is gone is told as gone, and not as its neighbour; one that stands in another file is not stale', async () => {
  const server = '- Do not run `rails server` in your responses\n'
  const rules = `# Rules\n\n- Never round money\n${server}- Do not run \`touch tmp/restart.txt\`\n`
  const c = openTestCode({ 'CLAUDE.md': rules, 'other.md': '- Never round money\n' })
  await c.record(
    ['record-fact', { fact: 'Never round money', category: 'constraint', locations: ['CLAUDE.md:3', 'other.md:1'] }],
    ['record-fact', { fact: 'Do not run rails server in your responses', locations: ['CLAUDE.md:4'] }],
  )
  await c.scan()
  const [money, run] = ['fact:never-round-money', 'fact:do-not-run-rails-server-in-your-responses']
  c.write('CLAUDE.md', rules.replace(server, ''))
  expect((await c.scan()).stale).toEqual([run])
  expect(c.why(run)).toBe('line 4 is gone from CLAUDE.md')
  c.write('CLAUDE.md', rules.replace('your responses', 'any answer'))
  await c.scan()
  expect(c.why(run)).toBe('CLAUDE.md changed around line 4 to `- Do not run `rails server` in any answer`')
  c.write('CLAUDE.md', rules.replace('- Never round money\n', ''))
  expect((await c.scan()).stale).toEqual([])
  expect(c.why(money)).toBeUndefined()
  c.write('other.md', '- Something else\n')
  await c.scan()
  expect(c.why(money)).toBe('line 3 is gone from CLAUDE.md; line 1 is gone from other.md')
})

test('[F1] two places that changed in the same way are one reason', async () => {
  const c = openTestCode({ 'src/auth.ts': AUTH })
  await c.record(decision('twice', 'src/auth.ts:3', 'src/auth.ts#verify'))
  await c.scan()
  c.write('src/auth.ts', AUTH.replace('> 10', '> 12'))
  await c.scan()
  expect(c.why('twice')).toBe('verify in src/auth.ts changed')
})

test('[F1] same content, a reformat, or the text as it was: nothing is stale', async () => {
  const c = openTestCode({ 'src/auth.ts': AUTH })
  await c.record(decision('d', 'src/auth.ts:4'), ['record-file-understanding', { path: 'src/auth.ts', summary: 's' }])
  await c.scan()
  c.write('src/auth.ts', AUTH)
  expect(await c.scan()).toMatchObject({ changed: 0, stale: [] })
  c.write('src/auth.ts', AUTH.replaceAll('  ', '\t').replace("'closed'", '"closed"'))
  expect(await c.scan()).toMatchObject({ changed: 1, stale: [] })
  c.write('src/auth.ts', AUTH.replace('> 10', '> 12'))
  expect((await c.scan()).stale.length).toBe(2)
  c.write('src/auth.ts', AUTH)
  await c.scan()
  expect([c.why('d'), c.why('src/auth.ts')]).toEqual([undefined, undefined])
})

test('[F1] a renamed file, a moved symbol and a renamed symbol are followed; one that is gone is stale', async () => {
  const c = openTestCode({ 'src/auth.ts': AUTH, 'src/read.ts': 'export const read = (x: string) => x !== ""\n' })
  await c.record(decision('d', 'src/auth.ts#verify'), decision('s', 'src/auth.ts#Session.open'))
  await c.scan()
  c.move('src/auth.ts', 'lib/auth.ts')
  expect((await c.scan()).stale).toEqual([])
  const verify = AUTH.slice(AUTH.indexOf('export function'), AUTH.indexOf('export class'))
  c.write('lib/auth.ts', AUTH.replace(verify, ''))
  c.write('src/read.ts', `export const read = (x: string) => x !== ""\n${verify}`)
  expect((await c.scan()).stale).toEqual([])
  c.write('src/read.ts', `export const read = (x: string) => x !== ""\n${verify.replace('verify', 'check')}`)
  expect((await c.scan()).stale).toEqual([])
  expect((await explain.run({ memory: c.memory, project: c.project }, { place: 'check' })).text).toMatch(
    /src\/read\.ts#check.*decision "d"/s,
  )
  c.write('src/read.ts', 'export const read = 1\n')
  await c.scan()
  expect(c.why('d')).toBe('check is gone from src/read.ts')
  expect(c.why('s')).toBeUndefined()
  c.remove('lib')
  await c.scan()
  expect(c.why('s')).toBe('lib/auth.ts is gone')
})

test('[F1] a symbol that was moved in two steps, first away and then back in elsewhere, is stale no longer', async () => {
  const c = openTestCode({ 'a.ts': AUTH, 'b.ts': 'export {}\n' })
  await c.record(decision('d', 'a.ts#verify'))
  await c.scan()
  const verify = AUTH.slice(AUTH.indexOf('export function'), AUTH.indexOf('export class'))
  c.write('a.ts', AUTH.replace(verify, ''))
  await c.scan()
  expect(c.why('d')).toBe('verify is gone from a.ts')
  c.write('b.ts', verify)
  await c.scan()
  expect(c.why('d')).toBeUndefined()
  // the other way round: there are two of it for a while
  c.write('c.ts', verify)
  await c.scan()
  c.write('b.ts', 'export {}\n')
  await c.scan()
  expect(c.why('d')).toBeUndefined()
})

test('[F1] a like symbol that stood there already is not the one that went', async () => {
  const c = openTestCode({
    'a.ts': 'export const one = (x: number) => x + 1\nexport const two = (x: number) => x + 1\n',
  })
  await c.record(decision('d', 'a.ts#one'))
  await c.scan()
  c.write('a.ts', 'export const two = (x: number) => x + 1\n')
  await c.scan()
  expect(c.why('d')).toBe('one is gone from a.ts')
})

test('[F1] what cites or is based on a stale one rests on something stale, one hop', async () => {
  const c = openTestCode({ 'a.ts': AUTH })
  await c.record(
    decision('base', 'a.ts#verify'),
    ['record-decision', { name: 'cites-it', rationale: 'r' }],
    ['record-decision', { name: 'two-hops', rationale: 'r' }],
    ['link-entities', { from: 'cites-it', to: 'base', type: 'cites' }],
    ['link-entities', { from: 'two-hops', to: 'cites-it', type: 'based-on' }],
  )
  await c.scan()
  c.write('a.ts', AUTH.replace('> 10', '> 12'))
  await c.scan()
  expect(c.why('cites-it')).toBe('rests on decision:base, which is stale')
  expect(c.why('two-hops')).toBeUndefined()
})

test('[F1] re-anchor and a new reading say that it holds; both look at the code as it is then', async () => {
  const c = openTestCode({ 'a.ts': AUTH })
  await c.record(decision('d', 'a.ts#verify'), ['record-file-understanding', { path: 'a.ts', summary: 's', hash: 'x' }])
  c.write('a.ts', AUTH.replace('> 10', '> 12'))
  await c.scan()
  expect([c.why('d'), c.why('a.ts')]).toEqual(['verify in a.ts changed', 'a.ts changed'])
  await c.record(['re-anchor', { ref: 'd' }])
  await c.record(['record-file-understanding', { path: 'a.ts', summary: 's', hash: 'y' }])
  expect([c.why('d'), c.why('a.ts')]).toEqual([undefined, undefined])
  await c.scan()
  c.write('a.ts', AUTH)
  await c.scan()
  expect([c.why('d'), c.why('a.ts')]).toEqual(['verify in a.ts changed', 'a.ts changed'])
})

test('[F1] its own session does not outdate a decision, whoever looks at the code first; a session after it does', async () => {
  const t = openTestCode({ 'lock.rs': 'fn lock() -> u8 { 1 }\n' })
  t.act([['record-decision', { name: 'lock-file', rationale: 'one host', locations: ['lock.rs'] }]], { session: 's1' })
  t.act([['record-learning', { title: 'The lock is a byte', locations: ['lock.rs'] }]], { session: 's1' })
  await t.scan()
  const sessions = sessionsOf(t.memory)
  const change = (text: string) => {
    t.clock.now += 60_000
    t.write('lock.rs', text)
    utimesSync(join(t.root, 'lock.rs'), t.clock.now / 1000, t.clock.now / 1000)
  }
  change('fn lock() -> u8 { 22 }\n')
  await t.scan() // who watches the files is faster than the hook that tells of the edit
  sessions.edited('s1', 'lock.rs')
  expect(t.why('decision:lock-file')).toBeUndefined()
  expect(t.why('learning:the-lock-is-a-byte')).toBe('lock.rs changed')
  change('fn lock() -> u8 { 333 }\n')
  expect(t.why('decision:lock-file')).toMatch(/^lock.rs changed/)
  sessions.edited('s1', 'lock.rs')
  expect(t.why('decision:lock-file')).toBeUndefined() // also where nobody looked
  await t.scan()
  expect(t.why('decision:lock-file')).toBeUndefined()
  change('fn lock() -> u8 { 4444 }\n')
  sessions.edited('s2', 'lock.rs')
  await t.scan()
  expect(t.why('decision:lock-file')).toBe('lock.rs changed')
  t.remove('lock.rs')
  await t.scan()
  expect(t.why('decision:lock-file')).toBe('lock.rs is gone')
})

test('[F1] what hooks recorded, or sync brought, is anchored by the next scan', async () => {
  const c = openTestCode({ 'a.ts': AUTH })
  c.act([decision('d', 'a.ts#verify')])
  await c.scan()
  c.write('a.ts', AUTH.replace('> 10', '> 12'))
  await c.scan()
  expect(c.why('d')).toBe('verify in a.ts changed')
  c.act([['record-decision', { ref: 'd', locations: { remove: ['a.ts#verify'] } }]])
  await c.scan()
  expect(c.why('d')).toBeUndefined()
})

test('explain tells what names the file before what holds for many, and who has it in hand by name', async () => {
  const c = openTestCode({ 'src/cart.ts': 'export const total = 0\n' })
  const id = '89704a4f-53ab-4057-9a93-8a79efce438f'
  sessionsOf(c.memory).start({ id, client: 'claude-code' })
  sessionsOf(c.memory).patch(id, { title: 'add a discount' })
  await c.record(
    ['record-fact', { fact: 'Totals in cart.ts are in cents', category: 'convention' }],
    ['record-fact', { fact: 'Never round', category: 'constraint', paths: ['src/**'] }],
    ['record-fact', { fact: 'Keep functions short', category: 'convention', paths: ['**/*.ts'] }],
  )
  c.memory.act([['claim', { paths: ['src/cart.ts'] }]], { session: id })
  const { text } = await explain.run({ memory: c.memory, project: c.project }, { place: 'src/cart.ts' })
  expect(text).toMatch(/Known\n {2}fact "Totals in cart\.ts/)
  expect(text).toContain('src/cart.ts  Claude "add a discount"')
})

test('explain of a folder names its files, with what is known of them and who has them in hand', async () => {
  const c = openTestCode({
    'src/cart/total.ts': 'export const total = 0\n',
    'src/cart/tax.ts': 'export const tax = 0\n',
    'src/cartoon.ts': 'export const toon = 0\n',
  })
  await c.record(
    ['record-file-understanding', { path: 'src/cart/tax.ts', summary: 'Rates by country' }],
    ['record-decision', { name: 'integer-cents', locations: ['src/cart/total.ts'] }],
    ['record-decision', { name: 'drawn', locations: ['src/cartoon.ts'] }],
  )
  c.memory.act([['claim', { paths: ['src/cart/total.ts'] }]], { session: 's1' })
  const { text, json } = await explain.run({ memory: c.memory, project: c.project }, { place: 'src/cart/' })
  expect(text).toMatch(/^src\/cart: 2 files\n/)
  for (const said of ['integer-cents', 'Rates by country', '  src/cart/total.ts  ', '\n  src/cart/tax.ts'])
    expect(text).toContain(said)
  expect(text).not.toContain('toon')
  const many = Object.fromEntries(Array.from({ length: 45 }, (_, i) => [`lib/f${i}.ts`, 'export const x = 1\n']))
  const large = openTestCode(many)
  const told = (await explain.run({ memory: large.memory, project: large.project }, { place: 'lib' })).text
  expect(told).toMatch(/\n {2}and 5 more\n|\n {2}and 5 more$/)
  expect(json).toMatchObject([{ path: 'src/cart', files: ['src/cart/tax.ts', 'src/cart/total.ts'] }])
})

test('[F1] stale is seen in show, list, recall, review, explain and Scheme', async () => {
  const c = openTestCode({ 'a.ts': AUTH })
  await c.record(decision('short-tokens', 'a.ts#verify'), ['record-file-understanding', { path: 'a.ts', summary: 's' }])
  c.write('a.ts', AUTH.replace('> 10', '> 12'))
  await c.scan()
  const context = { memory: c.memory, project: c.project }
  const mark = /stale: verify in a\.ts changed since 20/
  expect((await show.run(context, { ref: 'short-tokens' })).text).toMatch(mark)
  expect((await show.run(context, { ref: 'a.ts' })).text).toMatch(/currentHash: [0-9a-f]{64}/)
  expect((await list.run(context, {})).text).toMatch(/short-tokens.*\[stale: /)
  expect((await review.run(context, {})).text).toMatch(mark)
  expect((await explain.run(context, { place: 'a.ts#verify' })).text).toMatch(mark)
  const { discover } = await import('../../src/surfaces/tools/discover.ts')
  const { text } = await discover.run(context, {
    expr: '(stale? "short-tokens") (map :ref (stale)) (map :path (explain "verify"))',
  })
  expect(text).toBe('#t\n("short-tokens" "a.ts")\n("a.ts")')
  const { recall } = await import('../../src/surfaces/tools/recall.ts')
  expect((await recall.run(context, { text: 'short tokens' })).text).toMatch(mark)
})

test('what calls a symbol, from other files and its own', async () => {
  const c = openTestCode({
    'a.ts': AUTH,
    'b.ts': "import { verify } from './a.ts'\nexport const login = (t: string) => verify(t)\n",
  })
  const { text } = await explain.run({ memory: c.memory, project: c.project }, { place: 'a.ts#verify' })
  expect(text).toContain('Called by\n  a.ts#Session.open\n  b.ts#login')
})

test('[F2] the cache is keyed by content, the same from whoever makes it, and not trusted for another content', async () => {
  const cacheOf = (root: string) => {
    const dir = join(root, '.tidemark/cache')
    return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]))
  }
  const [a, b] = [openTestCode({ 'a.ts': AUTH }), openTestCode({ 'a.ts': AUTH })]
  await Promise.all([a.scan(), b.scan()])
  expect(cacheOf(a.root)).toEqual(cacheOf(b.root))
  const other = AUTH.replace('verify(token', 'checked(token')
  const name = Object.keys(cacheOf(a.root)).find((n) => n !== 'manifest.sexpr')!
  b.write('a.ts', other)
  await b.scan()
  const foreign = Object.keys(cacheOf(b.root)).find((n) => n !== 'manifest.sexpr' && n !== name)!
  // a file that holds what another content says, and one that is cut short
  a.write('a.ts', other)
  writeFileSync(join(a.root, '.tidemark/cache', foreign), cacheOf(a.root)[name]!)
  await a.scan()
  const symbols = async () =>
    JSON.stringify((await explain.run({ memory: a.memory, project: a.project }, { place: 'a.ts' })).json)
  expect(await symbols()).toContain('"checked"')
  expect(cacheOf(a.root)[foreign]).toBe(cacheOf(b.root)[foreign])
  expect(cacheOf(a.root)['manifest.sexpr']).toContain(`"a.ts"`)
})

test('[F1] ignored files are neither scanned nor anchored, and an erased entity leaves no anchor', async () => {
  const c = openTestCode({ '.gitignore': 'out/\n', 'out/a.ts': AUTH, 'b.ts': AUTH })
  await c.record(decision('d', 'out/a.ts#verify'), decision('secret-name', 'b.ts#verify'))
  await c.scan()
  c.write('out/a.ts', '')
  expect(await c.scan()).toMatchObject({ changed: 0 })
  expect(c.why('d')).toBeUndefined()
  c.act([['purge', { ref: 'secret-name', reason: 'r' }]], { by: 'person' })
  expect(c.rows()).not.toContain('secret-name')
})

test('[W1] what names only files that have moved says so, until one of them is there', async () => {
  const c = openTestCode({ 'src/auth.ts': AUTH, 'src/engine/old/auth.ts': AUTH })
  await c.record(decision('moved', 'src/old/auth.ts'), decision('half', 'src/old/auth.ts', 'src/auth.ts'))
  await c.record(
    decision('planned', 'src/cart.ts'),
    decision('place', `staging cluster, ${'behind the wall '.repeat(30)}`),
  )
  await c.record(decision('all', 'src/**'))
  await c.scan()
  expect(c.why('moved')).toBe('src/old/auth.ts is not in this work tree; src/engine/old/auth.ts may be it')
  for (const ref of ['half', 'all', 'planned', 'place']) expect(c.why(ref)).toBeUndefined()
  c.write('src/old/auth.ts', AUTH)
  await c.scan()
  expect(c.why('moved')).toBeUndefined()
})

test('[F1] what was superseded or retired is asked by no review, though its code changed', async () => {
  const c = openTestCode({ 'src/auth.ts': AUTH })
  await c.record(decision('at-most-10', 'src/auth.ts#verify'), decision('at-most-12'))
  await c.scan()
  c.write('src/auth.ts', AUTH.replace('> 10', '> 12'))
  await c.scan()
  const stale = () => stalenessOf(c.memory, c.dir, c.memory.reader).all().map((s) => s.id) // biome-ignore format: a row
  expect(stale()).toEqual(['decision:at-most-10'])
  await c.record(['supersede', { old: 'at-most-10', new: 'at-most-12' }])
  expect(stale()).toEqual([])
})
