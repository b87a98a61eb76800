import { realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agreeing, files, git, inProcess, onTerminal, scratch } from '../cli/run.ts'
import { NO_TERMINAL, testUnless } from '../needs.ts'

/** A project with what people and other tools have left in it, and Claude Code's notes of it. */
function shop() {
  const at = scratch()
  git(at.dir, 'init', '-q')
  const notes = `.claude/projects/${realpathSync(at.dir).replace(/[^A-Za-z0-9]/g, '-')}/memory`
  files(at.home, {
    [`${notes}/MEMORY.md`]: '- [Ask first](feedback_ask.md)\n',
    [`${notes}/feedback_ask.md`]:
      '---\nname: ask-first\ndescription: ask before a migration\ntype: feedback\n---\n\nAsk before a migration runs.\n\n**Why:** one locked the shop in May.\n',
    [`${notes}/project_freeze.md`]:
      '---\nname: freeze\ndescription: No merges before the fair\nmetadata:\n  type: project\n---\n\nThe fair is in June.\n',
  })
  files(at.dir, {
    'CLAUDE.md': '# Shop\n\n- Never commit to main\n\n## Commands\n\n- `pnpm test`: the tests\n',
    '.cursor/rules/ui.mdc': '---\nglobs: web/**\n---\n- Never use inline styles\n',
    'packages/cart/AGENTS.md': '- Never round twice\n',
    'vendor-clone/.git/HEAD': 'ref: refs/heads/main\n',
    'vendor-clone/CLAUDE.md': '- Never read me\n',
    'docs/adr/0001-cents.md':
      '# 1. Keep money in cents\n\nDate: 2024-02-12\n\n## Status\n\nAccepted\n\n## Decision\n\nIntegers.\n',
    '.serena/memories/style.md': '# Style\n\nThe web part follows the shop.\n',
  })
  return { at, notes: '~/.claude/…/memory', run: async (...args: string[]) => (await inProcess(at, args)).out }
}

test('init says what it found in a line for each reader, and takes in what binds nothing', async () => {
  const { run, notes } = shop()
  const out = await run('init', '--client', 'none', '--yes')
  expect(out.split('\n').filter((l) => l.startsWith('  import'))).toEqual([
    '  import CLAUDE.md (1 rule, 1 chunk), .cursor/rules (1 rule), packages/cart/AGENTS.md (1 rule)',
    '  import docs/adr (1 page, 1 decision)',
    `  import .serena/memories (1 chunk), ${notes} (2 notes)`,
  ])
  expect(out).toContain(
    `4 rules stand in CLAUDE.md, .cursor/rules/ui.mdc, packages/cart/AGENTS.md, ${notes} and bind nobody yet`,
  )
  const brief = await run('brief')
  expect(brief).not.toContain('## Project Rules')
  expect(brief).toContain('- Keep money in cents: Integers')
  expect(brief).toMatch(/\(docs\/adr\/\S+\.md, 2024-02-12\)/)
  expect(await run('list', 'learning')).toContain('No merges before the fair')
  expect(await run('recall', 'which command runs the tests')).toContain('pnpm test')
})

test('of what Codex remembers, the groups of this project come in: wishes as proposals, lessons, failures', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  const group = (name: string, cwd: string, more: string) =>
    `# Task Group: ${name}\n\nscope: ${name}\napplies_to: cwd=${cwd}; reuse_rule=read it again\n\n## Task 1: It, done\n\n### keywords\n\n- a, b\n\n${more}\n\n`
  const shop = [
    '## User preferences\n\n- when prices change, the user asked for a table -> show one [Task 1][Task 2] [ad-hoc note]\n',
    '## Reusable knowledge\n\n- The cart lives in `src/cart.ts`. It rounds once. [Task 1]\n',
    '## Failures and how to do differently\n\n- Rounding each line lost cents -> round the sum [Task 1]',
  ].join('\n')
  const dir = realpathSync(at.dir)
  const other = (to: string) => `## Reusable knowledge\n\n- Nothing for the shop, of ${to}\n`
  files(at.home, {
    '.codex/memories/MEMORY.md': `${group('other', '/srv/other', other('a'))}${group('shop', dir, shop)}${group('next', `${dir}-next`, other('b'))}`,
    '.codex/memories/memory_summary.md': '## User Profile\n\nOf all projects.\n',
  })
  const run = async (...args: string[]) => (await inProcess(at, args)).out
  expect(await run('init', '--client', 'none', '--yes')).toContain('  import ~/.codex/memories (3 notes)')
  expect(await run('review')).toContain('when prices change, the user asked for a table -> show one')
  expect(await run('list', 'learning')).toContain('The cart lives in `src/cart.ts`.')
  expect(await run('brief')).toContain('Tried: Rounding each line lost cents')
  expect(await run('recall', 'nothing for the shop', '--all')).not.toContain('of a')
  expect(await run('import')).toContain('~/.codex/memories: nothing new')
})

