import * as fc from 'fast-check'
import { afterAll, test } from 'vitest'
import { runs, SEED } from '../runs.ts'
import { dropTemplate } from './scenario.ts'
import { dropPlaces, type History, histories, live, STEPS } from './table.ts'

const RUNS = runs(25, 100)

afterAll(() => {
  dropTemplate()
  dropPlaces()
})

const all = Object.keys(STEPS) as (keyof typeof STEPS)[]
const without = (...names: string[]) => all.filter((name) => !names.includes(name))

const properties: [what: string, arbitrary: fc.Arbitrary<History>][] = [
  ['three who write', histories(without('compact', 'mend'), 'writers')],
  ['some accept others as reviewers', histories(without('compact', 'mend'), 'any')],
  ['three who write and compact', histories(without('wish'), 'writers')],
  ['some accept others as reviewers, and compact', histories(without('wish'), 'any')],
]

test.each(properties)(
  `[Y1] [C4] [T40] [T110] [T112] [T114] [T116] nobody else changes what binds or erases a text without a yes: %s (${RUNS} runs)`,
  { tags: ['property'], timeout: 60_000 + RUNS * 1_000 },
  (what, arbitrary) => {
    process.stderr.write(`[Y1] ${what}: ${RUNS} runs, TIDEMARK_SEED=${SEED}\n`)
    fc.assert(fc.property(arbitrary, live), { numRuns: RUNS, seed: SEED })
  },
)

