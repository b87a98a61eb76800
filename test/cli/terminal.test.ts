import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { render, widthOf } from '../../src/surfaces/cli/terminal.ts'
import { describeUnless, NO_TERMINAL } from '../needs.ts'
import { BIN, onTerminal, project, tidemark } from './run.ts'

/** What a command shows on a terminal of that size, with what steers it. */
function screen(at: { dir: string; env: NodeJS.ProcessEnv }, args: readonly string[], columns = 80, rows = 40) {
  const quoted = [process.execPath, BIN, ...args].map((a) => `'${a.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn('script', ['-qfec', `stty cols ${columns} rows ${rows}; exec ${quoted}`, '/dev/null'], {
    cwd: at.dir,
    env: { TERM: 'xterm-256color', ...at.env, SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text.replaceAll('\r', '')))
  return new Promise<string>((resolve) => child.on('close', () => resolve(out)))
}

const withEnv = <T extends { env: NodeJS.ProcessEnv }>(at: T, env: NodeJS.ProcessEnv): T => ({
  ...at,
  env: { ...at.env, ...env },
})

async function known() {
  const { at, run } = await project()
  const steering =
    'Two windows \u001b]0;owned\u0007 of one terminal share a store, and neither of them is told so today'
  const batch = [
    ['record-decision', { name: 'use-sqlite', description: 'SQLite for storage', rationale: 'One file, many readers' }],
    ['record-question', { question: 'Which port does the worker use?', topics: ['worker'] }],
    ['record-principle', { name: '\u6f22\u5b57', description: steering }],
  ]
  await run('act', JSON.stringify(batch))
  return { at, run }
}

test('[S2] a table fits the width it is given, whatever letters stand in it; a paragraph breaks between words', () => {
  const row = (name: string) => [[['ref', '#a3f'] as const], [name, ' and more that does not fit'], ['now']]
  const page = [
    { head: ['REF', 'NAME', 'WHEN'], rows: [row('plain'), row('\u6f22\u5b57\u6f22\u5b57'), row('e\u0301a')], cuts: 1 },
    { line: ['\u001b[31mA rule that is longer than', ['aside', ' a line of so few columns'] as const], indent: 2 },
  ]
  const lines = render(page, { columns: 32, rows: 24, colours: false }).split('\n')
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(32)
  const ends = lines.slice(0, 4).map((line) => widthOf(line.replace(/(WHEN|now)$/, '')))
  expect(new Set(ends).size).toBe(1)
  expect(lines.slice(4)).toEqual(['  A rule that is longer than a', '  line of so few columns'])
  expect(render(page, { columns: 32, rows: 24, colours: true })).toContain('\x1b[33m#a3f\x1b[0m')
})

test('[S2] a cell that is broken between words loses none of them', () => {
  const words = 'recorded fact "Always run the tests before committing"'
  for (let columns = 24; columns < 70; columns++) {
    const table = { head: ['WHEN', 'WHAT'], rows: [[['now'], [words]]], cuts: 1, wraps: true }
    const [, ...lines] = render([table], { columns, rows: 24, colours: false }).split('\n')
    expect(lines.map((line) => line.slice(4).trim()).join(' ')).toBe(words)
  }
})

describeUnless(NO_TERMINAL)('a person on a terminal', () => {
  test('[X7] needs no --session: claims and the current task are held by a session that bears their name', async () => {
    const { at } = await project()
    const person = async (line: string) => {
      const ran = await onTerminal(at, line.split(' '))
      expect([line, ran.code]).toEqual([line, 0])
      return ran.out
    }
    expect(await person('claims --mine')).toContain('nothing is claimed')
    expect(await person('session list')).toContain('no session is live')
    expect(await person('claim src')).toContain('claimed src')
    expect(await person('claims --mine')).toContain('src tester (cli), for 30 min more')
    expect(await person('task start Write-docs')).not.toContain('note:')
    expect(await person('tree')).toContain('Write-docs ← current')
    expect(await person('task complete')).toContain('completed task Write-docs')
    expect(await person('release')).toContain('released src')
    expect(await person('session end')).toContain('session tester ended')
    expect(await person('session list')).toContain('no session is live')
  })

  test('[X7] where no person types, nobody holds what no session is named for', async () => {
    const { at } = await project()
    for (const ran of [
      await tidemark(at, ['claim', 'src']),
      await onTerminal({ ...at, env: { ...at.env, CLAUDECODE: '1' } }, ['claim', 'src']),
    ]) {
      expect(ran.code).toBe(1)
      expect(ran.err + ran.out).toContain('no session is named')
    }
  })

  test('[S2] reads `list` as a table with short references that other commands take; a pipe has what it had', async () => {
    const { at, run } = await known()
    const shown = await screen(at, ['list'], 70)
    expect(shown).toContain('\x1b[')
    expect(shown).not.toContain(']0;')
    const lines = stripVTControlCharacters(shown).trimEnd().split('\n')
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(70)
    expect(lines[0]).toMatch(/^REF +KIND +NAME +RECORDED$/)
    const row = lines.find((l) => l.includes('use-sqlite'))!
    const [ref] = /^#[a-f][0-9a-f]{2,}/.exec(row)!
    expect(row).toMatch(/decision +use-sqlite \u2014 SQLite for storage +just now$/)
    expect(await run('show', ref)).toContain('decision use-sqlite')
    expect(stripVTControlCharacters(await screen(at, ['show', ref]))).toContain(`use-sqlite  decision ${ref}\n`)
    expect(stripVTControlCharacters(await screen(at, ['questions']))).toMatch(/^REF +QUESTION +TOPICS +ASKED\n#/)
    const [asked] = /#[a-f][0-9a-f]{2,}/.exec(stripVTControlCharacters(await screen(at, ['list', 'question'])))!
    expect(await run('answer', asked, '4747')).toContain('answered')
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }, { FORCE_COLOR: '0' }]) {
      const plain = await screen(withEnv(at, env), ['list'])
      expect([env, plain.includes('\x1b[')]).toEqual([env, false])
      expect(plain).toContain('REF')
    }
    expect(await run('list')).toMatch(/^decision {3}use-sqlite \u2014 SQLite for storage {2}\(just now\)$/m)
    const forced = await tidemark(withEnv(at, { FORCE_COLOR: '1', COLUMNS: '60' }), ['list'])
    expect(forced.out).toContain('\x1b[33m#')
    const asJson = await tidemark(withEnv(at, { FORCE_COLOR: '1' }), ['list', '--json'])
    expect(JSON.parse(asJson.out)).toHaveLength(3)
  })

  test('[S0] reads `recall` as prose; with --sexp, in a pipe and for agents it is Scheme', async () => {
    const { at, run } = await known()
    const question = ['recall', 'sqlite storage']
    const prose = stripVTControlCharacters(await screen(at, question))
    expect(prose).toMatch(
      /^use-sqlite {2}decision #[a-f][0-9a-f]{2,} {2}just now\n {2}SQLite for storage\n {2}rationale: One file, many readers\n/,
    )
    const explained = stripVTControlCharacters(await screen(at, [...question, '--explain'])).replace(/\s+/g, ' ')
    expect(explained).toMatch(/ = relevance \S+ × proximity .*holds sqlite, storage/)
    const scheme = '(decision "use-sqlite" "SQLite for storage" :rationale "One file, many readers"'
    expect(await screen(at, [...question, '--sexp'])).toContain(scheme)
    expect(await screen(withEnv(at, { CLAUDECODE: '1' }), question)).toContain(scheme)
    expect(await run(...question)).toContain(scheme)
    expect(stripVTControlCharacters(await screen(at, ['recall', 'zebra crossing']))).toContain(
      'nothing is known of this; --all',
    )
  })

  test('[S0] reads a piece of a page by its place, with its lists, tables and code as they are written', async () => {
    const { at, run } = await known()
    const code = '```sh\ntidemark claim src\n  --ttl 60\n```'
    const page = `# Leases\n\nA lease lasts\nthirty minutes:\n\n- it is renewed\n  by a heartbeat\n- it ends\n\n| state | means |\n|---|---|\n| idle | alive |\n\n${code}\n`
    writeFileSync(join(at.dir, 'leases.md'), page)
    await run('import', 'docs', 'leases.md')
    const shown = stripVTControlCharacters(await screen(at, ['recall', 'how long does a lease last']))
    const lines = ['A lease lasts thirty minutes:', '- it is renewed by a heartbeat', '- it ends', '| state | means |', '| idle | alive |', 'tidemark claim src', '  --ttl 60'] // biome-ignore format: a list
    const said = lines.map((line) => `  ${line}\n`).join('')
    expect(shown).toMatch(/^Leases {2}leases\.md {2}chunk #[a-f0-9]+ {2}just now\n/)
    expect(shown).toContain(said)
  })

  test('[S2] pages what is longer than the screen through PAGER, and nothing for an agent', async () => {
    const { at, run } = await known()
    const many = Array.from({ length: 40 }, (_, i) => ['record-principle', { name: `principle-${i}` }])
    await run('act', JSON.stringify(many))
    const paged = withEnv(at, { PAGER: 'sed s/^/PAGED:/' })
    const long = await screen(paged, ['list'], 80, 24)
    expect(long.match(/^PAGED:/gm)).toHaveLength(44)
    expect(await screen(paged, ['list'], 80, 60)).not.toContain('PAGED:')
    expect(await screen(withEnv(paged, { CLAUDECODE: '1' }), ['list'], 80, 24)).not.toContain('PAGED:')
    for (const PAGER of ['cat', '', 'no-such-pager-anywhere'])
      expect(await screen(withEnv(at, { PAGER }), ['list'], 80, 24)).toContain('principle-0')
    expect(await screen(withEnv(at, { PAGER: 'head -n 3' }), ['list'], 80, 24)).not.toContain('use-sqlite')
  })

  test('[S2] sees when things happened as they are said, and each task with its reference', async () => {
    const { at, run } = await known()
    await run('goal', 'start', 'Ship it')
    await run('task', 'add', 'Write docs')
    const tree = stripVTControlCharacters(await screen(at, ['tree']))
    const [, ref = ''] = /Write docs {2}(#[a-f][0-9a-f]{2,})$/m.exec(tree) ?? []
    expect(await run('task', 'complete', ref)).toContain('completed task Write docs')
    const past = stripVTControlCharacters(await screen(at, ['history', 'use-sqlite']))
    expect(past).toMatch(/^WHEN \(UTC\) +WHAT +WHO +BATCH\n20\d\d-\d\d-\d\d \d\d:\d\d {2}recorded +tester +\w+:\d+\n/)
    expect(stripVTControlCharacters(await screen(at, ['history']))).toMatch(
      /^WHEN \(UTC\) +WHAT +WHO +BATCH\n\S+ \S+ +Write .*: complete/,
    )
    expect(await run('history')).toMatch(/^20\d\d-/)
  })

  test('[S2] reads times in their own zone; a pipe, an agent and --json have them in UTC', async () => {
    const { at, run } = await project()
    const there = withEnv(at, { TZ: 'Asia/Kolkata' })
    await run('session', 'start', 'writer-1', '--role', 'writer')
    expect(await run('claim', 'src', '--role', 'writer', '--session', 'writer-1')).toBe('claimed src for 30 min\n')
    const local = /\d{4}-\d\d-\d\d \d\d:\d\d \+05:30/
    const [brief, events] = [await screen(there, ['brief']), await screen(there, ['events'])]
    expect(brief).toMatch(new RegExp(`claims: src until ${local.source}`))
    expect(events).toMatch(new RegExp(`^\\d+ {2}${local.source} {2}claimed src role: writer {2}\\[writer-1\\]$`, 'm'))
    for (const utc of [
      (await tidemark(there, ['brief'])).out,
      await screen(withEnv(there, { CLAUDECODE: '1' }), ['brief']),
      (await tidemark(there, ['brief', '--json'])).out,
    ])
      expect(utc).toMatch(/claims: src until \d{4}-\d\d-\d\d \d\d:\d\dZ/)
    expect(await run('events')).toMatch(/"timestamp":"[\d-]+T[\d:.]+Z"/)
    expect(await screen(there, ['claims'])).toMatch(/^src writer-1 \(cli, tester\), for 30 min more$/m)
    const refused = await onTerminal(there, ['claim', 'src'])
    expect(refused.out).toContain('src is claimed by writer-1 (cli, tester) for 30 min more, taken just now')
  })

  test('[S2] sees a name cut only where the columns run out, topics on one line, and references that are short', async () => {
    const { at, run } = await project()
    const name = `The build ${'is slow and '.repeat(4)}loud`
    const shown = await screen(at, ['remember', name, '--topic', 'build'])
    const [, ref = ''] = /^remembered as learning (#[a-f][0-9a-f]{2,})$/m.exec(stripVTControlCharacters(shown)) ?? []
    await run(
      'act',
      JSON.stringify([
        ['record-decision', { name: 'a' }],
        ['record-decision', { name: 'b' }],
      ]),
    )
    await run('supersede', 'a', 'b')
    expect(stripVTControlCharacters(await screen(at, ['list', '--all'], 90))).toContain(`learning  ${name}  `)
    const page = await run('show', ref)
    expect(page).toContain('\n  topics: build\n')
    expect(page).toMatch(/\n {2}recorded just now by tester \(cli, on \w+\) · version 1\n/)
    expect(page).not.toMatch(/ $/m)
    expect(await run('task', 'add', 'Write docs')).toMatch(/^added task Write docs {2}#[a-f][0-9a-f]{2,}$/m)
    expect(await run('task', 'list')).toMatch(/^○ Write docs {2}#[a-f][0-9a-f]{2,}\n$/)
  })

  test('[X4] reads events in words that end between the parts of a value, and no tombstone', async () => {
    const { at, run } = await project()
    const value = { a: 'a'.repeat(50), b: { c: [1, 2], d: 'b'.repeat(50) }, e: 5 }
    await run('share', 'set', 'k', JSON.stringify(value))
    await run(
      'act',
      JSON.stringify([
        ['record-decision', { name: 'a' }],
        ['record-decision', { name: 'b' }],
      ]),
    )
    await run('supersede', 'a', 'b')
    await run('remember', 'The box in the cellar')
    await run('forget', 'The box in the cellar', '--erase')
    const shown = await screen(at, ['events'], 200)
    expect(shown).toContain(` update k a: ${value.a}, b: {c: [1, 2], …}, e: 5`)
    expect(shown).toContain(' linked decision:b supersedes decision:a')
    expect(shown).toContain(' erased something of kind learning')
    expect(shown).not.toMatch(/"|purged-/)
    expect(await screen(at, ['share', 'list'], 200)).toContain(`k  a: ${value.a}, b: {c: [1, 2], …}, e: 5`)
  })

  test('[T43] reads every rule that waits whole, and agrees by the reference that is shown', async () => {
    const { at } = await known()
    const rule = `Never push to main ${'without a word to whoever is on duty '.repeat(6)}today`
    await tidemark(withEnv(at, { CLAUDECODE: '1' }), ['remember', rule])
    const listed = stripVTControlCharacters(await screen(at, ['confirm'], 60))
    expect(listed.replace(/\s+/g, ' ')).toContain(`constraint: ${rule}`)
    const [, ref = ''] = /tidemark confirm '(#[a-f][0-9a-f]+)'$/m.exec(listed) ?? []
    expect((await onTerminal(at, ['confirm', ref], 'y')).out).toContain('confirmed fact')
  })
})
