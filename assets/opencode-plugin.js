import { spawn } from 'node:child_process'

const COMMAND = []
const WAIT = {}

function ask(event, said) {
  return new Promise((answer) => {
    let out = ''
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), 'hook', 'opencode', event], {
      cwd: said.directory,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const timer = setTimeout(() => child.kill('SIGKILL'), WAIT[event])
    child.on('error', () => answer({}))
    child.stdout.on('data', (part) => (out += part))
    child.stdin.on('error', () => {})
    child.on('close', () => {
      clearTimeout(timer)
      try {
        answer(JSON.parse(out) ?? {})
      } catch {
        answer({})
      }
    })
    child.stdin.end(JSON.stringify({ ...said, pid: process.pid }))
  }).catch(() => ({}))
}

export const Tidemark = async ({ directory }) => {
  const sessions = new Map()

  /** What is known of a session; Tidemark is told of it once, before anything else. */
  const session = (id, parentID) => {
    let known = sessions.get(id)
    if (!known) {
      known = { said: { sessionID: id, directory, ...(parentID ? { parentID } : {}) }, told: [] }
      sessions.set(id, known)
      known.started = ask('session.created', known.said).then((reply) => tell(known, reply))
    }
    return known
  }
  const tell = (known, reply) => {
    if (reply.context) known.told = [...known.told, reply.context].slice(-20)
    return reply
  }
  const usage = (known) => ({
    ...(known.tokens ? { tokens: known.tokens } : {}),
    ...(known.limit ? { limit: known.limit } : {}),
  })

  return {
    async event({ event }) {
      const about = event.properties ?? {}
      if (event.type === 'session.created' && about.info?.id) await session(about.info.id, about.info.parentID).started
      if (event.type === 'message.updated' && about.info?.role === 'assistant' && about.info.tokens)
        session(about.info.sessionID).tokens = about.info.tokens
      if (event.type === 'session.idle' && about.sessionID) {
        const known = session(about.sessionID)
        await ask('session.idle', { ...known.said, ...usage(known) })
      }
      if (event.type === 'session.deleted' && about.info?.id) {
        const known = session(about.info.id)
        sessions.delete(about.info.id)
        await ask('session.deleted', known.said)
      }
    },
    async 'chat.message'({ sessionID, agent }, { parts }) {
      const known = session(sessionID)
      await known.started
      const prompt = parts
        .filter((part) => part.type === 'text' && !part.synthetic)
        .map((part) => part.text)
        .join('\n')
      tell(known, await ask('chat.message', { ...known.said, ...usage(known), agent, prompt }))
    },
    async 'chat.params'({ sessionID, model }) {
      if (model?.limit?.context) session(sessionID).limit = model.limit.context
    },
    async 'experimental.chat.system.transform'({ sessionID }, { system }) {
      const known = sessionID && sessions.get(sessionID)
      if (known) system.push(...known.told)
    },
    async 'tool.execute.before'({ tool, sessionID, callID }, { args }) {
      const known = session(sessionID)
      const reply = tell(known, await ask('tool.execute.before', { ...known.said, tool, callID, args }))
      if (reply.permission === 'deny' || reply.permission === 'ask') throw new Error(reply.reason ?? 'Tidemark')
    },
    async 'tool.execute.after'({ tool, sessionID, callID, args }, result) {
      const known = session(sessionID)
      const { title, output, metadata } = result
      const reply = await ask('tool.execute.after', { ...known.said, tool, callID, args, title, output, metadata })
      if (reply.context && typeof output === 'string') result.output = `${output}\n\n${reply.context}`
    },
    async dispose() {
      await Promise.all([...sessions.values()].map((known) => ask('session.deleted', known.said)))
    },
    async 'shell.env'({ sessionID }, { env }) {
      if (sessionID) env.TIDEMARK_SESSION = sessionID
    },
    async 'experimental.session.compacting'({ sessionID }, { context }) {
      const known = session(sessionID)
      const reply = await ask('experimental.session.compacting', { ...known.said, ...usage(known) })
      if (reply.context) context.push(reply.context)
    },
  }
}