test('import alone does the same later: only what is new comes, and what was left out stays out until it is named', async () => {
  const { at, run, notes } = shop()
  await run('init', '--client', 'none', '--without', `docs/adr,${notes}`)
  const again = await run('import')
  expect(again).toContain('  CLAUDE.md: nothing new')
  expect(again).toContain(`  out    docs/adr, ${notes}: left out before`)
  expect(await run('list', 'decision')).not.toContain('cents')
  files(at.dir, { 'AGENTS.md': '- Never guess\n' })
  expect(await run('import', '--dry-run')).toContain('AGENTS.md (1 rule)')
  const came = await run('import')
  expect(came).toContain('  AGENTS.md: 1 new')
  await agreeing(at, 'undo', '--all-of', /--all-of (\S+)/.exec(came)![1]!)
  expect(await run('import')).toContain('  AGENTS.md: 1 left as changed or deleted here')
  await run('import', 'decisions', 'docs/adr')
  expect(await run('list', 'decision')).toContain('cents')
  expect(await run('init', '--client', 'none')).not.toContain('import docs/adr')
})

test('a part that cannot be read is named with its file, and the others come in', async () => {
  const { at, run } = shop()
  files(at.dir, {
    'CLAUDE.md': '- Never commit to main\n@docs/none.md\n',
    '.cursor/rules/bad.mdc': Buffer.from([0, 1]),
  })
  const out = await run('init', '--client', 'none')
  expect(out).toContain('CLAUDE.md:2  @docs/none.md: there is no such file')
  expect(out).toMatch(/\.cursor\/rules\/bad\.mdc {2}the document: .*binary/)
  expect(out).toContain('  .cursor/rules: 1 new')
})

test('init counts decisions and links apart, and says what it left out as a secret, and where', async () => {
  const { at, run } = shop()
  const adr = (n: number, text: string) => `# ${n}. Step ${n}\n\n## Status\n\nAccepted\n\n## Decision\n\n${text}\n`
  files(at.dir, {
    'docs/adr/0002-two.md': adr(2, 'As ADR-001 says, the account page of acme/shop#1234 stays.'),
    'docs/adr/0003-three.md': adr(3, 'The password is Maple4471x, see ADR-002.'),
  })
  const out = await run('init', '--client', 'none')
  expect(out).toMatch(/^ {2}docs\/adr: 3 new, \d links?$/m)
  expect(out.match(/^.*left out as a secret.*$/gm)).toEqual([
    '    docs/adr/0003-three.md:9  left out as a secret: password',
  ])
  expect(await run('recall', 'account page')).toContain('acme/shop#1234')
})

