import { choice, list, set, text, time } from '../field.ts'
import { defineKind } from '../kind.ts'

export const learning = defineKind({
  name: 'learning',
  about: 'a lesson about the domain: a quirk, a trap, a fact of a tool',
  identity: 'content',
  key: ['title'],
  positional: ['title', 'body'],
  fields: {
    title: text('the lesson in one line', { weight: 2, also: ['learning', 'lesson', 'summary', 'text', 'content'] }),
    body: text('the whole lesson', { weight: 1, also: ['description', 'detail', 'text'] }),
    severity: choice(['low', 'medium', 'high', 'critical'], 'what ignoring it costs'),
    category: text('technical, architecture, anti-pattern, performance, collaboration, process …', { weight: 0.6 }),
    scope: text('workstation, project, library, universal …', { weight: 0.3 }),
    stack: set('languages, frameworks and tools it is about', { weight: 0.8 }),
    date: time('when it was learned'),
    classifiedBy: text('who sorted it: human or agent', { weight: 0 }),
    checkpointType: text('at which checkpoint it was written down', { weight: 0 }),
    locations: list('where it shows, as path or path:line', { paths: true, also: ['files'], weight: 0.3 }),
  },
  halfLifeDays: 365,
  example: {
    title: 'Stdout carries protocol only',
    body: 'Anything else printed there breaks the client.',
    severity: 'high',
  },
})