/** What chance found, once in 2,000 to 4,000 histories each. */
const FOUND: readonly (readonly [what: string, history: string])[] = [
  [
    'an agent who replaces my rule as others want it too makes a proposal',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[false,false,false]],"steps":[["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["mend",{"by":1,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":0,"to":1,"which":[0]}],["mend",{"by":1,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"supersede"}],["send",{"from":1,"to":0,"which":[]}],["mend",{"by":0,"who":"agent","thing":{"kind":"fact","name":"two"},"n":0,"verb":"supersede"}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":0,"to":0,"which":[]}]]}', // biome-ignore format: one history
  ],
  [
    'a no to who would delete a kind keeps it, when the rest is folded',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[false,false,false]],"steps":[["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"define"}],["send",{"from":0,"to":2,"which":[]}],["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"undo"}],["send",{"from":2,"to":0,"which":[]}],["compact",{"by":0,"ago":-60000}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"undo"}],["answer",{"by":0,"n":0,"isYes":false}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"define"}]]}', // biome-ignore format: one history
  ],
  [
    'what waits takes nothing away when the rest is folded',
    '{"seed":0,"accepts":[],"steps":[["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["send",{"from":0,"to":1,"which":[]}],["mend",{"by":1,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["mend",{"by":1,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["send",{"from":1,"to":0,"which":[4]}],["send",{"from":0,"to":0,"which":[0]}],["compact",{"by":0,"ago":-60000}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}]]}', // biome-ignore format: one history
  ],
  [
    'a reviewer says yes to undo what only waits here, and it is confirmed here meanwhile',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[false,true,false]],"steps":[["wish",{"by":2,"who":"agent","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["wish",{"by":2,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["wish",{"by":2,"who":"agent","thing":{"kind":"fact","name":"one"},"n":1,"verb":"undo"}],["send",{"from":2,"to":1,"which":[]}],["answer",{"by":1,"n":3,"isYes":true}],["answer",{"by":2,"n":0,"isYes":true}],["answer",{"by":0,"n":0,"isYes":false}],["send",{"from":0,"to":0,"which":[0]}],["send",{"from":0,"to":0,"which":[0]}]]}', // biome-ignore format: one history
  ],
  [
    'what others folded does not say that something takes the place of mine',
    '{"seed":0,"accepts":[],"steps":[["mend",{"by":1,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["send",{"from":0,"to":1,"which":[]}],["mend",{"by":1,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"supersede"}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["compact",{"by":1,"ago":-60000}],["send",{"from":0,"to":0,"which":[0]}]]}', // biome-ignore format: one history
  ],
  [
    'a reviewer deletes what they know half of',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[true,false,false]],"steps":[["wish",{"by":2,"who":"person","thing":{"kind":"decision","name":"two"},"n":0,"verb":"add"}],["wish",{"by":2,"who":"person","thing":{"kind":"decision","name":"two"},"n":0,"verb":"add"}],["send",{"from":2,"to":0,"which":[9]}],["wish",{"by":0,"who":"person","thing":{"kind":"decision","name":"two"},"n":0,"verb":"delete"}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":0,"to":0,"which":[0]}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}]]}', // biome-ignore format: one history
  ],
  [
    'a yes to an agent that asks to erase a text erases it everywhere',
    '{"seed":0,"accepts":[[false,false,false],[false,false,true],[false,false,false]],"steps":[["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"define"}],["wish",{"by":0,"who":"other","thing":{"kind":"fact","name":"one"},"n":0,"verb":"define"}],["wish",{"by":0,"who":"agent","thing":{"kind":"fact","name":"one"},"n":1,"verb":"purge-text"}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":4,"verb":"undo"}],["send",{"from":0,"to":1,"which":[]}],["answer",{"by":0,"n":3,"isYes":true}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"purge"}],["send",{"from":0,"to":0,"which":[]}]]}', // biome-ignore format: one history
  ],
  [
    'what a reviewer undid may be said again by an agent',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[true,false,false]],"steps":[["wish",{"by":2,"who":"person","thing":{"kind":"decision","name":"two"},"n":0,"verb":"add"}],["send",{"from":2,"to":0,"which":[0]}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"undo"}],["send",{"from":0,"to":2,"which":[3]}],["wish",{"by":2,"who":"agent","thing":{"kind":"decision","name":"two"},"n":0,"verb":"add"}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":0,"to":0,"which":[0]}],["send",{"from":0,"to":0,"which":[]}]]}', // biome-ignore format: one history
  ],
  [
    'a reviewer undoes my words: those of a stranger bind nobody in their place',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[true,false,false]],"steps":[["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["mend",{"by":1,"who":"agent","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":2,"to":0,"which":[]}],["send",{"from":1,"to":0,"which":[]}],["send",{"from":0,"to":0,"which":[]}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":14,"verb":"undo"}],["answer",{"by":1,"n":0,"isYes":false}]]}', // biome-ignore format: one history
  ],
  [
    'a kind that I define again, after another one of its name came folded, reads as I say it',
    '{"seed":0,"accepts":[],"steps":[["mend",{"by":1,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"define"}],["compact",{"by":1,"ago":-60000}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"define"}],["send",{"from":1,"to":0,"which":[]}],["answer",{"by":0,"n":0,"isYes":false}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"define"}]]}', // biome-ignore format: one history
  ],
  [
    'a line that comes first without a text and then with it takes nothing of what I built on it',
    '{"seed":0,"accepts":[],"steps":[["wish",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":2,"to":1,"which":[0]}],["wish",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"purge-text"}],["send",{"from":2,"to":0,"which":[0]}],["answer",{"by":0,"n":0,"isYes":false}],["answer",{"by":0,"n":0,"isYes":false}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}]]}', // biome-ignore format: one history
  ],
  [
    'a yes to an undo takes all of a decision away',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[false,false,false]],"steps":[["wish",{"by":0,"who":"person","thing":{"kind":"decision","name":"one"},"n":0,"verb":"add"}],["send",{"from":0,"to":2,"which":[0]}],["wish",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"undo"}],["wish",{"by":0,"who":"person","thing":{"kind":"decision","name":"one"},"n":0,"verb":"add"}],["send",{"from":2,"to":0,"which":[]}],["answer",{"by":0,"n":0,"isYes":true}],["clock",{"by":0,"ms":1}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"retire"}]]}', // biome-ignore format: one history
  ],
  [
    'what a person undid, brought back and undid again is nothing that an agent could change',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[false,false,false]],"steps":[["mend",{"by":2,"who":"person","thing":{"kind":"decision","name":"one"},"n":0,"verb":"add"}],["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"undo"}],["mend",{"by":2,"who":"person","thing":{"kind":"decision","name":"one"},"n":0,"verb":"restore"}],["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":56,"verb":"undo"}],["mend",{"by":2,"who":"agent","thing":{"kind":"decision","name":"one"},"n":0,"verb":"add"}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"define"}],["clock",{"by":0,"ms":1}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"retire"}]]}', // biome-ignore format: one history
  ],
  [
    'a reviewer erases a text of a rule that I confirmed',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[false,true,false]],"steps":[["wish",{"by":2,"who":"agent","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":2,"to":1,"which":[]}],["wish",{"by":1,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"purge-text"}],["answer",{"by":2,"n":0,"isYes":true}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"retype"}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"supersede"}]]}', // biome-ignore format: one history
  ],
  [
    "a reviewer's yes to a decision is none to its deletion, which came before it",
    '{"seed":0,"accepts":[[false,false,false],[false,false,true],[false,false,false]],"steps":[["wish",{"by":0,"who":"person","thing":{"kind":"decision","name":"two"},"n":0,"verb":"add"}],["send",{"from":0,"to":1,"which":[]}],["answer",{"by":1,"n":0,"isYes":true}],["send",{"from":0,"to":2,"which":[0]}],["answer",{"by":2,"n":0,"isYes":true}],["wish",{"by":0,"who":"person","thing":{"kind":"decision","name":"two"},"n":0,"verb":"delete"}],["send",{"from":0,"to":0,"which":[0]}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":4,"verb":"purge-text"}],["clock",{"by":0,"ms":1}]]}', // biome-ignore format: one history
  ],
  [
    "a reviewer who undoes another's rule unbinds not mine of the same name",
    '{"seed":0,"accepts":[[false,false,false],[true,false,false],[false,false,false]],"steps":[["mend",{"by":1,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"retire"}],["send",{"from":2,"to":0,"which":[]}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":49,"verb":"undo"}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"retire"}],["answer",{"by":0,"n":0,"isYes":false}],["again",{"by":0,"how":"crash"}]]}', // biome-ignore format: one history
  ],
  [
    'a yes to what an agent elsewhere proposes of my rule lets it bind as they say it',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[false,false,false]],"steps":[["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["mend",{"by":2,"who":"other","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":2,"to":0,"which":[]}],["answer",{"by":0,"n":0,"isYes":true}],["again",{"by":0,"how":"crash"}],["again",{"by":0,"how":"crash"}],["answer",{"by":2,"n":0,"isYes":true}]]}', // biome-ignore format: one history
  ],
  [
    'who erases their own words is not shown those of others in their place',
    '{"seed":0,"accepts":[],"steps":[["wish",{"by":1,"who":"person","thing":{"kind":"decision","name":"two"},"n":0,"verb":"add"}],["answer",{"by":0,"n":0,"isYes":false}],["wish",{"by":0,"who":"person","thing":{"kind":"decision","name":"two"},"n":0,"verb":"add"}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"delete"}],["send",{"from":1,"to":0,"which":[0]}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":21,"verb":"purge-text"}],["wish",{"by":1,"who":"person","thing":{"kind":"decision","name":"two"},"n":0,"verb":"add"}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["answer",{"by":0,"n":0,"isYes":false}],["lease",{"by":0,"who":"person","path":"src/a","isTaken":false}]]}', // biome-ignore format: one history
  ],
  [
    'an agent replaces no rule of a person, whatever others propose of it meanwhile',
    '{"seed":0,"accepts":[],"steps":[["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["mend",{"by":1,"who":"agent","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["send",{"from":1,"to":0,"which":[0]}],["mend",{"by":0,"who":"agent","thing":{"kind":"fact","name":"two"},"n":0,"verb":"supersede"}],["send",{"from":0,"to":0,"which":[0]}]]}', // biome-ignore format: one history
  ],
  [
    'what I say over a proposal of others binds not by a yes of theirs that came folded',
    '{"seed":0,"accepts":[],"steps":[["mend",{"by":2,"who":"agent","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["answer",{"by":2,"n":0,"isYes":true}],["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["mend",{"by":1,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["mend",{"by":1,"who":"other","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":2,"to":0,"which":[43,0]}],["compact",{"by":2,"ago":-60000}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":0,"to":0,"which":[]}],["send",{"from":0,"to":0,"which":[0]}]]}', // biome-ignore format: one history
  ],
  [
    'a kind that was erased is not defined again: nobody else would get it',
    '{"seed":0,"accepts":[],"steps":[["wish",{"by":1,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"define"}],["wish",{"by":1,"who":"agent","thing":{"kind":"fact","name":"one"},"n":0,"verb":"purge-text"}],["answer",{"by":1,"n":3,"isYes":true}],["wish",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["wish",{"by":1,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"define"}],["lease",{"by":0,"who":"person","path":"src/a","isTaken":false}]]}', // biome-ignore format: one history
  ],
  [
    'an agent may say what a person confirmed before its words had come',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[false,false,false]],"steps":[["mend",{"by":0,"who":"agent","thing":{"kind":"decision","name":"two"},"n":0,"verb":"add"}],["answer",{"by":0,"n":0,"isYes":true}],["send",{"from":0,"to":1,"which":[3]}],["answer",{"by":1,"n":0,"isYes":true}],["mend",{"by":1,"who":"other","thing":{"kind":"decision","name":"two"},"n":0,"verb":"add"}],["send",{"from":0,"to":0,"which":[0]}],["send",{"from":0,"to":0,"which":[0]}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}]]}', // biome-ignore format: one history
  ],
  [
    'an agent does not undo the yes of a reviewer by which a rule binds',
    '{"seed":0,"accepts":[[false,false,false],[true,false,false],[false,false,false]],"steps":[["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"add"}],["send",{"from":2,"to":0,"which":[]}],["answer",{"by":0,"n":0,"isYes":true}],["mend",{"by":0,"who":"person","thing":{"kind":"decision","name":"one"},"n":0,"verb":"add"}],["send",{"from":0,"to":1,"which":[]}],["mend",{"by":1,"who":"agent","thing":{"kind":"fact","name":"one"},"n":4,"verb":"undo"}],["compact",{"by":0,"ago":-60000}],["send",{"from":0,"to":0,"which":[]}],["mend",{"by":0,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"retype"}]]}', // biome-ignore format: one history
  ],
  [
    'a reviewer says yes to their own words: what an agent proposed here does not bind by it',
    '{"seed":0,"accepts":[[false,false,false],[false,false,false],[true,false,false]],"steps":[["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["mend",{"by":2,"who":"person","thing":{"kind":"fact","name":"one"},"n":0,"verb":"undo"}],["mend",{"by":0,"who":"other","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["clock",{"by":0,"ms":240000}],["answer",{"by":0,"n":0,"isYes":true}],["mend",{"by":2,"who":"agent","thing":{"kind":"fact","name":"two"},"n":0,"verb":"add"}],["send",{"from":0,"to":0,"which":[]}],["send",{"from":0,"to":0,"which":[]}]]}', // biome-ignore format: one history
  ],
]

test.each(FOUND)('[Y1] %s', (_what, history) => live(JSON.parse(history) as History))
