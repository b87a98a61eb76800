import { shellWord } from '../../../model/shell.ts'
import { type Detector, signalOn, spoken } from './signal.ts'

/** Two that constrain each other: neither can change before the other. */
export const mutualConstraints: Detector = (look) => {
  const { reader } = look.options
  const ends = (from: string, to: string) => `${from} ${to}`
  const constraints = reader.linksOf(['constrains'])
  const all = new Set(constraints.map((l) => ends(l.from, l.to)))
  const links = look.standing(constraints.filter((l) => all.has(ends(l.to, l.from))))
  const there = new Set(links.map((l) => ends(l.from, l.to)))
  return links.flatMap(({ from, to }) => {
    if (from >= to || !there.has(ends(to, from))) return []
    const [a, b] = [reader.entity(from), reader.entity(to)]
    if (!a?.live || !b?.live) return []
    return [
      {
        ...signalOn('mutual', 'high', from, to),
        line: `⚠️ "${spoken(a)}" and "${spoken(b)}" constrain each other — decide which one gives way`,
        entities: [from, to],
        evidence: [`${from} constrains ${to}`, `${to} constrains ${from}`],
        next: `tidemark act ${shellWord(JSON.stringify([['unlink-entities', { from, type: 'constrains', to }]]))}`,
      },
    ]
  })
}
