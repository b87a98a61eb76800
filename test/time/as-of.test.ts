import { expect, test } from 'vitest'
import { files, git, scratch, tidemark } from '../cli/run.ts'

const READS = [
  ['list', 'decision'],
  ['show', 'jwt'],
  ['recall', 'jwt'],
  ['discover', '(map :name (get-decisions))'],
  ['brief'],
  ['trace', 'jwt'],
  ['what-if', 'jwt'],
]

test('[D9] every read takes a day, words, a mark or a commit, and tells nothing of what came after', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  const run = async (...args: string[]) => {
    const done = await tidemark(at, args)
    expect(done, args.join(' ')).toMatchObject({ code: 0 })
    return done.out
  }
  await run('init', '--yes')
  await run(
    'act',
    '[["record-decision",{"name":"jwt","rationale":"stateless","topics":["auth"]}],["record-question",{"question":"Who revokes?"}]]',
  )
  await run('mark', 'first', '--note', 'the first release')
  files(at.dir, { a: 'a' })
  git(at.dir, 'add', 'a')
  const later = `${new Date(Date.now() + 60_000).toISOString().slice(0, 19)}Z`
  await run(
    'act',
    '[["record-decision",{"name":"cookies","rationale":"revocable","topics":["auth"]}],["supersede",{"old":"jwt","new":"cookies"}],["answer-question",{"ref":"Who revokes?","answer":"the server"}]]',
  )
  expect(await run('mark', 'list')).toMatch(/^\S+Z {2}first — the first release {2}\(.*\)\n$/)
  expect(await run('mark', 'list')).toBe(await run('mark'))
  expect((await tidemark(at, ['mark', 'list', '--note', 'x'])).err).toContain('`mark list` lists the marks')
  for (const read of ['show', 'trace', 'what-if']) {
    const { err } = await tidemark(at, [read, 'cookies', '--as-of', 'first'])
    expect(err).toMatch(/^tidemark: decision "cookies" was not known yet at \S+Z\n {2}→ it was recorded at 2\S+Z\n$/)
  }
  for (const read of READS) {
    expect(await run(...read, '--as-of', 'first'), read.join(' ')).toContain('jwt')
    expect(await run(...read, '--as-of', 'first'), read.join(' ')).not.toContain('cookies')
  }
  expect(await run('list', 'decision', '--as-of', later)).not.toContain('jwt')
  expect(await run('questions', '--as-of', 'first')).toContain('Who revokes?')
  expect(await run('questions')).toContain('no question is open')
  expect(await run('discover', '(as-of "first" (map :name (get-decisions)))')).toBe('("jwt")\n')

  // a commit stands for the moment at which it was made
  const commit = (date: string) => {
    git(at.dir, '-c', `user.name=t`, 'commit', '-q', '--allow-empty', '-m', 'c', `--date=${date}`)
    return git(at.dir, 'rev-parse', 'HEAD').trim()
  }
  const hash = commit('2026-01-01T00:00:00Z')
  for (const revision of [hash, hash.slice(0, 10), 'HEAD'])
    expect(await run('list', 'decision', '--as-of', revision)).toContain('cookies')
  expect(await run('list', 'decision', '--as-of', '3 months ago')).toContain(
    'nothing of kind decision was recorded then',
  )

  // what is neither is refused, and a name never reads as a time
  const refused = async (...args: string[]) => (await tidemark(at, args)).err
  expect(await refused('list', '--as-of', 'no-such')).toContain('"no-such" is no time, no mark and no commit here')
  expect(await refused('list', '--as-of', '--output=x')).not.toBe('')
  expect(await refused('mark', 'last week')).toContain('reads as a time')
  expect(await refused('mark', 'first')).toContain('a mark already')
})
