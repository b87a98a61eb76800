import type { Entity } from '../../../model/entity.ts'
import { currentHandoffs } from '../current.ts'
import { fitHandoff, type Handoff, handoffOf, handoffPages, listsOf, parseHandoff } from '../page.ts'
import { isHalf, type Taken, type View } from './view.ts'

/** What a page leaves out of its handoff for its length: an edit of the page does not mean that. */
function withLeftOut(said: Handoff, there: Entity | undefined): Handoff {
  if (!there) return said
  const whole = handoffOf(there)
  const { shown } = fitHandoff(whole)
  const lists = listsOf((field) => [...said[field], ...whole[field].slice(shown[field].length)])
  const cut = (whole.body ?? '').slice((shown.body ?? '').length)
  return { ...said, ...lists, body: cut === '' ? said.body : `${said.body ?? ''}${cut}` }
}

/** handoff.md: where the work stands, newest first, each in the form of the concept paper. */
export const handoffView: View = {
  name: 'handoff.md',
  concerns: (news) =>
    news.events.some(({ event }) => ['handoff:', 'task:'].some((kind) => event.entity.startsWith(kind))),
  render: ({ memory, project }) =>
    currentHandoffs(memory, project)
      .map((h) => h.markdown)
      .join('\n'),
  read({ memory }, text, was) {
    if (isHalf(text, was)) return { actions: [], problems: ['it ends in the middle'] }
    const pages = (file: string) => handoffPages(file).map((page) => ({ page: page.trim(), said: parseHandoff(page) }))
    const before = pages(was)
    const gone = new Set(before.map((b) => b.said.title))
    const problems: string[] = []
    const actions: Taken[] = []
    for (const { page, said } of pages(text)) {
      if (!/^# session handoff/i.test(page)) {
        problems.push(`it is no handoff before its first "# Session Handoff": ${page.split('\n')[0]!.slice(0, 80)}`)
        continue
      }
      const title = said.title ?? (before.length === 1 ? before[0]!.said.title : undefined)
      gone.delete(title)
      if (before.find((b) => b.said.title === title)?.page === page) continue
      const there = title === undefined ? undefined : memory.reader.find(`handoff:${title}`)[0]
      const whole = said.left ? withLeftOut(said, there) : said
      const { body, contextUsed } = whole
      const args = { ...listsOf((field) => [...whole[field]]), title: title ?? 'current' }
      actions.push({
        action: ['write-handoff', { ...args, body: body || undefined, contextUsed: contextUsed || undefined }],
        says: `handoff "${args.title}"`,
      })
    }
    for (const title of gone) problems.push(`the handoff "${title}" was taken out: retire or delete-handoff does that`)
    return { actions, problems }
  },
}
