import { list, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const proposal = defineKind({
  name: 'proposal',
  about: 'a proposed edit: an action that is carried out when somebody confirms it',
  identity: 'content',
  key: ['action'],
  internal: true,
  fields: {
    action: text('the action, as canonical JSON', { weight: 0 }),
    evidence: list('what speaks for it', { weight: 0 }),
  },
  example: { action: '["curate",{"ref":"use-sqlite"}]' },
})
