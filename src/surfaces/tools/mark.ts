import { UserError } from '../../base/errors.ts'
import { inWords, markedAt } from '../../find/recall/moment.ts'
import { ago, entityJson, moment, oneLine } from './format.ts'
import { momentAsked } from './moment.ts'
import { actingAs, defineTool, written } from './tool.ts'

export const mark = defineTool({
  name: 'mark',
  title: 'Mark a moment',
  about:
    'gives a moment a name that --as-of, diff and restore understand; without a name, or with `list`, lists the marks',
  example: 'tidemark mark before-the-rewrite --note "all tests green"',
  params: {
    name: { type: 'text', about: 'what it is called', place: 'rest' },
    at: { type: 'text', about: 'another moment than now, as --as-of takes it' },
    note: { type: 'text', about: 'what happened then' },
  },
  async run(context, args) {
    const { memory, local } = context
    const { reader, env } = memory
    const name = args.name?.trim() ?? ''
    if (name === '' || (name === 'list' && args.at === undefined && args.note === undefined)) {
      const all = reader.list('mark')
      const lines = all.map((e) => {
        const at = markedAt(reader, e.name)!
        return `${moment(at, local)}  ${oneLine(e.name, 60)}${e.fields.note ? ` — ${oneLine(String(e.fields.note), 60)}` : ''}  (${ago(at, env.now())})`
      })
      return {
        text: lines.join('\n') || 'no moment has a name yet: `tidemark mark NAME` gives one',
        json: all.map(entityJson),
      }
    }
    if (name === 'list') throw new UserError('bad-name', '`mark list` lists the marks', 'give the mark another name')
    if (inWords(name, env.now(), 'as-of') !== undefined)
      throw new UserError('bad-name', `"${name}" reads as a time`, 'give the mark another name')
    if (markedAt(reader, name) !== undefined)
      throw new UserError(
        'mark-exists',
        `"${name}" is a mark already`,
        `give another name, or \`tidemark forget mark:${name}\` first`,
      )
    const at = args.at === undefined ? undefined : new Date(await momentAsked(context, args.at)).toISOString()
    const done = memory.act([['record-mark', { name, at, note: args.note, anew: true }]], actingAs(context))
    const word = /\s/.test(name) ? JSON.stringify(name) : name
    return written(done, [`marked ${moment(markedAt(memory.reader, name)!, local)} as ${name}: tidemark diff ${word}`])
  },
})
