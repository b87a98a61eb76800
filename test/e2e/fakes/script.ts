import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * What the model does next: it calls a tool, or says something and is content. `used` is how many tokens it reports;
 * `after` is what it waits for, while the client waits for it.
 */
export type Step = ({ call: string; input: object } | { say: string }) & { used?: number; after?: Promise<unknown> }

/** What a client asked of the model. */
export interface Request {
  readonly path: string
  readonly body: { readonly [key: string]: unknown }
  /** All of it, to look for what stands in it. */
  readonly text: string
}

export interface Model {
  readonly url: string
  /** Every request for which a step was taken, oldest first. */
  readonly turns: Request[]
  /** The others: what a client asks for its own purposes. */
  readonly aside: Request[]
  /** What it does after that. */
  next(...steps: Step[]): void
}

/** How a vendor's protocol is spoken. */
export interface Protocol {
  /** Whether the request is a turn of the agent, and not one that the client makes for itself. */
  isTurn(request: Request): boolean
  /** What a request that is no turn is answered. */
  aside(request: Request): string
  answer(response: ServerResponse, step: Step, number: number, request: Request): void
}

/**
 * A model on loopback that follows a script, one step for each turn; when the script is over it says "done". It keeps
 * everything that it was asked.
 */
export async function scripted(protocol: Protocol): Promise<Model> {
  const steps: Step[] = []
  const turns: Request[] = []
  const aside: Request[] = []
  let number = 0
  const server = createServer(async (incoming, response) => {
    let text = ''
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk
    let body = {}
    try {
      body = JSON.parse(text) as object
    } catch {}
    const request: Request = { path: incoming.url ?? '', body, text }
    const isTurn = protocol.isTurn(request)
    ;(isTurn ? turns : aside).push(request)
    const step: Step = isTurn ? (steps.shift() ?? { say: 'done' }) : { say: protocol.aside(request) }
    await step.after
    protocol.answer(response, step, ++number, request)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, turns, aside, next: (...more) => void steps.push(...more) }
}
