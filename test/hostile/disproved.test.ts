import { expect, test } from 'vitest'
import { acceptReviewers, reviewersNamed } from '../../src/engine/replication/reviewers.ts'
import { publicKey } from '../../src/engine/store/keys.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { holdsOf } from '../../src/find/recall/told.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { brief } from '../../src/surfaces/tools/brief.ts'
import { list } from '../../src/surfaces/tools/list.ts'
import { recall } from '../../src/surfaces/tools/recall.ts'
import { review } from '../../src/surfaces/tools/review.ts'
import { show } from '../../src/surfaces/tools/show.ts'
import { signals } from '../../src/surfaces/tools/signals.ts'
import { trace } from '../../src/surfaces/tools/trace.ts'
import { whatIfTool } from '../../src/surfaces/tools/what-if.ts'
import { replicaOf, sync } from '../briefing/helpers.ts'
import { openTestCode } from '../code/code.ts'
import { act, type Clone, elsewhere, team } from '../sync/clones.ts'

const COOKIES = 'decision:use-cookies'
const RULE = 'fact:always-use-pnpm-for-installs'
const link = (from: string, type: string, to: string, more: object = {}) => [
  'link-entities',
  { from, type, to, ...more },
]
const failed = (text: string) => ['record-result', { text, outcome: 'failed' }]
const wrong = (rightBelief: string) => ['record-correction', { wrongBelief: 'what was said', rightBelief }]
const idOf = (c: Clone, kind: string, word: string) =>
  c.memory.reader.list(kind, { all: true }).find((e) => JSON.stringify(e.fields).includes(word))!.id
const share = (...all: Clone[]) => {
  for (const c of all) elsewhere(c, () => c.share())
}

/** Ana decided; Mallory has seen it. */
function met() {
  const { clone } = team()
  const [ana, mallory] = [clone('ana'), clone('mallory')] as const
  act(
    ana,
    ['record-decision', { name: 'use-cookies', description: 'Sessions are kept in signed cookies', locations: ['src/db.ts'] }],
    ['record-decision', { name: 'use-sqlite', description: 'State is kept in one database file' }],
    ['record-fact', { fact: 'Always use pnpm for installs', category: 'workflow' }],
    ['record-failed-approach', { approach: 'Keep queues in cron', outcome: 'ran twice' }],
  ) // biome-ignore format: rows
  share(ana, mallory)
  return { ana, mallory, clone }
}

const run = (c: Clone, tool: { run(context: never, args: never): unknown }, args: object) =>
  tool.run({ memory: c.memory, project: findProject(c.dir), by: 'agent' } as never, args as never) as Promise<{ text: string; json: unknown }> // biome-ignore format: a row

/** What each channel says of what Ana stands by, with the marks in it. */
async function told(c: Clone): Promise<Record<string, string[]>> {
  const asked: [string, { run(context: never, args: never): unknown }, object][] = [
    ['brief', brief, {}],
    ['recall', recall, { text: 'Are sessions kept in signed cookies?', budget: 4000 }],
    ['show', show, { ref: COOKIES }],
    ['show rule', show, { ref: RULE }],
    ['list', list, { kinds: 'decision' }],
    ['review', review, {}],
    ['signals', signals, {}],
  ]
  const said: [string, string][] = []
  for (const [name, tool, args] of asked) {
    const { text, json } = await run(c, tool, args)
    said.push([name, `${text}\n${JSON.stringify(json).replaceAll('},{', '},\n{')}`])
  }
  for (const [event, more] of [
    ['session-start', { source: 'startup' }],
    ['prompt', { prompt: 'Are sessions kept in signed cookies?' }],
    ['before-edit', { tool: { name: 'Edit', paths: ['src/db.ts'] } }],
  ] as const) {
    const call = { client: 'claude', event, session: `s-${event}`, cwd: c.dir, ...more }
    said.push([event, (await respond(c.memory, findProject(c.dir), call as never, () => 60_000)).reply.context ?? ''])
  }
  const marks = /failed: |corrected: |contradicts [a-z]+:|disproved|rests on|may conflict/g
  return Object.fromEntries(
    said.flatMap(([name, text]) => {
      const ours = text
        .split('\n')
        .filter((l) => /use-cookies|signed cookies|pnpm|^ {2}\S/.test(l) && !l.includes('(correction'))
      const found = ours.flatMap((l) => l.match(marks) ?? [])
      return found.length > 0 ? [[name, found]] : []
    }),
  )
}

