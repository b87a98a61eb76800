import { SHARED_FIELD, SHARED_KIND } from '../../../engine/log/context-value.ts'
import { plain } from '../fence.ts'
import { byline } from '../format.ts'
import type { Item, Section } from '../types.ts'

const MAX_KEYS = 8
const VALUE = 160

export const shared: Section = {
  name: 'shared',
  title: 'Shared by the sessions',
  share: 5,
  build(about) {
    const keys = about.reader.list(SHARED_KIND, { all: true, limit: MAX_KEYS })
    if (keys.length === 0) return undefined
    about.vouched(keys.map((e) => e.id)) // all at once
    const items = keys.map((e): Item => {
      const value = JSON.stringify(e.fields[SHARED_FIELD] ?? null)
      return { id: e.id, text: `- ${plain(e.name, 80)} = ${plain(value, VALUE)} ${byline(e, about)}` }
    })
    return { items, beyond: about.howMany(SHARED_KIND) - items.length, see: 'discover (shared)' }
  },
}
