import { scan as scanTree } from '../../find/code/scan.ts'
import { many } from '../../session/briefing/format.ts'
import { defineTool, type Output } from './tool.ts'

export const scan = defineTool({
  name: 'scan',
  title: 'Scan the code',
  about: 'looks for files that changed since they were seen last, and marks what is recorded of changed code as stale',
  example: 'tidemark scan',
  async run({ memory, project, progress }): Promise<Output> {
    const { stale, ...counts } = await scanTree(memory, project, { progress })
    const lines = [`${many(counts.files, 'file')}: ${counts.changed} new or changed, ${counts.gone} gone`]
    if (stale.length > 0)
      lines.push(
        `stale now: ${stale.map((id) => memory.reader.entity(id)?.id ?? id).join(', ')}`,
        'tidemark review lists all that is stale',
      )
    return { text: lines.join('\n'), json: { ...counts, stale: [...stale] } }
  },
})