const outcome = async (c: Clone, ref: string) => (await run(c, whatIfTool, { ref })).json as { own: { outcome: string; because: unknown[] }; likely: string | null; outcomes: object } // biome-ignore format: a row

test('[Y1] [W1] [T123] a result or correction of others says nothing of what a person here stands by, in any channel', async () => {
  const { ana, mallory } = met()
  act(mallory, failed('Proxies refused them'), wrong('Use npm'))
  const [result, correction] = [idOf(mallory, 'result', 'Proxies'), idOf(mallory, 'correction', 'npm')]
  act(
    mallory,
    ...[link(COOKIES, 'led-to', result), link(COOKIES, 'caused', result), link(correction, 'corrects', COOKIES)],
    ...[link(correction, 'corrects', RULE), link(correction, 'contradicts', COOKIES)],
  )
  share(mallory, ana)
  expect(await told(ana)).toEqual({})
  expect(await outcome(ana, COOKIES)).toMatchObject({ own: { outcome: 'unknown', because: [] }, likely: null })
  // with a yes to the result and to the link, it is said
  const [led] = ana.memory.reader.links('from', COOKIES).filter((l) => l.type === 'led-to')
  act(ana, ['confirm', { ref: result }])
  expect(await told(ana)).toEqual({})
  act(ana, ['confirm', { ref: led!.id }])
  expect(Object.keys(await told(ana))).toEqual(expect.arrayContaining(['brief', 'show', 'recall', 'list']))
  expect(await outcome(ana, COOKIES)).toMatchObject({ own: { outcome: 'failed' } })
})

test('[Y1] [W1] [T123] a link of others between two things of one’s own says nothing of either', async () => {
  const { ana, mallory } = met()
  const cron = idOf(mallory, 'failed-approach', 'cron')
  act(
    mallory,
    ...[link(COOKIES, 'led-to', cron), link('decision:use-sqlite', 'corrects', COOKIES)],
    ...[link(COOKIES, 'conflicts-with', RULE), link('decision:use-sqlite', 'contradicts', COOKIES)],
  )
  share(mallory, ana)
  expect(await told(ana)).toEqual({})
  expect(await outcome(ana, COOKIES)).toMatchObject({ own: { outcome: 'unknown' } })
  // the same link said here counts
  act(ana, link(COOKIES, 'caused', cron))
  expect(holdsOf(ana.memory, ana.dir, [ana.memory.reader.entity(COOKIES)!]).get(COOKIES)!.disproved).toBe(
    'failed: Keep queues in cron',
  )
})

test('[Y1] [W1] what is proposed, rejected, retired or taken out says nothing; a result that others changed neither', async () => {
  const { ana, mallory } = met()
  const at = () => holdsOf(ana.memory, ana.dir, [ana.memory.reader.entity(COOKIES)!]).get(COOKIES)!.disproved
  const proposed = { standing: 'proposed' }
  act(ana, ['record-failed-approach', { approach: 'Cookies over 4 KB', outcome: 'refused', ...proposed }])
  const approach = idOf(ana, 'failed-approach', '4 KB')
  act(ana, link(COOKIES, 'led-to', approach))
  expect(at()).toBeUndefined()
  expect(await outcome(ana, COOKIES)).toMatchObject({ own: { outcome: 'unknown' } })
  act(ana, ['confirm', { ref: approach }])
  expect(at()).toBe('failed: Cookies over 4 KB')
  act(ana, ['retire', { ref: approach, reason: 'measured wrongly' }])
  expect(at()).toBeUndefined()
  expect(await outcome(ana, COOKIES)).toMatchObject({ own: { outcome: 'unknown' } })
  act(ana, wrong('Use headers'))
  const correction = idOf(ana, 'correction', 'headers')
  act(ana, link(correction, 'corrects', COOKIES, proposed))
  expect(at()).toBeUndefined()
  const [corrects] = ana.memory.reader.links('to', COOKIES).filter((l) => l.type === 'corrects')
  act(ana, ['reject', { ref: corrects!.id }])
  expect(at()).toBeUndefined()
  // a result that worked, which another replica turns into a failure
  act(ana, ['record-result', { text: 'Logins hold over restarts', outcome: 'success' }])
  const result = idOf(ana, 'result', 'restarts')
  act(ana, link(COOKIES, 'led-to', result))
  share(ana, mallory)
  act(mallory, ['record-result', { ref: result, outcome: 'failed' }])
  share(mallory, ana)
  expect(at()).toBeUndefined()
})

