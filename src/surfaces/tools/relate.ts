import { bridgesIn, linkMentions, proposeLinks } from '../../find/graph/mentions.ts'
import { isSettled, suggestAll } from '../../find/graph/suggest.ts'
import { vocabularyOf } from '../../find/recall/contradictions.ts'
import { Recaller } from '../../find/recall/recall.ts'
import { topicVocabularyOf } from '../../find/recall/topic-vocabulary.ts'
import { LINK_KIND, provenanceOf } from '../../model/entity.ts'
import { oneLine, undoLine } from './format.ts'
import { actingAs, defineTool } from './tool.ts'

/** So many wait for an answer at most: more would not be looked at. */
const LIMIT = 20
const SOURCE = 'relate'

export const relate = defineTool({
  name: 'relate',
  title: 'Relate what is known',
  about:
    'looks through all decisions for links that are missing: what replaces, needs, limits or resembles what, and whom and what they name; each is proposed with its evidence, and review asks about it',
  example: 'tidemark relate --dry-run',
  params: {
    'dry-run': { type: 'flag', about: 'say what would be proposed, propose nothing' },
    limit: { type: 'number', least: 1, about: `so many wait for an answer at most (${LIMIT})` },
  },
  run(context, { 'dry-run': dry = false, limit = LIMIT }) {
    const { memory, project, progress } = context
    const { reader } = memory
    const recaller = new Recaller(memory, project, { embedder: { use: 'none' } })
    const said = { alternatives: vocabularyOf(project), topics: topicVocabularyOf(project) }
    const suggested = suggestAll({ memory, reader, recaller, now: memory.env.now(), ...said }, (done, of) => {
      if (done % 50 === 0) progress?.(`relate: ${done} of ${of} decisions`)
    })
    // what earlier runs proposed and nobody has answered
    const waiting = reader
      .list(LINK_KIND, { standing: 'proposed' })
      .filter((e) => provenanceOf(e).some((p) => p.source === SOURCE)).length
    const bridges = bridgesIn(reader, limit).filter(({ from, to }) => !isSettled(reader, from, to))
    const bridged = new Set(bridges.map(({ from, to }) => `${from} ${to}`))
    const sure = suggested.findIndex(({ by }) => by === 'attribution' || by === 'similarity')
    const rest = suggested.splice(sure < 0 ? suggested.length : sure)
    const found = [...suggested, ...bridges, ...rest.filter(({ from, to }) => !bridged.has(`${from} ${to}`))]
    const links = found
      .slice(0, Math.max(0, limit - waiting))
      .map(({ from, type, to, evidence }) => ({ from, type, to, evidence }))
    const options = { ...actingAs(context), source: SOURCE }
    const mentions = dry ? { links: 0, batches: [] } : linkMentions(memory, options)
    const { made, batches } = dry ? { made: links, batches: [] } : proposeLinks(memory, links, options)
    const all = [...batches, ...mentions.batches]
    const name = (id: string) => oneLine(reader.entity(id)?.name ?? id, 60)
    const open = waiting + (dry ? 0 : made.length)
    const more = found.length > links.length ? '; then run this again for more' : ''
    const lines = [
      made.length === 0
        ? 'nothing new to propose'
        : `${dry ? 'would propose' : 'proposed'} ${made.length} of ${found.length} found:`,
      ...made.map((l) => `  ${name(l.from)} ${l.type} ${name(l.to)}: ${oneLine(l.evidence, 120)}`),
      ...(mentions.links > 0 ? [`linked ${mentions.links} mentions in documents`] : []),
      ...(open > 0 ? [`${open} ${open === 1 ? 'waits' : 'wait'} for your answer: tidemark review${more}`] : []),
      ...all.map((batch) => undoLine(batch)),
    ]
    const json = { proposed: made.map((l) => ({ ...l })), found: found.length, waiting: open, mentions: mentions.links }
    return { text: lines.join('\n'), json: { ...json, batches: all } }
  },
})
