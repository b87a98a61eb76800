import { UserError } from '../../base/errors.ts'

/** Hosts that nobody listens in on the way to. */
const NEAR = ['localhost', '127.0.0.1', '[::1]']

export function hubUrl(text: string, insecure = false): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const protocol = { 'http:': 'ws:', 'ws:': 'ws:', 'https:': 'wss:', 'wss:': 'wss:' }[url?.protocol ?? '']
  if (!url || !protocol || url.username || url.search)
    throw new UserError('bad-hub', `${text} is no address of a hub`, 'give one such as https://hub.example.org')
  if (protocol === 'ws:' && !insecure && !NEAR.includes(url.hostname)) {
    const message = `${text} is not encrypted: others on the way could read the token and the knowledge`
    throw new UserError('insecure-hub', message, 'use https://, or --insecure in a network that you trust')
  }
  url.protocol = protocol
  return url
}
