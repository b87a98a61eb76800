import { appendEdit, ROOT_PATH } from '../../engine/log/context-value.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { shown } from '../../model/validate.ts'
import { fieldOf, SHARE_ARGS, sharedValue, write } from './shared-key.ts'

export const shareAppend = defineVerb({
  name: 'share-append',
  about:
    'adds an item, or each item of a list, to the list shared under a key; what is in it already is not added again; concurrent appends are all kept',
  args: {
    ...SHARE_ARGS,
    value: sharedValue('an item, or a list of items (a list as an item stands in a list of its own)', {
      required: true,
    }),
  },
  example: { key: 'active-files', value: 'src/auth.ts' },
  plan(p, { key: shared, value }, report) {
    const items = Array.isArray(value) ? value : [value]
    const edit = appendEdit(fieldOf(p, shared), ROOT_PATH, items, p.ctx.ms)
    if (edit) return write(p, shared, edit)
    return report({
      field: 'key',
      message: `what is shared under "${shared.key}" is no list`,
      received: shown(shared.entity?.fields.value),
      accepted: 'a key that holds a list, or a new one',
      hint: 'share-merge adds to a map, share-set puts something else in its place',
    })
  },
})
