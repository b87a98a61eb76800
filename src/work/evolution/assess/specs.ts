import { type Dimension, DOCUMENT, percent } from './repository.ts'

const SPECS = /(?:^|\/)(?:\.?specs?|specifications?|rfcs?|requirements|prds?|proposals)\//i
const SPEC =
  /[.-]spec\.md$|(?:^|\/)(?:prd|spec|specification|requirements)\.(?:md|rst|adoc)$|\.feature$|(?:^|\/)(?:openapi|swagger)\.(?:ya?ml|json)$/i
const DECISIONS = /(?:^|\/)(?:adrs?|decisions|decision-records|architecture-decisions)\//i
const PROSE = /\.(?:md|mdx|rst|adoc|feature)$/i
const isSpec = (path: string): boolean => SPEC.test(path) || (SPECS.test(path) && PROSE.test(path))
const isDecision = (path: string): boolean =>
  DECISIONS.test(path) && PROSE.test(path) && /\d/.test(path.slice(path.lastIndexOf('/')))
const NO_SPEC = /(?:^|\/)(?:readme|template|index)[^/]*$|(?:^|\/)(?:node_modules|vendor|tests?|fixtures?)\//i
/** A shorter one promises nothing that a test could check. */
const MIN_CHARS = 400

export const specs: Dimension = {
  name: 'specs',
  look({ paths, text, testedCommits, documentedCommits }) {
    const written = (isIt: (path: string) => boolean) =>
      paths.filter((p) => isIt(p) && !NO_SPEC.test(p) && text(p).trim().length >= MIN_CHARS).length
    const specs = written(isSpec)
    const decisions = written(isDecision)
    const isKept = documentedCommits >= 0.15 && paths.filter((p) => DOCUMENT.test(p)).length >= 10
    const isTested = testedCommits.share >= 0.4
    const instead = [isKept && 'documents that are kept up', isTested && 'tests that come with the code'].filter(
      Boolean,
    )
    const counts = specs < 3 && instead.length > 0 ? `; ${instead.join(' and ')} count in their place` : ''
    return {
      evidence: `${specs} specs, ${decisions} decision records; of source changes ${percent(documentedCommits)} change documents, ${percent(testedCommits.share)} come with tests${counts}`,
      findings: [
        [
          'alpha',
          '',
          specs + decisions > 0 || isKept,
          'write a spec of the critical path: specs/NAME.md, what must hold',
        ],
        ['beta', 'must', specs >= 3 || isTested, 'write 3 specs, or a test with 40 % of source changes'],
        [
          'ga',
          'must',
          specs >= 5 || decisions >= 5 || isKept,
          'write 5 specs or decisions, or keep documents up: in 15 % of source changes',
        ],
      ],
    }
  },
}
