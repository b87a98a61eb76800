import { type Dimension, percent, type Repository } from './repository.ts'

const OF_REQUEST =
  /\(#\d+\)|\(!\d+\)|^Merge (?:pull request|merge request|PR)\b|^Merge branch '[^']+' into|See merge request/
const FROM_SAME = /^Merge (?:branch '(?:main|master)'|remote-tracking branch)/
const RULES =
  /^(?:\.github\/|docs\/)?(?:CODEOWNERS|pull_request_template\.md)$|^\.github\/PULL_REQUEST_TEMPLATE\/|^\.gitlab\/merge_request_templates\//i

/** The share of the changes of the main branch that came by a branch or a review. */
export function shareReviewed({ history }: Pick<Repository, 'history'>): number {
  const line = history?.changes ?? []
  const through = line.filter(
    (c) => c.reviewed || OF_REQUEST.test(c.subject) || (c.isMerge && !FROM_SAME.test(c.subject)),
  )
  return line.length === 0 ? 0 : through.length / line.length
}

export const review: Dimension = {
  name: 'review',
  look({ history, paths }) {
    const line = history?.changes ?? []
    const share = shareReviewed({ history })
    const people = new Set(history?.commits.map((c) => c.author)).size
    const hasRules = paths.some((p) => RULES.test(p))
    return {
      evidence: `${percent(share)} of ${line.length} changes of the main branch came by a branch or a review; ${people === 1 ? 'one author' : `${people} authors`}`,
      findings: [
        ['beta', '', share >= 0.5, 'work on branches, and merge by pull request: every second change'],
        ['ga', 'must', share >= 0.7, 'bring 70 % of the changes in by a reviewed branch'],
        ['ga', '', hasRules || people >= 5, 'say who reviews what (CODEOWNERS, or a template for pull requests)'],
      ],
    }
  },
}
