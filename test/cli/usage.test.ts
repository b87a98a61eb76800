import { expect, test } from 'vitest'
import { files, inProcess, project } from './run.ts'

/** Wrong use of a command, and a word that the message must hold for its reader to know what to do. */
const WRONG: readonly [line: string, says: RegExp][] = [
  ['session frob', /session frob.*takes start, heartbeat, end, list, show/],
  ['session strat', /did you mean start/],
  ['session start a b', /too many arguments: b/],
  ['session start --pid soon', /--pid takes a number/],
  ['session list s1', /session show s1/],
  ['claim', /nothing to claim/],
  ['claim src --ttl long', /--ttl takes a number/],
  ['claim src --task', /--task/],
  ['claim src --tll 5', /--tll/],
  ['claim src --wait -1', /--wait takes seconds from 0 on/],
  ['claims src', /too many arguments: src/],
  ['release src --status done', /--status is one of active, complete, blocked/],
  ['release src --to other --status complete', /--status.*--handoff/],
  ['release src --to other --result x', /--result.*--handoff/],
  ['events src', /too many arguments: src/],
  ['events --since soon', /"soon" is not a time\n.*or words such as "3 months ago"/],
  ['list --since 2026-02-30', /"2026-02-30" is not a time/],
  ['discover (kinds) --as-of soon', /is no time/],
  ['events --since 1.5', /--since is not a whole number/],
  ['events --limit few', /--limit takes a number/],
  ['events --type updte', /did you mean update\?.*claimed/],
  ['events --follow --type updte', /no event is of type/],
  ['share frob', /share frob.*takes get, set, append/],
  ['share get', /the key is missing/],
  ['share get k extra', /share get KEY/],
  ['share set', /the key is missing/],
  ['share set k', /the value is missing/],
  ['share append k', /the value is missing/],
  ['share merge k', /the value is missing/],
  ['share delete', /the key is missing/],
  ['share list k', /share get k/],
  ['share show k', /share get k/],
  ['share history', /the key is missing/],
  ['share history k extra', /share history KEY/],
  ['share rollback k', /the event is missing/],
  ['share rollback k --to then', /--to takes a number/],
  ['share rollback k then', /whole number/],
  ['handoff frob', /handoff frob.*takes show, write/],
  ['handoff write', /the file is missing/],
  ['handoff show page.md', /handoff write page\.md/],
  ['task frob', /task frob.*takes start, add, complete, abandon, list, assign/],
  ['task start', /the text is missing/],
  ['task add', /the text is missing/],
  ['task assign', /the task is missing/],
  ['goal frob', /goal frob.*takes start, complete, abandon, list/],
  ['goal start', /the text is missing/],
  ['activity frob', /activity frob/],
  ['activity start', /the text is missing/],
  ['next one', /too many arguments: one/],
  ['brief now', /too many arguments: now/],
  ['brief --budget much', /--budget takes a number/],
  ['brief --budget 0', /--budget takes a whole number from 1 on, not 0/],
  ['recall x --budget 0', /--budget takes a whole number from 1 on, not 0/],
  ['recall x --limit -1', /--limit takes a whole number from 1 on, not -1/],
  ['discover (kinds) --budget -1', /--budget takes a whole number from 1 on, not -1/],
  ['list --limit 1.5', /--limit takes a whole number from 1 on, not 1.5/],
  ['list --offset -1', /--offset takes a whole number from 0 on, not -1/],
  ['back now', /too many arguments: now/],
  ['pause now', /too many arguments: now/],
  ['resume now', /too many arguments: now/],
  ['init now', /too many arguments: now/],
  ['doctor now', /too many arguments: now/],
  ['uninstall ../other', /too many arguments: \.\.\/other/],
  ['edit', /REF is missing/],
  ['models frob', /not understood: models frob/],
  ['models add', /needs the name of a model/],
  ['models add extractor', /there is no model extractor to add/],
  ['confirm fact:x --all abc', /two things/],
  ['confirm --all', /--all needs a value\n.*`tidemark confirm` lists.*run it first.*--all=-/],
]

const REFUSED = ['share get nothing', 'session show nobody', 'task assign nothing', 'release src --session s1']

async function working() {
  const { at, run } = await project()
  files(at.dir, { 'page.md': '# Session Handoff\n' })
  await run('session', 'start', 's1')
  return at
}

test('[X8] wrong use of what sessions coordinate with, and of what sets up, is exit 2, and says what would be right', {
  timeout: 90_000,
}, async () => {
  const at = await working()
  const one = async ([line, says]: (typeof WRONG)[number]) => {
    const { code, out, err } = await inProcess(at, [...line.split(' '), '--json'])
    expect([line, code, err]).toEqual([line, 2, expect.stringMatching(says)])
    expect(JSON.parse(out).error, line).toMatchObject({ code: 'usage', message: expect.any(String) })
  }
  for (let i = 0; i < WRONG.length; i += 4) await Promise.all(WRONG.slice(i, i + 4).map(one))
})

test('[X8] a command that has steps lists where none is named', async () => {
  const at = await working()
  for (const [line, says] of [
    ['session', 's1 '],
    ['task', 'no task is open'],
    ['goal', 'no goal is open'],
    ['share', 'nothing is shared yet'],
  ] as const)
    expect((await inProcess(at, [line])).out).toContain(says)
})

test('[X8] what is well said and cannot be done is refused, which is another thing', async () => {
  const at = await working()
  for (const line of REFUSED) expect([line, (await inProcess(at, line.split(' '))).code]).toEqual([line, 1])
})
