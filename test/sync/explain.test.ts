import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { checkSegments } from '../../src/travel/sync/check-segments.ts'
import { explain, markdownOf } from '../../src/travel/sync/explain.ts'
import { BIN, inProcess } from '../cli/run.ts'
import { type Clone, decision, git, team } from './clones.ts'

function commit(c: Clone): void {
  c.sync()
  c.commit()
}

/** A clone with one thing of each kind on main, and a branch. */
function branched(): Clone {
  const ana = team().clone('ana')
  ana.act([
    ['record-fact', { fact: 'Never commit secrets' }],
    decision('use pnpm', { tags: ['build'] }),
    decision('old way'),
    decision('to be erased', { rationale: 'the canary of a secret text' }),
  ])
  commit(ana)
  ana.git('switch', '-qc', 'topic')
  return ana
}

const explained = async (c: Clone) => {
  const e = await explain(c.dir, 'main..HEAD')
  return { ...e, text: markdownOf(e) }
}

test('[Y3] what a pull request adds, changes and takes away is told from its lines, before and after', async () => {
  const ana = branched()
  ana.act([
    decision('use pnpm', { rationale: 'one copy of each package', tags: ['tools'] }),
    ['retire', { ref: 'fact:never-commit-secrets', reason: 'typo' }],
    ['record-fact', { fact: 'Deploy on Friday' }],
    decision('new way'),
    ['supersede', { old: 'decision:old-way', new: 'decision:new-way' }],
  ])
  ana.act([['purge', { ref: 'decision:to-be-erased', reason: 'it was a secret' }]])
  commit(ana)
  const { batches, problems, text } = await explained(ana)
  expect(problems).toEqual([])
  const of = (id: string) => batches.flatMap((b) => b.effects).find((e) => e.id === id)!
  expect(of('decision:use-pnpm')).toMatchObject({
    does: 'changes',
    fields: [
      { field: 'rationale', before: 'because', after: 'one copy of each package' },
      { field: 'tags', before: ['build'], after: ['build', 'tools'] },
    ],
  })
  expect(of('fact:never-commit-secrets')).toMatchObject({ does: 'retires' })
  expect(text).toContain('- retires fact `Never commit secrets`')
  expect(text).toContain('- supersedes `decision:old-way` by `decision:new-way`')
  expect(text).toMatch(/### Rules, once confirmed\n\n- adds fact `Deploy on Friday`/)
  expect(text).toMatch(/- erases /)
  expect(text).not.toContain('canary')
  expect(text).toContain('; signed')
  expect(text).toContain('before `because`')
})

test('[Y3] no text of a line becomes a heading, a mention, a link or HTML, or stays unseen', async () => {
  const ana = branched()
  const nasty =
    'fine\n# Approved by @maintainer\n<img src=x onerror=1> [x](http://e.example)\n```\n## out of the block\n````\n'
  ana.act([decision('na`me ``` @all <b>', { rationale: nasty, tags: ['a\u202eb', 'c\u200bd'] })], {
    intent: '</details> `x',
  })
  commit(ana)
  const { text } = await explained(ana)
  const outside: string[] = []
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const run = /^\s*(`{3,})/.exec(line)?.[1]
    if (fence === undefined && run) fence = run
    else if (fence !== undefined && line.trim() === fence) fence = undefined
    else if (fence === undefined) outside.push(line.replace(/(`+)(?!`).*?[^`]\1(?!`)/g, 'CODE'))
  }
  expect(fence).toBeUndefined()
  expect(outside.join('\n')).not.toMatch(/@|<|http|Approved|\u202e|\u200b/)
  expect(outside.filter((l) => l.startsWith('#'))).toEqual([
    '## Knowledge in this change',
    expect.stringMatching(/^### CODE$/),
  ])
  expect(text).toContain('\\u{202e}')
})

test('[Y3] a changed line, also one that is signed anew by another, is taken by nobody and told first', async () => {
  const ana = branched()
  ana.act([decision('harmless')])
  commit(ana)
  const path = `.tidemark/log/${ana.segments.at(-1)}`
  const text = readFileSync(join(ana.dir, path), 'utf8')
  writeFileSync(join(ana.dir, path), text.replace('harmless', 'malicious'))
  ana.git('commit', '-qam', 'change')
  const { problems, batches, text: told } = await explained(ana)
  expect(batches).toEqual([])
  expect(problems.join('\n')).toContain('does not bear the signature of its replica')
  expect(told).toMatch(/### Taken by nobody\n\n- `/)
  expect(told).not.toContain('malicious')
  for (const how of [['--explain', 'main..HEAD'], ['--check']])
    expect((await inProcess({ dir: ana.dir, env: process.env }, ['sync', ...how])).code).toBe(1)
  // under a name that fits
  const whole = readFileSync(join(ana.dir, path))
  const named = path.replace(/[0-9a-f]{16}(?=\.jsonl)/, createHash('sha256').update(whole).digest('hex').slice(0, 16))
  ana.git('mv', path, named)
  ana.git('commit', '-qm', 'rename')
  expect((await explained(ana)).problems).toEqual([expect.stringContaining('does not bear the signature')])
  expect(checkSegments(ana.dir).problems).toEqual([expect.stringContaining('does not bear the signature')])
})

test('[Y3] what is removed from git, and a change of the reviewers, are told; what was there already is not told again', async () => {
  const ana = branched()
  ana.git('rm', '-q', `.tidemark/log/${ana.segments[0]}`)
  const config = join(ana.dir, '.tidemark/config.json')
  const key = 'A'.repeat(43)
  writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, 'utf8')), reviewers: { eve: [key] } }))
  ana.git('add', '-A')
  ana.git('commit', '-qm', 'remove')
  const { removed, text, reviewersChange } = await explained(ana)
  expect(removed).toHaveLength(1)
  expect(text).toContain('removes from git `')
  expect(text).toContain('Never commit secrets')
  expect(reviewersChange).toBe(true)
  expect(text).toContain('list of reviewers')
  ana.git('revert', '--no-edit', 'HEAD')
  expect((await explained(ana)).batches).toEqual([])
})