test('[M6] whether a decision record is accepted is said in its file: one that is proposed there waits for no yes here', async () => {
  const { at, run } = shop()
  files(at.dir, { 'docs/adr/0002-two.md': '# 2. Two\n\n## Status\n\nProposed\n\n## Decision\n\nWe may use two.\n' })
  const out = await run('init', '--client', 'none')
  expect(out).not.toContain('proposed: tidemark review')
  expect(out).toMatch(/A person's yes to all that waits: tidemark confirm --all/)
  for (const command of ['review', 'confirm']) expect(await run(command)).not.toContain('Two')
  expect(await run('show', 'Two')).toContain('standing: proposed')
  files(at.dir, { 'docs/adr/0002-two.md': '# 2. Two\n\n## Status\n\nAccepted\n\n## Decision\n\nWe may use two.\n' })
  expect(await run('import', 'decisions', 'docs/adr')).toContain('1 updated')
  expect(await run('show', 'Two')).not.toContain('standing: proposed')
  expect(await run('import', 'decisions', 'docs/adr')).toContain('nothing to write')
})

test('[M6] a person may agree to a record that its file has as proposed, and to those that they themselves took in as proposed', async () => {
  const { at, run } = shop()
  const record = (n: number, status: string) =>
    `# ${n}. Step ${n}\n\n## Status\n\n${status}\n\n## Decision\n\nWe do ${n}.\n`
  files(at.dir, { 'docs/adr/0002-two.md': record(2, 'Proposed'), 'docs/adr/0003-three.md': record(3, 'Accepted') })
  await run('init', '--client', 'none', '--no-import')
  await run('import', 'decisions', 'docs/adr', '--standing', 'proposed')
  const waits = await run('review')
  expect([waits.includes('Step 2'), waits.includes('Step 3')]).toEqual([false, true])
  // who means that very one may still say so
  await agreeing(at, 'confirm', 'decision:step-2')
  expect(await run('show', 'Step 2')).not.toContain('standing: proposed')
})

test('a file of rules that is too large to read at each start is left, with the command that takes it in', async () => {
  const { at, run } = shop()
  files(at.dir, { 'AGENTS.md': `- Never guess\n\n${'All that was ever said.\n'.repeat(60_000)}` })
  const out = await run('init', '--client', 'none')
  expect(out).toContain(
    '  leave  AGENTS.md: it has 1.4 MB; `tidemark import claude-md AGENTS.md` takes it in all the same',
  )
  expect(out).toContain('  import CLAUDE.md')
  expect(out).not.toMatch(/^ {2}AGENTS.md: /m)
})

testUnless(NO_TERMINAL)('an arrival binds after one yes to what is shown, and is taken back whole', async () => {
  const { at, run } = shop()
  const out = await agreeing(at, 'init', '--client', 'none')
  expect(out).toContain('4 rules stand in')
  expect(await run('brief')).toContain('- Never commit to main')
  await agreeing(at, 'undo', '--all-of', /undo --all-of (\S+)/.exec(out)![1]!)
  for (const kind of ['fact', 'decision', 'learning', 'chunk'])
    expect(await run('list', kind, '--json')).toContain('[]')
})

testUnless(NO_TERMINAL)('many rules are asked about a file at a time', async () => {
  const { at, run } = shop()
  const rules = Array.from({ length: 20 }, (_, n) => `- Never touch table ${'abcdefghijklmnopqrst'[n]}${n}\n`)
  files(at.dir, { '.claude/rules/tables.md': rules.join('') })
  const { out } = await onTerminal(at, ['init', '--client', 'none'], 'y', 'y', 'y', 'n', 'y', 'y')
  expect(out).toMatch(/ {2}4 rules stand in CLAUDE\.md, \.cursor\/rules\/ui\.mdc, .*: confirmed/)
  expect(out).toContain('20 rules stand in .claude/rules/tables.md and bind nobody yet')
  const brief = await run('brief')
  expect(brief).toContain('- Never round twice')
  expect(brief).not.toContain('- Never touch table a0')
})

test('rules that one file imports of another are of that one: counted once, and told to no client that reads it', async () => {
  const { at, run } = shop()
  files(at.dir, { 'AGENTS.md': '- Never guess a price\n', 'CLAUDE.md': '@AGENTS.md\n\n- Never commit to main\n' })
  const out = await run('init', '--client', 'none', '--yes')
  expect(out).toContain('  import AGENTS.md (1 rule), CLAUDE.md (1 rule), .cursor/rules (1 rule)')
  expect(out).toContain('5 rules stand in AGENTS.md, CLAUDE.md, .cursor/rules/ui.mdc')
  expect(await run('confirm')).toMatch(/fact:never-guess-a-price {2}\(from AGENTS\.md\)/)
  const told = async (client: string) => {
    const payload = { session_id: client, hook_event_name: 'SessionStart', source: 'startup', cwd: at.dir }
    return (await inProcess(at, ['hook', client, 'SessionStart'], JSON.stringify(payload))).out
  }
  for (const client of ['claude', 'codex']) expect(await told(client)).not.toContain('Never guess a price')
  expect(await told('gemini')).toContain('- AGENTS.md: Never guess a price')
  expect(await told('codex')).toContain('- CLAUDE.md: Never commit to main')
})

testUnless(NO_TERMINAL)('a yes that was given stays where a later question is broken off', async () => {
  const { at, run } = shop()
  const rules = Array.from({ length: 20 }, (_, n) => `- Never touch table ${'abcdefghijklmnopqrst'[n]}${n}\n`)
  files(at.dir, { '.claude/rules/tables.md': rules.join('') })
  const { out, code } = await onTerminal(at, ['init', '--client', 'none'], 'y', 'y', '\x03')
  expect(code).toBe(1)
  expect(out).toContain('1 rule stands in CLAUDE.md: confirmed, every session here is told to follow them')
  expect(await run('brief')).toContain('- Never commit to main')
})

testUnless(NO_TERMINAL)('rules that their file has no more are asked about as such', async () => {
  const { at, run } = shop()
  files(at.dir, {
    'CLAUDE.md': '- Never commit to main\n- Never guess a price\n- Never lend a drawer\n',
    'AGENTS.md': '- Never lend a drawer\n',
  })
  await agreeing(at, 'init', '--client', 'none')
  files(at.dir, { 'CLAUDE.md': '- Never commit to main\n', '.cursor/rules/ui.mdc': '- Use the grid\n' })
  const out = await run('import')
  expect(out).toContain('1 rule stands in .cursor/rules/ui.mdc and binds nobody yet')
  expect(out).toMatch(
    /2 rules no longer stand in CLAUDE\.md, .*ui\.mdc and bind until a person says yes to all that waits/,
  )
  expect(out).toContain('1 proposed: tidemark review')
  expect(await run('review')).toContain('retire "Never guess a price": no longer in CLAUDE.md')
  const asked = await onTerminal(at, ['import', 'claude-md', 'CLAUDE.md'], 'y')
  expect(asked.out).toContain('1 rule no longer stands in CLAUDE.md. Should it stop binding? [y/N]')
  expect(asked.out).toContain('1 rule no longer stands in CLAUDE.md: retired')
  const brief = await run('brief')
  expect(brief).toContain('- Never lend a drawer')
  expect(brief).not.toContain('- Never guess a price')
})

test('an init that brings something names what takes it back, also where another made the project', async () => {
  const { run } = shop()
  await run('init', '--client', 'none', '--no-import')
  expect(await run('init', '--client', 'none')).toContain('undo --all-of arrival-')
  expect(await run('init', '--client', 'none')).not.toContain('undo --all-of')
})

testUnless(NO_TERMINAL)('a no to all that is found is kept', async () => {
  const { at, run } = shop()
  expect(await run('init', '--client', 'none', '--no-import')).not.toContain('takes back')
  expect((await onTerminal(at, ['import'], 'n')).out).toContain('left out, now and later')
  expect(await run('import')).toContain('nothing found here')
  rmSync(join(at.dir, 'CLAUDE.md'))
})

testUnless(NO_TERMINAL)(
  'a rule for some files is told before an edit of them, but not where the client reads it by itself',
  async () => {
    const { at } = shop()
    files(at.dir, { 'packages/tax/CLAUDE.md': '- Never guess a rate\n' })
    await agreeing(at, 'init', '--client', 'none')
    const told = async (client: string, path: string) => {
      const tool_input = { file_path: join(at.dir, path), old_string: 'a', new_string: 'b' }
      const payload = {
        session_id: client + path,
        hook_event_name: 'PreToolUse',
        tool_name: 'Edit',
        tool_input,
        cwd: at.dir,
      }
      return (await inProcess(at, ['hook', client, 'PreToolUse'], JSON.stringify(payload))).out
    }
    expect(await told('claude', 'web/page.css')).toContain('Never use inline styles')
    expect(await told('claude', 'src/page.css')).not.toContain('Never use inline styles')
    expect(await told('claude', 'packages/cart/sum.ts')).toContain('Never round twice')
    expect(await told('claude', 'packages/tax/rate.ts')).not.toContain('Never guess a rate')
    expect(await told('copilot', 'packages/tax/rate.ts')).not.toContain('Never round twice')
  },
)

test('init names documents that nothing else reads, which recall looks into, until they are taken in', async () => {
  const { at, run } = shop()
  files(at.dir, {
    'docs/guide.md': '# Guide\n\nStart here.\n',
    'guides/live.md': '# Live\n\nIt is.\n',
    'CHANGELOG.md': '# 1.0\n\nThe first.\n',
  })
  const offers = async () => (await run('init', '--client', 'none', '--yes')).match(/^ {2}(?:read|later) .*$/gm)
  expect(await offers()).toEqual([
    '  read   1 document in docs, 1 document in guides: recall looks into the pages that git has, as they are',
    '  later  CHANGELOG.md: tidemark import docs CHANGELOG.md',
  ])
  await run('import', 'docs', 'docs')
  await run('import', 'docs', 'guides')
  expect(await offers()).toEqual(['  later  CHANGELOG.md: tidemark import docs CHANGELOG.md'])
})

test('what lies here and is not read is named, with the way to take it in if there is one', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  files(at.dir, {
    '.aider.chat.history.md': '# aider chat started at 2026-05-01 10:00:00\n\n#### count the coins\n',
    '.specstory/history/2026-07-13-cart.md': '_**User**_\n\nCount.\n',
    'memory/MEMORY.md': '# Notes\n',
    'memory.jsonl': '{"text":"the till counts"}\n',
  })
  const { out } = await inProcess(at, ['init', '--client', 'none', '--yes'])
  expect(out.match(/^ {2}(?:leave|later) .*$/gm)).toEqual([
    '  leave  memory.jsonl: nothing in it could be read: `tidemark import mcp-memory memory.jsonl` says why',
    '  later  sessions of SpecStory: tidemark import specstory',
    '  later  notes in memory: tidemark import notes memory',
    '  later  1 session of Aider: tidemark import transcripts',
  ])
})