test('[Y1] [W1] what an accepted reviewer confirmed counts, and so does what others say of their own', () => {
  const { ana, mallory, clone } = met()
  const [ben, cid] = [clone('ben'), clone('cid')]
  share(ben)
  act(ben, failed('Proxies refused them'))
  act(ben, link(COOKIES, 'led-to', idOf(ben, 'result', 'Proxies')))
  act(mallory, ['record-decision', { name: 'use-files', description: 'Queues are files' }], failed('Disk was full'))
  act(mallory, link('decision:use-files', 'led-to', idOf(mallory, 'result', 'Disk')))
  share(ben, mallory, cid)
  const [led] = cid.memory.reader.links('from', COOKIES)
  act(cid, ['confirm', { ref: led!.to }], ['confirm', { ref: led!.id }])
  share(cid, ana)
  const at = (id: string) => holdsOf(ana.memory, ana.dir, [ana.memory.reader.entity(id)!]).get(id)!
  expect(at(COOKIES).disproved).toBeUndefined()
  expect(at('decision:use-files')).toMatchObject({ isUnverified: true, disproved: 'failed: Disk was full' })
  const key = elsewhere(cid, () => publicKey(cid.memory.projectId)!)
  acceptReviewers(ana.memory.db, reviewersNamed({ cid: [key] }))
  expect(at(COOKIES).disproved).toBe('failed: Proxies refused them')
})

test('[Y1] [W1] the link that another made counts once it is said here as well', () => {
  const { ana, mallory } = met()
  const cron = idOf(mallory, 'failed-approach', 'cron')
  act(mallory, link(COOKIES, 'led-to', cron))
  share(mallory, ana)
  act(ana, link(COOKIES, 'led-to', cron))
  const [holds] = holdsOf(ana.memory, ana.dir, [ana.memory.reader.entity(COOKIES)!]).values()
  expect(holds!.disproved).toBe('failed: Keep queues in cron')
  act(ana, ['record-result', { text: 'It held for a year', outcome: 'succeeded' }])
  act(ana, link(COOKIES, 'led-to', idOf(ana, 'result', 'year')))
  const [both] = holdsOf(ana.memory, ana.dir, [ana.memory.reader.entity(COOKIES)!]).values()
  expect(both!.disproved).toBe('mixed, failed: Keep queues in cron; but worked: It held for a year')
})

test('[Y1] [W5] [T123] failures of others are told as unverified, take no place of one’s own, and count for no likely outcome', async () => {
  const { ana, mallory } = met()
  act(ana, ['record-decision', { name: 'signed-cookies-for-carts', description: 'Carts are kept in signed cookies' }])
  const WORDS = 'ada bea cem dov eli fay gus hal ida jo kai lea'.split(' ')
  for (const w of WORDS)
    act(mallory, [
      'record-failed-approach',
      { approach: `Signed cookies ${w}1 ${w}2 ${w}3 ${w}4`, outcome: `lost ${w}3` },
    ])
  act(ana, ['record-failed-approach', { approach: 'Signed cookies are kept by proxies', outcome: 'no', standing: 'proposed' }]) // biome-ignore format: a row
  share(mallory, ana)
  const { text, json } = await run(ana, whatIfTool, { ref: COOKIES })
  expect(json).toMatchObject({ likely: null, outcomes: {} })
  expect(text).toContain('signed-cookies-for-carts')
  expect(text).not.toContain('kept by proxies')
  const lines = text.split('\n').filter((l) => l.includes('failed: lost'))
  expect(lines.length, text).toBeGreaterThan(5)
  for (const line of lines) expect(line).toContain('unverified')
  expect(text).toContain('Likely outcome: no evidence: all of that is unverified')
})

