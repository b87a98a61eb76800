import { readFileSync } from 'node:fs'
import { UsageError } from '../../../base/errors.ts'
import { findProject, refusePersonal } from '../../../engine/store/project.ts'
import { hubOf, keepHub } from '../../../engine/store/user-state.ts'
import { openProject } from '../../../project/open.ts'
import { refuseAgents } from '../ask.ts'
import type { Command } from '../command.ts'
import { tellHub } from './sync-told.ts'

export const join: Command = {
  name: 'join',
  about: 'exchanges the knowledge of this project with a hub from now on; the token is kept in your own state',
  usage: 'URL TOKEN|-',
  example: 'tidemark join https://hub.example.org -',
  flags: { insecure: { type: 'flag', about: 'also where the way to the hub is not encrypted' } },
  async run(call) {
    refuseAgents(call.directory)
    const [address, shown] = call.place
    if (address === undefined || shown === undefined)
      throw new UsageError('URL or TOKEN is missing', 'tidemark join URL TOKEN; - reads the token from stdin')
    const { hubUrl } = await import('../../../travel/sync/hub-url.ts')
    const { HubExchange } = await import('../../../travel/sync/hub-exchange.ts')
    const url = hubUrl(address, call.flags.insecure === true).href
    const token = shown === '-' ? readFileSync(0, 'utf8').trim() : shown
    if (!/^[\x21-\x7e]{1,200}$/.test(token)) throw new UsageError('that is no token', 'a token is one word')
    const project = findProject(call.directory)
    refusePersonal(project.root)
    using memory = openProject(project)
    using exchange = new HubExchange(memory, { url, token, member: '' })
    await exchange.start()
    const { member, role } = exchange
    keepHub(project.id, project.storePath, { url, token, member })
    call.out(`joined ${url} as ${member}, ${role} of ${project.id}`)
    await exchange.push()
    tellHub(call, exchange.out)
    call.out('`tidemark sync` exchanges with it; so does a session while it runs. `tidemark leave` ends that')
    return { json: { url, member, role, read: exchange.out.applied, pushed: exchange.out.pushed.length } }
  },
}

export const leave: Command = {
  name: 'leave',
  about: 'exchanges nothing with the hub any more, and forgets its token; what was exchanged stays where it is',
  example: 'tidemark leave',
  flags: {},
  async run(call) {
    const project = findProject(call.directory)
    const joined = hubOf(project.id, project.storePath)
    if (!joined) {
      call.out('this project has joined no hub')
      return { json: { left: null } }
    }
    keepHub(project.id, project.storePath)
    call.out(`left ${joined.url}; its token is forgotten here, and holds until it is revoked there`)
    return { json: { left: joined.url } }
  },
}