testUnless(NO_TERMINAL)(
  '[Y1] a rule that another file still imports, or that a person typed too, is offered for no retirement',
  async () => {
    const at = scratch()
    git(at.dir, 'init', '-q')
    const run = async (...args: string[]) => (await inProcess(at, args)).out
    files(at.dir, {
      'AGENTS.md': '- Never lend a drawer\n- Never ship on Friday\n\n@docs/rules.md\n',
      'CLAUDE.md': '# C\n\n@docs/rules.md\n',
      'docs/rules.md': '- Never commit to main\n',
    })
    await agreeing(at, 'init', '--client', 'none')
    await onTerminal(at, ['remember', 'Never ship on Friday'])
    files(at.dir, { 'AGENTS.md': '- Never lend a drawer\n' })
    expect((await onTerminal(at, ['import'], 'y', 'y')).out).not.toContain('Should they stop binding')
    for (const rule of ['Never commit to main', 'Never ship on Friday'])
      expect(await run('list', 'fact')).toContain(rule)
  },
)

test('memories of Codex, of the MCP server beside Claude Code and of an older Cline are found; another memory.json is not spoken of', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  files(at.dir, {
    'memory.json': '{"users": {"12": {"greeted": true}}}\n',
    '.claude/memory.jsonl': '{"type":"entity","name":"Till","entityType":"part","observations":["It counts cents"]}\n',
    'cline_docs/activeContext.md': '# Now\n\nThe till is being rewritten.\n',
    '.codex/memories/MEMORY.md': '# Task Group: till\n\n- it rounds up\n',
  })
  const { out } = await inProcess(at, ['init', '--client', 'none', '--yes'])
  expect(out.match(/^ {2}(?:leave|later|import) .*$/gm)).toEqual([
    '  import cline_docs (1 chunk)',
    '  import .claude/memory.jsonl (1 entity)',
    '  later  notes of Codex: tidemark import notes .codex/memories/MEMORY.md',
  ])
})

test('[M6] where the rules stand is said of three files and the number of the others', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  const rules = ['a', 'b', 'c', 'd', 'e'].map((n) => [
    `.cursor/rules/${n}.mdc`,
    `---\nalwaysApply: true\n---\n- Never touch table ${n}${n}\n`,
  ])
  files(at.dir, Object.fromEntries(rules))
  const { out } = await inProcess(at, ['init', '--client', 'none'])
  expect(out).toMatch(/5 rules stand in (?:\.cursor\/rules\/\w\.mdc, ){3}2 more files and bind nobody yet/)
})
