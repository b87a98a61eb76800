import { choice, list, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const fact = defineKind({
  name: 'fact',
  about: 'a binding rule of the project: told once, followed from then on',
  identity: 'content',
  key: ['fact'],
  binding: true,
  aliases: ['record-project-fact'],
  fields: {
    fact: text('the rule, as an instruction', { weight: 1.5, also: ['rule', 'text', 'content', 'description'] }),
    category: choice(['workflow', 'convention', 'constraint', 'tool', 'pattern'], 'what sort of rule'),
    context: text('where it comes from, when it applies', { weight: 0.8 }),
    paths: list('globs of the files that it is for; without any it holds everywhere', { weight: 0.3 }),
    locations: list('where it is written, as path or path:line', { paths: true, weight: 0.3 }),
  },
  halfLifeDays: 730,
  example: { fact: 'Always run the tests before committing', category: 'workflow' },
})
