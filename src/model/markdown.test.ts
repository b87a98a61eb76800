import { expect, test } from 'vitest'
import { sectionsOf } from '../travel/formats/import/docs.ts'
import { blocksOf } from '../travel/formats/import/markdown.ts'
import { stepTexts, withStep } from '../work/evolution/skill.ts'
import { fencedLines, frontMatterOf, listIn, textIn } from './markdown.ts'

/** Lines that the readers of before took for code, or did not, each in its own way. */
test.each([
  ['a longer fence holds a shorter one', ['````', '```', '# x', '```', '````', '# y'], '111110'],
  ['what stands behind the closing fence keeps it open', ['```', '``` js', '# x', '```', '# y'], '11110'],
  ['the other sign does not close it', ['~~~', '```', '~~~', '# y'], '1110'],
  ['code in one line opens none', ['```x```', '# y'], '00'],
  ['tildes may say anything behind them', ['~~~ a`b', '# x', '~~~', '# y'], '1110'],
  ['a list indents it further', ['1. a', '            ```', '   # x', '            ```', '# y'], '01110'],
  ['lines may end with a carriage return', ['```sh\r', '# x\r', '```\r', '# y\r'], '1110'],
  ['nothing closes it', ['```', '# x'], '11'],
])('[P3] a fence: %s', (_, lines, code) => {
  expect(fencedLines(lines).map(Number).join('')).toBe(code)
})

test('[P3] one reading of code for skills, documents and rules: no step, section or rule comes from a sample', () => {
  const sample = '````md\n```\n1. code\n```\n## Steps in code\n2. more\n````\n'
  const page = `# Skill\n\n${sample}\n## Steps\n\n1. A\n2. B\n`
  expect(stepTexts(page)).toEqual(['A', 'B'])
  expect(withStep(page, 'T', 'B')).toBe(page.replace('2. B', '2. T\n3. B'))
  expect(sectionsOf(page).map((s) => s.title)).toEqual(['Skill', 'Skill › Steps'])
  expect(blocksOf(page).map((b) => b.text)).toEqual(['Skill', 'Steps', 'A', 'B'])
  expect(blocksOf('~~~\n<!-- in code\n~~~\n\nText\n').map((b) => b.text)).toEqual(['Text'])
})

test('[T46] underlined headings: of Markdown, and of reStructuredText as a page ranks them; a rule or a table is none', () => {
  const titles = (page: string, isRst?: boolean) =>
    sectionsOf(page, isRst).map((s) => `${s.line} ${s.title}: ${s.text}`)
  const rst =
    '=====\nGuide\n=====\n\nHello\n\nInstall\n=======\n\nRun it\n\nFrom source\n~~~~~~~~~~~\n\nBuild\n\nUse\n===\n\nGo\n\nToo long for it\n====\nx\n'
  const body = ['1 Guide: Hello', '7 Guide › Install: Run it', '12 Guide › Install › From source: Build']
  expect(titles(rst, true)).toEqual([...body, '17 Guide › Use: Go\n\nToo long for it\n====\nx'])
  expect(titles('# A\n\nB\n---\nb\n\n---\n\n- item\n---\n\n| a |\n---\n')).toEqual([
    '3 A › B: b\n\n---\n\n- item\n---\n\n| a |\n---',
  ])
  expect(titles('A\n=\n\nB\n===\nb')).toEqual(['1 : A\n=', '4 B: b'])
})

test('[T46] front matter: text, lists in both forms, quotes, either line end; none leaves the page as it is', () => {
  const page =
    '---\r\npaths: ["src/**", test/{a,b}.ts]\r\nlevel: \'beta\'\r\ntags:\r\n  - one\r\n  - "two"\r\n---\r\nText'
  const front = frontMatterOf(page)
  expect(listIn(front, 'tags')).toEqual(['one', 'two'])
  expect(textIn(front, 'level')).toBe('beta')
  expect(front.fields.get('paths')).toEqual(['src/**', 'test/{a', 'b}.ts'])
  expect(front.body.split('\n').indexOf('Text')).toBe(7)
  expect(frontMatterOf('--- no\nText').body).toBe('--- no\nText')
})
