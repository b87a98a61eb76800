/** What the page asks the server, and how it knows whether it may. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { createStore } from './store.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** A refusal, with what to do next. */
export class ApiError extends Error {
  readonly code: string
  readonly hint: string
  constructor(code: string, message: string, hint: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}

/** Something that is done only if the person says yes to exactly this. */
export class Asks extends Error {
  readonly question: string
  readonly agree: string
  constructor(question: string, agree: string) {
    super('the server asks')
    this.question = question
    this.agree = agree
  }
}

interface Here {
  project: { name: string; root: string }
  /** Whether a person on a terminal opened this page, who may decide here. */
  person: boolean
  /** How far the store had come: what the stream of events tells after it is news to this page. */
  cursor: number
}

export const here = createStore<Here | undefined>(undefined)
/** `out`: this browser was not let in, or no more. */
export const access = createStore<'in' | 'out'>('in')

/** Kept for this origin alone. The cookie goes to every port of this machine; this does not. */
const KEY = 'tidemark-page'

export const headers = (): Record<string, string> => ({
  'content-type': 'application/json',
  'x-tidemark-page': localStorage.getItem(KEY) ?? '',
})

/** Takes the one-time token out of the address before anything else sees it, and lets this browser in. */
export async function enter(): Promise<void> {
  const token = /^#open=([\w-]+)$/.exec(location.hash)?.[1]
  if (token !== undefined) {
    history.replaceState(null, '', location.pathname + location.search)
    const response = await fetch('/api/dashboard/open', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    if (response.ok) localStorage.setItem(KEY, ((await response.json()) as { page: string }).page)
  }
  await lookAround()
}

/** Asks where this is; the answer says as well whether this browser may know. */
export async function lookAround(): Promise<void> {
  const response = await fetch('/api/dashboard', { headers: headers() })
  if (response.status === 401) return access.set('out')
  here.set((await response.json()) as Here)
  access.set('in')
}

export type Answer<T> = { text: string; json: T }

/** Calls a tool, or what else is at a path. @throws ApiError, Asks */
export async function call<T = Json>(tool: string, args: object = {}, agreed?: string): Promise<Answer<T>> {
  let response: Response
  try {
    response = await fetch(tool.startsWith('/') ? tool : `/api/tools/${tool}`, {
      method: 'POST',
      headers: { ...headers(), ...(agreed === undefined ? {} : { 'x-tidemark-agreed': agreed }) },
      body: JSON.stringify(args),
    })
  } catch {
    throw new ApiError('stopped', 'The server does not answer.', 'Start it again in a terminal with `tidemark ui`.')
  }
  if (response.status === 401) access.set('out')
  const body = await response.json()
  if (response.ok) return body as Answer<T>
  if (response.status === 409 && body.asks) throw new Asks(body.asks.question, body.asks.agree)
  throw new ApiError(body.error.code, body.error.message, body.error.hint)
}

/** Grows with everything that happens in the store; pages that show what a tool says ask again. */
export const changes = createStore(0)

export type Asked<T> = { json?: T | undefined; error?: ApiError; again?: () => void }

/** A part of what a tool says. */
export const part = <T, U>(asked: Asked<T>, pick: (json: T) => U): Asked<U> => ({
  ...asked,
  json: asked.json && pick(asked.json),
})

/** The newest answer to each question, so that going back shows it at once. */
const answers = new Map<string, Answer<unknown>>()
const MOST_ANSWERS = 100

const underWay = new Map<string, Promise<Answer<unknown>>>()

/** What several parts of a page ask at once is asked once. */
function ask<T>(key: string, tool: string, args: object): Promise<Answer<T>> {
  const question = `${changes.get()} ${key}`
  const answer = underWay.get(question) ?? call(tool, args).finally(() => underWay.delete(question))
  underWay.set(question, answer)
  return answer as Promise<Answer<T>>
}

/** What a tool says, kept up to date. Without a tool nothing is asked. */
export function useTool<T = Json>(tool: string | undefined, args: object = {}, live = true): Asked<T> {
  const key = tool === undefined ? '' : `${tool} ${JSON.stringify(args)}`
  const [state, setState] = useState<{ key: string; answer?: Answer<T>; error?: ApiError }>({ key: '' })
  const [wish, setWish] = useState(0)
  const change = changes.use()
  const running = useRef<{ key: string; isLate: boolean } | undefined>(undefined)
  useEffect(() => {
    if (tool === undefined) return
    const now = running.current
    if (now?.key === key) {
      now.isLate = true // what is under way may have missed the change
      return
    }
    const run = { key, isLate: false }
    running.current = run
    const keepUp = async (): Promise<void> => {
      try {
        const answer = await ask<T>(key, tool, args)
        answers.delete(key)
        answers.set(key, answer)
        if (answers.size > MOST_ANSWERS) answers.delete(answers.keys().next().value!)
        if (running.current === run) setState({ key, answer })
      } catch (error) {
        if (running.current === run) setState((s) => ({ ...(s.key === key && s), key, error: error as ApiError }))
      }
      if (running.current !== run) return
      if (run.isLate) {
        run.isLate = false
        return keepUp()
      }
      running.current = undefined
    }
    void keepUp()
  }, [key, live ? change : 0, wish])
  useEffect(() => () => void (running.current = undefined), [])
  const answer = state.key === key ? (state.answer ?? answers.get(key)) : answers.get(key)
  return {
    json: answer?.json as T | undefined,
    error: state.key === key ? state.error : undefined,
    again: () => setWish((n) => n + 1),
  }
}
