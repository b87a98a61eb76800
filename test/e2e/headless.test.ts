// @module-tag long
import { expect } from 'vitest'
import { claude } from './claude.ts'
import { codex, codexAsks } from './codex.ts'
import { anthropic } from './fakes/anthropic.ts'
import { responses } from './fakes/responses.ts'
import { machine, withClients } from './machine.ts'

const ANSWER = '{"files":3}'
/** One that Codex gives its tool for patches. */
const MODEL = ['-c', 'model="gpt-5.5"']
const NAMES = ['a', 'b', 'c']

withClients(
  ['claude'],
  '[X7] Claude Code: a long headless run that recorded nothing ends with the answer it was asked for; the reminder comes with the next prompt',
  async () => {
    const m = machine(['claude'])
    const model = await anthropic()
    for (const name of NAMES)
      model.next({ call: 'Write', input: { file_path: m.path('src', `${name}.ts`), content: 'x' } })
    model.next({ say: ANSWER })
    const ran = await claude(m, model, 'write three files and print JSON')
    expect(ran.lines.at(-1)).toMatchObject({ type: 'result', result: ANSWER })
    expect(model.turns).toHaveLength(4)
    await claude(m, model, 'go on', ['--resume', ran.session])
    expect(model.turns.at(-1)!.text.match(/has recorded nothing yet/g)).toHaveLength(1)
  },
)

withClients(
  ['codex'],
  '[X7] Codex: a long headless run that recorded nothing ends with the answer it was asked for; the reminder comes with the next prompt',
  async () => {
    const m = machine(['codex'])
    const model = await responses()
    codexAsks(m, model)
    for (const name of NAMES) {
      const patch = `*** Begin Patch\n*** Add File: src/${name}.ts\n+x\n*** End Patch`
      model.next({ call: 'apply_patch', input: { input: patch } })
    }
    model.next({ say: ANSWER })
    const ran = await codex(m, 'write three files and print JSON', MODEL)
    expect(NAMES.map((name) => m.read(`src/${name}.ts`))).toEqual(['x\n', 'x\n', 'x\n'])
    expect(model.turns).toHaveLength(4)
    expect(ran.out).toContain(JSON.stringify(ANSWER))
    await codex(m, 'go on', [...MODEL, 'resume', ran.thread])
    expect(model.turns.at(-1)!.text.match(/has recorded nothing yet/g)).toHaveLength(1)
  },
)
