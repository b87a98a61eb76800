import { type Dimension, DOCUMENT } from './repository.ts'

const PAGE = /^(?:docs?|documentation|website|site)\//i

export const docs: Dimension = {
  name: 'docs',
  look({ paths, text, history }) {
    const readme = paths.find((p) => /^(?:readme)(?:\.\w+)?$/i.test(p))
    const length = readme === undefined ? 0 : text(readme).trim().length
    const pages = paths.filter((p) => PAGE.test(p) && DOCUMENT.test(p)).length
    const has = (pattern: RegExp) => paths.some((p) => pattern.test(p))
    const log = has(/(?:^|\/)(?:change(?:log|s)|history|releases?|news)(?:\.\w+)?$/i) || (history?.tags ?? 0) >= 3
    const how = has(/^(?:\.github\/|docs\/)?contributing(?:\.\w+)?$/i)
    const security = has(/^(?:\.github\/|docs\/)?security(?:\.\w+)?$/i)
    const also = [
      log && 'changes or releases',
      how && 'how to contribute',
      security && 'how to report a weakness',
    ].filter(Boolean)
    return {
      evidence: `README of ${length} characters, ${pages} pages${also.length > 0 ? `; ${also.join(', ')}` : ''}`,
      findings: [
        ['alpha', '', length >= 500, 'say in the README what it is, and how it is run and tested'],
        ['beta', '', pages >= 3 || length >= 4_000, 'document how it is used: 3 pages in docs/'],
        ['beta', '', log, 'keep a changelog'],
        ['ga', '', how, 'say how to contribute (CONTRIBUTING.md)'],
        ['ga', '', security, 'say how to report a weakness (SECURITY.md)'],
      ],
    }
  },
}
