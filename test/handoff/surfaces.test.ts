import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { git, inProcess, project } from '../cli/run.ts'

const PAGE = `# Session Handoff
**Written:** 2026-02-16 14:30
**Session context:** 78% used

## In Progress
- Implementing auth middleware (specs/auth.md, step 3 of 7)

## Next Steps
1. Fix JWKS cache issue
2. Run the tests
`

test('[P4] tidemark handoff: written as a page, as text and as JSON; shown newest first', async () => {
  const { at, run } = await project()
  expect(await run('handoff')).toBe('no handoff is current: `tidemark handoff write -` leaves one\n')
  const page = await inProcess(at, ['handoff', 'write', '-', '--session', 'a'], PAGE)
  expect(page).toMatchObject({ code: 0, err: '', out: 'handed off: session a\n  handoff:session-a\n' })
  writeFileSync(join(at.dir, 'left.json'), JSON.stringify({ nextSteps: ['of b'], blockers: ['no key'] }))
  await run('handoff', 'write', 'left.json', '--session', 'b')
  await run('task', 'start', 'login', '--session', 'c')
  expect((await inProcess(at, ['handoff', 'write', '-', '--session', 'c'], 'half of it is done')).code).toBe(0)
  const shown = await run('handoff', 'show')
  expect(shown.match(/\*\*For:\*\* .*/g)).toEqual(['**For:** login', '**For:** session b', '**For:** session a'])
  expect(shown).toContain('half of it is done')
  expect(shown).toContain('**Session context:** 78% used\n\n## In Progress\n- Implementing auth middleware')
  expect(await run('handoff', 'show', '--task', 'login')).not.toContain('session b')
  const json = JSON.parse(await run('handoff', '--json')) as { title: string; stale: boolean }[]
  expect(json.map((h) => [h.title, h.stale])).toEqual([
    ['login', false],
    ['session b', false],
    ['session a', false],
  ])
  expect(readFileSync(join(at.dir, '.tidemark/handoff.md'), 'utf8').match(/^# Session Handoff$/gm)).toHaveLength(3)
  const nothing = await inProcess(at, ['handoff', 'write', '-'], '\n')
  expect(nothing).toMatchObject({ code: 1, out: '' })
  expect(nothing.err).toContain('the handoff says nothing')
})

test('[P4] three commits later a handoff is stale, in what is shown and in the file', async () => {
  const { at, run } = await project()
  git(at.dir, 'commit', '-q', '--allow-empty', '-m', 'before')
  expect((await inProcess(at, ['handoff', 'write', '-', '--session', 'a'], PAGE)).code).toBe(0)
  for (const n of [1, 2]) git(at.dir, 'commit', '-q', '--allow-empty', '-m', `${n}`)
  expect(await run('handoff')).not.toContain('Stale')
  git(at.dir, 'commit', '-q', '--allow-empty', '-m', '3')
  expect(await run('handoff')).toContain('**Stale:** 3 commits since it was written\n')
  await run('remember', 'an unrelated thing happened')
  expect(readFileSync(join(at.dir, '.tidemark/handoff.md'), 'utf8')).toContain('**Stale:** 3 commits')
  expect((await inProcess(at, ['handoff', 'write', '-', '--session', 'a'], PAGE)).code).toBe(0)
  expect(await run('handoff')).not.toContain('Stale')
})

test('[P4] an edit of a view is told by status and doctor until it is dealt with; uninstall leaves nothing of its own', async () => {
  const { at, run } = await project()
  const view = join(at.dir, '.tidemark/decisions.md')
  await run('act', '[["record-decision", {"name": "use-sqlite", "rationale": "no daemon"}]]')
  expect(readFileSync(view, 'utf8')).toMatch(/^# Decisions\n\n\S+ \S+ \| use-sqlite \| no daemon\n$/)
  writeFileSync(view, `${readFileSync(view, 'utf8')}use-yjs | it merges\nnot a decision\n`)
  const noted = await run('remember', 'something else')
  expect(noted).toContain('taken over: decision "use-yjs"')
  expect(noted).toContain('no decision can be read in "not a decision"')
  expect(await run('show', 'use-yjs')).toContain('it merges')
  const aside = readdirSync(join(at.dir, '.tidemark')).find((f) => f.includes('.edited-'))!
  expect(readFileSync(join(at.dir, '.tidemark', aside), 'utf8')).toContain('not a decision')
  expect(await run('status')).toContain('1 hand edit')
  expect(await run('doctor')).toContain(`what was written is in .tidemark/${aside}`)
  expect(git(at.dir, 'status', '--porcelain', '-uall').split('\n').filter(Boolean)).toEqual([
    '?? .tidemark/.gitattributes',
    '?? .tidemark/.gitignore',
    '?? .tidemark/config.json',
  ])
  const out = await run('uninstall')
  expect(out).toContain('delete  .tidemark/decisions.md')
  expect(readdirSync(join(at.dir, '.tidemark'))).toEqual([aside])
})

test('[P4] uninstall leaves a view that was edited and not read', async () => {
  const { at, run } = await project()
  const dir = join(at.dir, '.tidemark')
  await run('act', '[["record-decision", {"name": "use-sqlite", "rationale": "no daemon"}]]')
  await run('act', '[["write-handoff", {"nextSteps": ["go on"]}]]', '--session', 'a')
  writeFileSync(join(dir, 'decisions.md'), 'mine\n')
  expect(await run('uninstall')).toContain('leave   .tidemark/decisions.md: it was edited by hand')
  expect(readdirSync(dir)).toEqual(['decisions.md'])
  expect(existsSync(join(dir, 'handoff.md'))).toBe(false)
})

test('[P4] what is asked sees an edit by hand at once', async () => {
  const { at, run } = await project()
  await run('act', '[["write-handoff", {"nextSteps": ["go on"]}]]', '--session', 'a')
  const view = join(at.dir, '.tidemark/handoff.md')
  writeFileSync(view, readFileSync(view, 'utf8').replace('go on', 'ask Ana first'))
  expect(await run('brief')).toContain('ask Ana first')
  writeFileSync(join(at.dir, '.tidemark/swarm-state.md'), '## reviewer\nstatus: active\nclaimed: src/auth\n')
  expect(await run('claims')).toMatch(/src\/auth[\s\S]*reviewer/)
  writeFileSync(view, readFileSync(view, 'utf8').replace('ask Ana first', 'ask Bo'))
  expect(await run('back')).toContain('ask Bo')
})
