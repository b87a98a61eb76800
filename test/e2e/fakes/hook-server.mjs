// An MCP server whose tool `hook` answers hooks: `node hook-server.mjs LOG`. Its tool `end` ends it.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const inputSchema = { type: 'object' }
const tools = ['hook', 'end'].map((name) => ({ name, description: name, inputSchema }))
const say = (answer) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...answer })}\n`)

/** What a hook is answered: an edit is refused if the event says so, everything else is told something. */
function answered({ event, refuses }) {
  const refusal = { permissionDecision: 'deny', permissionDecisionReason: 'REFUSED by the server' }
  return { hookEventName: event, ...(refuses ? refusal : { additionalContext: `TOLD at ${event}` }) }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    const { protocolVersion } = params
    say({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } })
  } else if (method === 'tools/list') say({ id, result: { tools } })
  else if (method === 'tools/call') {
    const { name, arguments: args } = params
    appendFileSync(process.argv[2], `${name} ${args.event ?? ''}\n`)
    const text = name === 'end' ? 'over' : JSON.stringify({ hookSpecificOutput: answered(args) })
    say({ id, result: { content: [{ type: 'text', text }] } })
    if (name === 'end') process.exit(1)
  } else if (id !== undefined) say({ id, result: {} })
}
