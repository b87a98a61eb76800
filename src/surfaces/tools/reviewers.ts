import { acceptReviewers, areAccepted, reviewersNamed } from '../../engine/replication/reviewers.ts'
import { publicKey } from '../../engine/store/keys.ts'
import { mustBePerson } from './person.ts'
import { defineTool } from './tool.ts'

export const reviewers = defineTool({
  name: 'reviewers',
  title: 'Reviewers',
  about:
    'whose confirmation counts here as if you had given it: those whom .tidemark/config.json names, once you accept them',
  example: 'tidemark reviewers',
  params: { accept: { type: 'flag', about: 'accept exactly those named now; asks you on the terminal' } },
  async run(context, { accept = false }) {
    const { memory, project } = context
    const named = reviewersNamed(project.reviewers)
    const lines = Object.entries(named).map(([name, keys]) => `${name}  ${keys.join(' ')}`)
    if (accept && lines.length > 0 && !areAccepted(memory.db, named)) {
      const ask = mustBePerson(context, 'decides whose confirmation counts', 'reviewers --accept')
      const question = `${lines.join('\n')}\nwhat they confirm will bind your sessions as if you had confirmed it. Accept them?`
      if (await ask(question)) {
        acceptReviewers(memory.db, named)
        memory.settleTrust()
      }
    }
    const isAccepted = lines.length > 0 && areAccepted(memory.db, named)
    const key = publicKey(memory.projectId) ?? null
    const standing = isAccepted
      ? 'you have accepted them; a change of the list asks again'
      : 'you have not accepted them: tidemark reviewers --accept'
    return {
      text: [
        ...(lines.length > 0 ? [...lines, standing] : ['.tidemark/config.json names no reviewers']),
        ...(key === null ? [] : [`your own key is ${key}`]),
      ].join('\n'),
      json: { named, accepted: isAccepted, key },
    }
  },
})
