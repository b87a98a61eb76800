import { defineRelation, type Relation } from './relation.ts'

type More = Partial<Omit<Relation, 'name' | 'inverse' | 'about'>>

const relation = (name: string, inverse: string, about: string, more: More = {}): Relation =>
  defineRelation({ name, inverse, about, ...more })

/** Every core relation. `impact`: which end is touched when the other changes; `strength`: how surely. */
export const RELATIONS: readonly Relation[] = [
  relation('supersedes', 'superseded-by', 'takes the place of an earlier one', { acyclic: true }),
  relation('constrains', 'constrained-by', 'limits what the other can do', { impact: 'forward', strength: 0.9 }),
  relation('depends-on', 'needed-by', 'requires the other', { acyclic: true, impact: 'backward', strength: 0.9 }),
  relation('blocked-by', 'blocks', 'cannot be done before the other', { acyclic: true, impact: 'backward', strength: 0.9 }),
  relation('discovered-from', 'led-to-finding', 'came up while the other was done'),
  relation('lifted-to', 'shows', 'counts for the other, an activity or a goal, as if it had been recorded there'),
  relation('conflicts-with', 'conflicts-with', 'cannot hold together with the other', { symmetric: true, impact: 'both', strength: 0.7 }),
  relation('impacts', 'impacted-by', 'affects the other', { impact: 'forward', strength: 0.8 }),
  relation('informs', 'informed-by', 'gives context to the other; weaker than depends-on', { impact: 'forward', strength: 0.4 }),
  relation('cites', 'cited-by', 'refers to an earlier one', { impact: 'backward', strength: 0.3 }),
  relation('references', 'referenced-by', 'mentions the other as a source', { impact: 'backward', strength: 0.3 }),
  relation('similar-to', 'similar-to', 'is like the other', { symmetric: true }),
  relation('corrects', 'corrected-by', 'says what is right where the other is wrong', { impact: 'forward', strength: 0.8 }),
  relation('contradicts', 'contradicted-by', 'says the opposite of the other', { impact: 'both', strength: 0.7 }),
  relation('contradicts-general-advice', 'contradicted-here-by', 'departs from what is generally advised'),
  relation('based-on', 'basis-of', 'rests on the other', { acyclic: true, impact: 'backward', strength: 0.8 }),
  relation('supports', 'supported-by', 'speaks for the other', { impact: 'forward', strength: 0.4 }),
  relation('implements', 'implemented-by', 'puts the other into code', { impact: 'backward', strength: 0.8 }),
  relation('extends', 'extended-by', 'builds on the other and adds to it', { impact: 'backward', strength: 0.8 }),
  relation('uses', 'used-by', 'makes use of the other', { impact: 'backward', strength: 0.7 }),
  relation('answered-by', 'answers', 'has its answer in the other'),
  relation('relates-to', 'relates-to', 'has to do with the other', { symmetric: true }),
  relation('about', 'subject-of', 'is about the other'),
  relation('during', 'context-of', 'happened during the other'),
  relation('correlates-with', 'correlates-with', 'goes along with the other', { symmetric: true }),
  relation('preceded-by', 'precedes', 'came after the other', { acyclic: true }),
  relation('followed-by', 'follows', 'came before the other', { acyclic: true }),
  relation('sourced-from', 'source-of', 'takes its content from the other', { impact: 'backward' }),
  relation('from-source', 'has-chunk', 'is a piece of the other'),
  relation('mentions', 'mentioned-in', 'names the other'),
  relation('tested-by', 'tests', 'is checked by the other'),
  relation('may-be-instance-of', 'possible-instance', 'looks like a case of the other; unconfirmed'),
  relation('instance-of', 'has-instance', 'is a case of the other'),
  relation('applies-framework', 'applied-in', 'uses the other as its way of thinking', { impact: 'backward' }),
  relation('caused', 'caused-by', 'brought the other about', { impact: 'forward', strength: 0.6 }),
  relation('led-to', 'resulted-from', 'was followed by the other as its outcome', { impact: 'forward' }),
  relation('involves', 'involved-in', 'has the other taking part'),
] // biome-ignore format: a table