test('[W1] a proposed replacement is no replacement', () => {
  const { ana } = met()
  act(ana, ['record-decision', { name: 'use-jwt', description: 'Sessions are tokens' }])
  act(ana, ['supersede', { old: COOKIES, new: 'use-jwt' }])
  act(ana, link('decision:use-sqlite', 'supersedes', COOKIES, { standing: 'proposed' }))
  const { state, replacedBy } = holdsOf(ana.memory, ana.dir, [ana.memory.reader.entity(COOKIES)!]).get(COOKIES)!
  expect({ state, replacedBy }).toEqual({ state: 'superseded', replacedBy: ['decision:use-jwt'] })
})

test('[Y1] [G5] [T123] an exception of others excepts nothing from a rule here; one that is confirmed does', async () => {
  const { ana, mallory } = met()
  act(ana, ['record-decision', { name: 'install-with-npm', description: 'Use npm for installs' }])
  const says = async () => (await run(ana, signals, {})).text.includes('may conflict with rule')
  expect(await says()).toBe(true)
  share(ana, mallory)
  act(mallory, ['record-exception', { ruleBroken: RULE, justification: 'fine', scope: 'decision:install-with-npm' }])
  share(mallory, ana)
  expect(await says()).toBe(true)
  act(ana, ['confirm', { ref: idOf(ana, 'exception', 'fine') }])
  expect(await says()).toBe(false)
})

test('[Y1] [F1] [T123] a link of others makes nothing stale that somebody here stands by', async () => {
  const c = openTestCode({ 'src/auth.ts': 'export const SESSION_TTL = 7200\n' })
  const other = replicaOf(c)
  await c.record(
    ['record-decision', { name: 'session-ttl', description: 'Two hours', locations: ['src/auth.ts#SESSION_TTL'] }],
    ['record-decision', { name: 'use-cookies', description: 'Sessions are kept in signed cookies' }],
  )
  await c.scan()
  c.write('src/auth.ts', 'export const SESSION_TTL = 900\n')
  await c.scan()
  sync(c.memory, other)
  const rests = link(COOKIES, 'depends-on', 'decision:session-ttl')
  other.act([rests])
  sync(other, c.memory)
  const stale = () => holdsOf(c.memory, c.root, [c.memory.reader.entity(COOKIES)!]).get(COOKIES)!.stale
  expect(stale()).toBeUndefined()
  c.memory.act([rests], { by: 'person' })
  expect(stale()).toBe('rests on decision:session-ttl, which is stale')
})

test('[W1] show and trace say of a link and of what it leads to that it is proposed or of others', async () => {
  const { ana, mallory } = met()
  act(mallory, failed('Proxies refused them'))
  act(mallory, link(COOKIES, 'led-to', idOf(mallory, 'result', 'Proxies')))
  act(ana, link('decision:use-sqlite', 'supersedes', COOKIES, { standing: 'proposed' }))
  act(ana, link(COOKIES, 'supports', 'decision:use-sqlite'))
  share(mallory, ana)
  const { text } = await run(ana, show, { ref: COOKIES })
  expect(text).toMatch(/led-to → .*Proxies.*, unverified$/m)
  expect(text).toMatch(/superseded-by ← .*use-sqlite.*, proposed$/m)
  expect(text).toMatch(/supports → .*use-sqlite[^,]*$/m)
  expect((await run(ana, trace, { ref: COOKIES })).text).toMatch(
    /led to Proxies refused them {2}\(result, .*unverified\)/,
  )
})