test('[Y3] a range that git does not know, and a shallow clone, are refused with what to do', async () => {
  const ana = branched()
  await expect(explain(ana.dir, 'nowhere..HEAD')).rejects.toMatchObject({ code: 'bad-range' })
  await expect(explain(ana.dir, '--output=/tmp/x')).rejects.toMatchObject({ code: 'bad-range' })
})

test('[Y3] the workflow explains to the summary and in one comment, and fails where nobody would take a line', () => {
  const ana = branched()
  ana.act([decision('harmless')])
  commit(ana)
  execFileSync(process.execPath, [BIN, 'sync', '--github'], { cwd: ana.dir })
  const workflow = parse(readFileSync(join(ana.dir, '.github/workflows/tidemark.yml'), 'utf8'))
  expect(workflow.permissions).toEqual({ contents: 'read', 'pull-requests': 'write' })
  expect(Object.keys(workflow.on)).toEqual(['pull_request'])
  commit(ana)
  const checkout = `${ana.dir}-checkout`
  git(ana.dir, 'clone', '-q', ana.dir, checkout)
  const { steps, defaults } = workflow.jobs.knowledge
  expect(defaults.run['working-directory']).toBe('.')
  const temp = mkdtempSync(join(tmpdir(), 'tidemark-ci-'))
  const bin = join(temp, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'tidemark'), `#!/bin/sh\nexec ${process.execPath} ${BIN} "$@"\n`, { mode: 0o755 })
  const gh = join(temp, 'gh')
  // in place of GitHub's own command: the second time there is a comment
  writeFileSync(
    gh,
    '#!/bin/sh\necho "$@" >> calls\ncase "$*" in *--paginate*) [ -e posted ] && echo 7 || true ;; *) touch posted ;; esac\n',
  )
  chmodSync(gh, 0o755)
  const run = (name: string) => {
    const step = steps.find((s: { name?: string }) => s.name === name)
    const env = {
      ...{ PATH: `${temp}:${process.env.PATH}`, HOME: join(temp, 'home'), RUNNER_TEMP: temp, BASE: 'origin/main' },
      ...{
        GITHUB_STEP_SUMMARY: join(temp, 'summary'),
        COMMENTS: 'repos/o/r/issues/3/comments',
        REPOSITORY: 'repos/o/r',
      },
    }
    const cwd = step['working-directory'] ? temp : checkout
    execFileSync('bash', ['-eo', 'pipefail', '-c', step.run], { cwd, env, stdio: 'pipe' })
  }
  run('explain')
  expect(readFileSync(join(temp, 'summary'), 'utf8')).toContain('adds decision `harmless`')
  run('comment')
  run('comment')
  const calls = readFileSync(join(temp, 'calls'), 'utf8')
  expect(calls).toContain('-X POST repos/o/r/issues/3/comments -F body=@comment.md')
  expect(calls).toContain('-X PATCH repos/o/r/issues/comments/7 -F body=@comment.md')
  run('check')
  expect(existsSync(join(temp, 'home'))).toBe(false)
  const path = join(checkout, `.tidemark/log/${ana.segments.at(-1)}`)
  writeFileSync(path, readFileSync(path, 'utf8').replace('harmless', 'malicious'))
  git(checkout, 'commit', '-qam', 'change')
  expect(() => run('explain')).toThrow()
  expect(() => run('check')).toThrow()
})
