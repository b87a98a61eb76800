import { capturedIn, heardIn } from '../src/hooks/capture/patterns.ts'
import { covers, labelled, likeness } from './labelled.ts'
import { type Bench, median, type Row, timed } from './table.ts'

const PRECISION = 0.95
const RECALL = 0.85
/**
 * Sets that nobody trained on, each by somebody who had not read the code: look at their figures only, not at which of
 * their prompts fail. All other files of bench/capture/ are what `scripts/train-capture.ts` learns from; `--check` there
 * prints how each would do without itself.
 */
export const HELD_BACK = ['judge-2', 'judge', 'unseen-5-held'] as const

/** What is captured is a rule if it is the labelled one, or holds it and its reason. */
const holds = (text: string, rule: string) => likeness(text, rule) >= 0.75 || covers(text, rule) >= 0.8

export function judged(half: string) {
  return labelled(half).map((one) => {
    const heard = heardIn(one.prompt)
    const found = heard.found.map(({ kind, action: [, args], category }) => ({
      category: category ?? kind,
      text: String(args.fact ?? args.rightBelief ?? args.description ?? args.ruleBroken),
    }))
    const caught = one.rules.filter((r) => found.some((f) => holds(f.text, r.text)))
    return {
      ...one,
      found,
      unsure: heard.unsure,
      caught: caught.length,
      missed: one.rules.filter((r) => !caught.includes(r)),
      wrong: found.filter((f) => !one.rules.some((r) => holds(f.text, r.text))),
      placed: caught.filter((r) => found.some((f) => holds(f.text, r.text) && f.category === r.category)).length,
    }
  })
}

const ratio = (part: number, whole: number) => (whole === 0 ? 1 : part / whole)

const sum = <T>(all: readonly T[], of: (one: T) => number) => all.reduce((n, one) => n + of(one), 0)

/** How good a set's captures are. */
export function figures(cases: readonly ReturnType<typeof judged>[number][]) {
  const rules = sum(cases, (c) => c.rules.length)
  const caught = sum(cases, (c) => c.caught)
  const wrong = sum(cases, (c) => c.wrong.length)
  const withRule = cases.filter((c) => c.rules.length > 0)
  return {
    rules,
    precision: ratio(caught, caught + wrong),
    recall: ratio(caught, rules),
    /** Of the prompts with a rule, those of which something is captured or that the agent is asked to judge. */
    noticed: ratio(withRule.filter((c) => c.found.length > 0 || c.unsure).length, withRule.length),
    /** Of the prompts without one, those that the agent is asked about for nothing. */
    asked: ratio(cases.filter((c) => c.rules.length === 0 && c.unsure).length, cases.length - withRule.length),
    placed: ratio(
      sum(cases, (c) => c.placed),
      caught,
    ),
  }
}

export const bench: Bench = {
  name: 'capture',
  about: 'how many of the rules in a prompt are captured, and how much of what is captured is none',
  async run() {
    const all = HELD_BACK.map((half) => ({ half, cases: judged(half) }))
    const row = (what: string, cases: ReturnType<typeof judged>, isBound = false): Row => {
      const { rules, precision, recall, noticed, asked, placed } = figures(cases)
      const cells = [cases.length, rules, ...[precision, recall, noticed, asked, placed].map((n) => n.toFixed(3))]
      if (!isBound) return { what, cells }
      return {
        what,
        cells,
        bound: `precision ≥ ${PRECISION}, recall ≥ ${RECALL}`,
        ok: precision >= PRECISION && recall >= RECALL,
      }
    }
    const languages = [...new Set(all.flatMap((h) => h.cases.map((c) => c.language)))]
    const prompts = all.flatMap((h) => h.cases.map((c) => c.prompt))
    const ms = prompts.map((prompt) => timed(() => capturedIn(prompt)))
    return [
      {
        title: 'prompts that nothing was trained or tuned on',
        columns: ['prompts', 'rules', 'precision', 'recall', 'noticed or asked', 'asked for nothing', 'category right'],
        rows: all.flatMap(({ half, cases }) => [
          row(half, cases, true),
          ...languages.map((language) =>
            row(
              `${half}, ${language}`,
              cases.filter((c) => c.language === language),
            ),
          ),
        ]),
        notes: [`${median(ms).toFixed(3)} ms a prompt`],
      },
    ]
  },
}
