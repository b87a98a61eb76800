import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { files, git, inProcess, pressing, scratch } from './run.ts'

const RULES = '# Rules\n\n- Always use pnpm for installs\n- Never commit to main\n\nSome prose.\n'

/** What the person and the model read as a session of Claude Code begins. */
async function begins(at: ReturnType<typeof scratch>, id: string) {
  const payload = { session_id: id, hook_event_name: 'SessionStart', source: 'startup', cwd: at.dir }
  const { out } = await inProcess(at, ['hook', 'claude', 'SessionStart'], JSON.stringify(payload))
  const { systemMessage, hookSpecificOutput } = JSON.parse(out)
  return { person: String(systemMessage), model: String(hookSpecificOutput?.additionalContext ?? '') }
}

test('[M6] after init beside a CLAUDE.md the first session says what was taken in and how all of it is confirmed; then it binds', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  files(at.dir, {
    'CLAUDE.md': RULES,
    'memory.jsonl': '{"type":"entity","name":"Billing","entityType":"service","observations":["bills at night"]}\n',
  })
  const init = await inProcess(at, ['init', '--client', 'none'])
  expect(init.out).toMatch(/2 rules stand in CLAUDE\.md and bind nobody yet\. .*: tidemark confirm --all \w+/)
  const first = await begins(at, 's1')
  expect(first.person).toMatch(
    /^Tidemark: known: 1 \w+, 2 rules from CLAUDE\.md to review \(`tidemark review`: a confirms all\), about \d+ tokens$/,
  )
  expect(first.model).toContain('2 rules wait for confirmation')
  const all = await pressing(at, ['review'], 'ay')
  expect(all.out).toContain('2 confirmed, 0 rejected')
  // Claude Code reads CLAUDE.md by itself: it is counted, not told again
  const second = await begins(at, 's2')
  expect(second.person).toMatch(/^Tidemark: 2 rules\b/)
  expect(second.person).not.toContain('nothing fits')
  expect(second.model).not.toContain('pnpm')
  expect((await inProcess(at, ['brief'])).out).toContain('- Never commit to main')
})

test('[M6] init beside Claude Code and Codex is told in twelve lines at most; again, it makes no project of what is one', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  files(at.dir, { 'CLAUDE.md': '- Never commit to main\n' })
  files(at.home, { '.claude/x': '', '.codex/x': '' })
  const init = async (...args: string[]) => (await inProcess(at, ['init', ...args])).out.trimEnd().split('\n')
  const why = await init('--dry-run')
  expect(why[0]).toBe(`would make ${at.dir} a Tidemark project:`)
  expect(why.filter((l) => /^ {2}(create|edit) .*: \w/.test(l))).toHaveLength(6)
  const first = await init()
  expect(first.length).toBeLessThanOrEqual(12)
  expect(Math.max(...first.map((l) => l.length))).toBeLessThan(160)
  expect(first.slice(0, 7)).toEqual([
    `making ${at.dir} a Tidemark project:`,
    '  create .tidemark/  (to be committed)',
    '  wire   Claude Code, Codex (--dry-run says why each file)',
    '  shared with the team: create .mcp.json',
    '  this machine only: create .claude/settings.local.json, ~/.claude.json, ~/.codex/config.toml, ~/.codex/hooks.json; edit .git/info/exclude',
    '  keep   what you type, on this machine for 90 days (docs/hooks.md says how to switch it off)',
    '  import CLAUDE.md (1 rule)',
  ])
  expect(first.at(-1)).toBe('  next   codex: start `codex` here, type /hooks, and trust those of tidemark')
  expect(first.join()).toContain('1 rule stands in CLAUDE.md and binds nobody yet')
  const again = await init()
  expect(again.slice(0, 3)).toEqual([
    `${at.dir} is a Tidemark project already`,
    '  import CLAUDE.md (1 rule)',
    '  CLAUDE.md: nothing new',
  ])
  rmSync(join(at.dir, '.mcp.json'))
  expect((await init()).slice(0, 3)).toEqual([
    `${at.dir} is a Tidemark project already`,
    '  wire   Claude Code (--dry-run says why each file)',
    '  shared with the team: create .mcp.json',
  ])
})

test('[M6] doctor finds no fault in what init was told to leave: clients that are not wired', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  files(at.home, { '.claude/x': '', '.codex/x': '', '.gemini/x': '', '.cursor/x': '', '.copilot/x': '' })
  await inProcess(at, ['init', '--client', 'none'])
  const { out, code } = await inProcess(at, ['doctor'])
  expect(out).not.toContain('FIX')
  expect(out.match(/^ok .*is not wired.*\n {5}→ run `tidemark init --client \w+` to wire it$/gm)).toHaveLength(5)
  expect(code).toBe(0)
})

test('[M6] an empty memory teaches in two lines, once in a session', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  await inProcess(at, ['init', '--client', 'none'])
  expect((await inProcess(at, ['brief'])).out).toContain('Record decisions with their reasons')
  expect((await inProcess(at, ['brief', '--budget', '5'])).out).toContain('nothing recorded yet')
  const { person, model } = await begins(at, 's1')
  expect(person).toMatch(/^Tidemark: nothing recorded yet; say "always …" or "never …"/)
  expect(model.split('\n')).toEqual([
    expect.stringContaining('[["record-decision", {"name": "use-sqlite", "rationale": "no daemon"}]]'),
    "Rules that the user lays down bind after the user's yes.",
    '',
    expect.stringContaining('their exact words'),
  ])
  expect((await begins(at, 's1')).model).not.toContain('Record decisions')
})
