import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DOCS, PAGES, queriesPage } from '../../scripts/docs.ts'
import type { Kind } from '../../src/model/kind.ts'
import { KINDS } from '../../src/model/kinds/index.ts'
import { RELATIONS } from '../../src/model/relations.ts'
import { VERBS } from '../../src/project/verbs/index.ts'

const page = (name: string) => readFileSync(join(DOCS, name), 'utf8')

test.each(Object.keys(PAGES))('[D3] [D10] docs/%s is what scripts/docs.ts makes of the code today', (name) => {
  expect(existsSync(join(DOCS, name))).toBe(true)
  expect(page(name) === PAGES[name]!(), `run: node scripts/docs.ts`).toBe(true)
})

test('[D3] docs/queries.md asks every query of the concept paper, and only the mistakes it shows are errors', () => {
  const asked = page('queries.md')
  for (const query of [
    '(get-principles)',
    '(get-principle "contagious-materialization")',
    '(search-knowledge "plexus"',
    '(filter (lambda (p) (> (@ p :confidence) 0.8))',
    '(get-patterns-by-type "plexus-model")',
    '(get-relationships-from "contagious-materialization")',
    '(get-file-understanding "plexus/src/PlexusModel.ts")',
    '(get-related-files "plexus/src/PlexusModel.ts")',
    '(get-decisions-by-status "active")',
    '(get-decision "use-stage3-decorators")',
    '(search-knowledge "emancipate")',
    '(get-related-files "plexus/src/tracking.ts")',
    '(filter (lambda (pat) (> (@ pat :confidence) 0.9))',
  ])
    expect(asked).toContain(query)
  const errors = queriesPage().match(/^\(error .*$/gm)
  expect(errors).toHaveLength(3)
})

test('[D10] every kind, relation and verb is in the docs', () => {
  const kinds = page('kinds.md')
  const verbs = page('verbs.md')
  for (const kind of KINDS as readonly Kind[]) {
    if (kind.internal) continue
    expect(kinds).toContain(`## ${kind.name}\n`)
    for (const field of Object.keys(kind.fields)) expect(kinds).toContain(`| \`${field}\` |`)
    for (const verb of [`record-${kind.name}`, ...(kind.aliases ?? []), `delete-${kind.name}`])
      expect(verbs).toContain(`\`${verb}\``)
  }
  for (const relation of RELATIONS) expect(kinds).toContain(`| \`${relation.name}\` |`)
  for (const verb of VERBS) expect(verbs).toContain(`## ${verb.name}\n`)
})
