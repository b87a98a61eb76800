import { list, map, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const projectKind = defineKind({
  name: 'project-kind',
  about: 'a kind that this project added with define-kind',
  identity: 'name',
  key: ['name'],
  internal: true,
  fields: {
    name: text('the kind', { weight: 0 }),
    about: text('what an entity of it is', { weight: 0 }),
    plural: text('plural', { weight: 0 }),
    identity: text('name, content or event', { weight: 0 }),
    key: list('fields that identify it', { weight: 0 }),
    positional: list('fields printed by position', { weight: 0 }),
    order: list('fields in the order in which they were declared', { weight: 0 }),
    fields: map('its fields: {name: {type, about, …}}', { weight: 0 }),
  },
  example: { name: 'endpoint', about: 'an HTTP endpoint', fields: { name: { type: 'text' } } },
})
