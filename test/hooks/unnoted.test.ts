import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { idOf } from '../../src/session/clients/common/payload.ts'
import { filesWith, hookProject, PATIENT, runHook } from './run.ts'

test('[A7] neither a file that is called like a secret is noted, nor a command that names an excluded file', async () => {
  const { dir, project } = hookProject()
  writeFileSync(
    join(dir, '.tidemark/config.json'),
    JSON.stringify({ id: project.id, name: 'example', hooks: { excludePaths: ['keys/**'] } }),
  )
  const store = dirname(project.storePath)
  const run = (event: string, more: object) =>
    runHook(['claude', event], { session_id: 's1', cwd: dir, ...more }, { env: PATIENT })
  const file = `ghp_${'Q9'.repeat(18)}.ts`
  for (const path of [file, 'src/plain.ts'])
    for (const event of ['PreToolUse', 'PostToolUse'])
      await run(event, { tool_name: 'Write', tool_input: { file_path: join(dir, path) } })
  writeFileSync(join(dir, file), 'x')
  await run('PostToolUse', {
    tool_name: 'Bash',
    tool_input: { command: `touch ${file}` },
    tool_response: { stdout: '' },
  })
  for (const command of ['cat keys/prod.pem', 'make all'])
    for (let n = 0; n < 3; n++)
      await run('PostToolUseFailure', { tool_name: 'Bash', tool_input: { command }, error: `${command}: no` })
  expect(filesWith(store, 'src/plain.ts')).not.toBe('')
  expect(filesWith(store, 'make all')).not.toBe('')
  expect(filesWith(store, 'Q9Q9Q9')).toBe('')
  expect(filesWith(store, 'prod.pem')).toBe('')
})

test('[X7] the id of a session holds nothing that goes unseen', () => {
  expect(idOf('a\u202eb\u200bc\x1bd\u2028e f\n')).toBe('abcdef')
})
