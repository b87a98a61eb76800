import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { saidAt } from '../../src/model/entity.ts'
import { brief } from '../../src/session/briefing/brief.ts'
import { openTestMemory } from '../helpers.ts'
import { lay, take, unplaced } from './helpers.ts'

const NYGARD = (title: string, status: string) => `# ${title}

Date: 2024-02-12

## Status

${status}

## Context

Money in floats drifts.

## Decision

We will keep amounts in cents.

## Consequences

Every boundary converts.
`
const MADR = `---
status: accepted
date: 2025-03-01
decision-makers: [ana, ben]
---
# Use SQLite for the store

## Context and Problem Statement

Sessions lose writes.

## Considered Options

* SQLite
* JSON files

## Decision Outcome

Chosen option: "SQLite", because no daemon is needed.

### Consequences

* Good, because one file is easy to copy
`

test('[A3] a decision log gives a decision for each dated section, with its day, reason and place; the same again writes nothing', async () => {
  const t = openTestMemory()
  const log =
    '# Decisions\n\n## 2026-05-03: Use pnpm\n\nInstalls are done with pnpm.\n\n**Why.** npm was slow.\n\n## 2026-06-01 — Ship on Fridays\n\nWe ship on Fridays.\n\n## Notes\n\nno decision\n'
  lay(t.dir, { 'DECISIONS.md': log })
  await take(t, 'decisions', 'DECISIONS.md')
  expect(t.get('Use pnpm')!.fields).toMatchObject({
    description: 'Installs are done with pnpm.',
    rationale: 'npm was slow.',
    validFrom: '2026-05-03',
    locations: ['DECISIONS.md:3'],
  })
  expect(t.memory.reader.list('decision').map((d) => d.name)).toEqual(['Ship on Fridays', 'Use pnpm'])
  const before = t.rows()
  expect((await take(t, 'decisions', 'DECISIONS.md')).batches).toEqual([])
  expect(t.rows()).toBe(before)
})

test('[G3] records in the form of Nygard and MADR keep status, day, options, people and what supersedes what', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/0001-floats.md': NYGARD('1. Keep money in floats', 'Superseded by [2. Cents](0002-cents.md)'),
    'adr/0002-cents.md': NYGARD('2. Keep money in cents', 'Accepted\n\nSupersedes [1. Floats](0001-floats.md)'),
    'adr/0003-sqlite.md': MADR,
    'adr/0004-later.md': NYGARD('4. Sign every commit', 'Proposed'),
    'adr/0005-no.md': NYGARD('5. Use a monorepo', 'Rejected'),
    'adr/0006-old.md': NYGARD('6. Support IE', 'Superseded by ADR-0099'),
    'adr/README.md': '# Records\n\nThis folder has our decisions.\n',
  })
  const report = await take(t, 'decisions', 'adr')
  expect(t.get('Keep money in floats')!.fields.status).toBe('superseded')
  expect(t.get('Keep money in cents')!.fields).toMatchObject({ validFrom: '2024-02-12', rationale: 'Money in floats drifts.', attrs: { consequences: 'Every boundary converts.' } }) // biome-ignore format: one record
  expect(t.get('Use SQLite for the store')!.fields).toMatchObject({
    description: 'Chosen option: "SQLite", because no daemon is needed.',
    optionsConsidered: ['SQLite', 'JSON files'],
    validFrom: '2025-03-01',
    attrs: { deciders: 'ana, ben', adr: 'adr/0003-sqlite.md' },
  })
  expect(t.get('Sign every commit')!.fields.standing).toBe('proposed')
  expect(t.get('Use a monorepo')!.fields.retired).toBe('rejected, says adr/0005-no.md')
  expect(unplaced(report)).toEqual([
    'adr/0006-old.md Superseded by ADR-0099 — no record of that number or file was read',
    'adr/README.md the page — neither a dated section nor a decision with status',
  ])
  const before = t.rows()
  expect((await take(t, 'decisions', 'adr')).batches).toEqual([])
  expect(t.rows()).toBe(before)

  lay(t.dir, { 'adr/0003-sqlite.md': MADR.replace('# Use SQLite for the store', '# Use one SQLite file') })
  await take(t, 'decisions', 'adr')
  expect(t.memory.reader.list('decision', { all: true }).filter((d) => /SQLite/.test(d.name))).toHaveLength(1)
})

test('[G3] a status and a day may stand in a table; a template and an overview are no decisions', async () => {
  const t = openTestMemory()
  const record = (title: string, status: string, day: string) =>
    `# ${title}\n\n| Metadata | Value |\n|---|---|\n| **Status** | ${status} |\n| **Date** | ${day} |\n\n## Decision\n\nWe do it.\n`
  lay(t.dir, {
    'adr/0001-logs.md': record('ADR-0001: Structured logs', 'Accepted', '2025-11-25'),
    'adr/0002-board.md': record('ADR-0002: A board', 'Proposed', '2025-11-26'),
    'adr/TEMPLATE.md': record('ADR-NNNN: [Title]', 'Proposed', 'YYYY-MM-DD'),
    'adr/README.md': '# Records\n\n## Decision\n\nHow we decide.\n',
  })
  await take(t, 'decisions', 'adr')
  const found = t.memory.reader
    .list('decision', { all: true })
    .map((e) => [e.name, e.fields.validFrom, e.fields.standing])
  expect(found.sort()).toEqual([
    ['A board', '2025-11-26', 'proposed'],
    ['Structured logs', '2025-11-25', undefined],
  ])
})

test('[W1] [F1] a decision that an import brought is as old as its own day, until somebody touches it', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'docs/adr/0001-cents.md': NYGARD('Keep amounts in cents', 'Accepted') })
  await take(t, 'decisions', 'docs/adr')
  const found = () => t.memory.reader.list('decision').find((d) => /cents/.test(d.name))!
  expect(new Date(saidAt(found())).toISOString().slice(0, 10)).toBe('2024-02-12')
  const told = () => brief(t.memory, t.project, { session: 'me' }).text
  expect(told()).toMatch(/cents.* \([^)]*, 2024-02-12[,)]/)
  t.memory.act([['record-decision', { ref: found().id, rationale: 'Floats drift.' }]], { by: 'person' })
  expect(saidAt(found())).toBe(found().updated)
})

test('[G3] a status is read behind a link, a sign or brackets', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/0001-a.md': NYGARD('1. Sell tea', '[Deprecated](https://shop.example)'),
    'adr/0002-b.md': NYGARD('2. Sell cups', '❌ Rejected'),
    'adr/0003-c.md': NYGARD('3. Sell pots', '🚧 Proposed'),
    'adr/0004-d.md': NYGARD('4. Sell spoons', '**[Proposed]**'),
  })
  await take(t, 'decisions', 'adr')
  expect(t.get('Sell tea')!.fields.status).toBe('deprecated')
  expect(t.get('Sell cups')!.fields.retired).toBe('rejected, says adr/0002-b.md')
  expect(t.get('Sell pots')!.fields.standing).toBe('proposed')
  expect(t.get('Sell spoons')!.fields.standing).toBe('proposed')
})

test('[G3] a dated amendment does not stand for its record', async () => {
  const t = openTestMemory()
  const record = (status: string) =>
    `# ADR-1: Count at night\n\n${status}**Date:** 2026-05-04\n\n## Decision\n\nAt ten.\n\n## 2026-05-06 Amendment\n\nAt nine on Sundays.\n`
  lay(t.dir, { 'adr/0001-night.md': record('**Status:** Proposed\n') })
  await take(t, 'decisions', 'adr')
  expect(t.memory.reader.list('decision', { all: true }).map((d) => d.name)).toEqual(['Count at night'])
  expect(t.get('Count at night')!.fields).toMatchObject({
    description: 'At ten.',
    standing: 'proposed',
    validFrom: '2026-05-04',
    attrs: { amendments: '2026-05-06 Amendment: At nine on Sundays.' },
  })
})

test('[G3] two records with one title are two decisions, and one may supersede the other', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/0005-names.md': NYGARD('5. Names', 'Accepted'),
    'adr/0006-names-again.md': NYGARD('6. Names', 'Accepted\n\nSupersedes ADR-0005').replace('cents', 'pence'),
  })
  const report = await take(t, 'decisions', 'adr')
  expect(unplaced(report)).toEqual([])
  expect(t.get('Names')!.fields.status).toBe('superseded')
  expect(t.get('Names (0006-names-again)')!.fields.description).toBe('We will keep amounts in pence.')
  const before = t.rows()
  expect((await take(t, 'decisions', 'adr')).batches).toEqual([])
  expect(t.rows()).toBe(before)
  await take(t, 'decisions', 'adr/0006-names-again.md') // read alone it is still the second one
  expect(t.get('Names')!.fields.description).toBe('We will keep amounts in cents.')
})

test('[G3] a day may have a section of its own, and the number of a record may stand behind letters', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/ADR-0007.md': '# ADR-7: Sell tea\n\n## Status\n\nSuperseded by ADR-8\n\n## Decision\n\nTea.\n',
    'adr/ADR-0008.md': '# ADR-8: Sell cups\n\n## Status\n\nAccepted\n\n## Date\n\n2026-02-03\n\n## Decision\n\nCups.\n',
  })
  expect(unplaced(await take(t, 'decisions', 'adr'))).toEqual([])
  expect(t.get('Sell tea')!.fields.status).toBe('superseded')
  expect(t.get('Sell cups')!.fields.validFrom).toBe('2026-02-03')
})

test('[G3] a record in another language keeps its parts; what has no place of its own is kept with it', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/0001-fila.md':
      '# ADR-0001: Fila no banco\n\n- **Status:** Aceito\n- **Data:** 2026-06-26\n\n## Contexto\n\nHá picos.\n\n## Decisão\n\nUma tabela serve de fila.\n\n## Consequências\n\nMais carga.\n',
    'adr/0002-cache.md': '# 2. Cache\n\nStatut : rejeté\n\n## Contexte\n\nLent.\n\n## Décision\n\nUn cache partagé.\n',
    'adr/0003-log.md': '# 3. 記録\n\n- ステータス: 承認済み\n\n## 決定\n\n一行ずつ書く。\n',
    'adr/0004-mail.md':
      '---\nstatus: accepted\n---\n<!-- lint off -->\n# Mail in batches\n\n## Decision Drivers\n\n* Few connections\n\n## Decision Outcome\n\nHourly.\n\n## Pros and Cons\n\nSlower.\n\n## Links\n\nSee RFC 5321.\n',
    'adr/0005-night.md':
      '---\n\n# 5. Count at night\n\nDate: 01.06.2020\n\n## Status\n\nAccepted\n\n---\n\n## Decision\n\nAt ten.\n',
  })
  await take(t, 'decisions', 'adr')
  expect(t.get('Fila no banco')!.fields).toMatchObject({
    ...{
      description: 'Uma tabela serve de fila.',
      rationale: 'Há picos.',
      validFrom: expect.stringContaining('2026-06-26'),
    },
    attrs: { consequences: 'Mais carga.' },
  })
  expect(t.get('Cache')!.fields).toMatchObject({ description: 'Un cache partagé.', rationale: 'Lent.' })
  expect(t.memory.reader.list('decision').map((e) => e.name)).not.toContain('Cache')
  expect(t.get('記録')!.fields.description).toBe('一行ずつ書く。')
  const mail = t.get('Mail in batches')!.fields
  expect(mail).toMatchObject({ description: 'Hourly.', rationale: '* Few connections' })
  expect(JSON.stringify(mail.attrs)).toMatch(/Pros and Cons: Slower\..*Links: See RFC 5321/)
  expect(t.get('Count at night')!.fields).toMatchObject({
    description: 'At ten.',
    validFrom: expect.stringContaining('2020-06-01'),
  })
})

test('[G3] a status that is no known word is named, and what it stands on is only proposed', async () => {
  const t = openTestMemory()
  const of = (title: string, status: string) => `# ${title}\n\n## Status\n\n${status}\n\n## Decision\n\nWe do it.\n`
  lay(t.dir, {
    'adr/0001-a.md': of('1. Sell tea', 'On hold'),
    'adr/0002-b.md': of('2. Sell cups', 'Zzz'),
    'adr/0003-c.md': of('3. Sell milk', 'Depreciated.'),
    'adr/0004-d.md': of('4. Sell jam', 'Abgelehnt'),
    'adr/0005-e.md': of('5. Sell salt', 'Superseded by a page elsewhere'),
    'adr/0006-f.md': of('6. Sell oil', 'Accepted, was proposed'),
  })
  const report = await take(t, 'decisions', 'adr')
  expect(unplaced(report)).toContain(
    'adr/0002-b.md status "Zzz" — no word for a status that is known here: taken in as proposed',
  )
  const { fields } = t.get('Sell tea')!
  expect([fields.standing, t.get('Sell cups')!.fields.standing]).toEqual(['proposed', 'proposed'])
  expect([t.get('Sell milk')!.fields.status, t.get('Sell salt')!.fields.status]).toEqual(['deprecated', 'deprecated'])
  expect(t.get('Sell oil')!.fields.standing).not.toBe('proposed')
  expect(t.memory.reader.list('decision').map((e) => e.name)).not.toContain('Sell jam')
})

test.each([
  ['Not yet accepted', 'proposed'],
  ['Awaiting approval', 'proposed'],
  ['Final draft', 'proposed'],
  ['Finally rejected', 'retired'],
  ['~~Accepted~~ Rejected', 'retired'],
  ['Decided against', 'proposed'],
  ['Agreed by all, pending rollout', 'active'],
  ['已批准', 'active'],
  ['To be decided', 'proposed'],
  ['Accepted?', 'proposed'],
  ['Accepted by the review board', 'active'],
  ['Active until replaced', 'active'],
  ['Final', 'active'],
  ['Obsolète', 'deprecated'],
])('[G3] a status says where a record stands by all its words: %s', async (status, stands) => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/0001-a.md': `# 1. Sell tea\n\nDate: early, then 2020-06-01, revised 03.04.2021\n\n## Status\n\n${status}\n\n## Proposal\n\nTea.\n\n## Decision makers\n\nAna\n\n## Outcome\n\nTea and cups.\n`,
  })
  await take(t, 'decisions', 'adr')
  const { fields } = t.get('Sell tea')!
  const { retired, standing } = fields
  expect(retired ? 'retired' : standing === 'proposed' ? 'proposed' : (fields.status ?? 'active')).toBe(stands)
  expect(fields).toMatchObject({ description: 'Tea and cups.', validFrom: expect.stringContaining('2020-06-01') })
})

test('[G3] the head of a table is no status', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/0001-a.md':
      '# 1. Sell tea\n\n| Status | Date | Author |\n|---|---|---|\n| Accepted | 2020-06-01 | Ana |\n\n## Decision\n\nTea.\n',
  })
  await take(t, 'decisions', 'adr')
  expect(t.get('Sell tea')!.fields.standing).not.toBe('proposed')
})

test('[G3] two sections of one meaning, and what is said of the options, are kept', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/0001-a.md':
      '# 1. Sell tea\n\n## Status\n\nAccepted\n\n## Context\n\nGuests are cold.\n\n## Problem\n\nCoffee is gone.\n\n## Proposal\n\nHerbs.\n\n## Decision\n\nTea.\n\n## Options\n\n* Tea\n* Milk\n\nMilk turns sour.\n',
  })
  await take(t, 'decisions', 'adr')
  const { fields } = t.get('Sell tea')!
  expect(fields).toMatchObject({ description: 'Tea.', optionsConsidered: ['Tea', 'Milk'] })
  const said = JSON.stringify(fields)
  for (const words of ['Guests are cold', 'Coffee is gone', 'Herbs', 'Milk turns sour']) expect(said).toContain(words)
  expect(said.split('Guests are cold')).toHaveLength(2)
})

test('[G3] headings within a section are told with what stands below them, and options may have sections', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/0001-a.md':
      '# 1. Sell tea\n\n## Status\n\nAccepted\n\nAmends [Sell oil](0007-oil.md)\n\n## Decision\n\n### 1. Buy Assam\n\nFrom Ana.\n\n### 2. Drop coffee\n\nAll of it.\n\n## Options\n\n### Tea\n\n- Good: warm\n\n### Milk\n\n- Bad: sour\n\n## Consequences\n\n### Positive\n\n- Warm guests\n\n### Negative\n\n- More cups\n\n## Changelog\n\n- 2020-07-01: Wording\n- 2020-06-01: Initial proposal\n',
    'adr/0002-b.md':
      '# 2. Sell cups\n\n## Decision\n\nYes.\n\n## Positive Consequences\n\nMoney\n\n## Negative Consequences\n\nShards\n',
  })
  await take(t, 'decisions', 'adr')
  const { fields } = t.get('Sell tea')!
  expect(fields).toMatchObject({
    description: '1. Buy Assam:\nFrom Ana.\n\n2. Drop coffee:\nAll of it.',
    optionsConsidered: ['Tea', 'Milk'],
    validFrom: expect.stringContaining('2020-06-01'),
    attrs: { consequences: 'Positive:\n- Warm guests\n\nNegative:\n- More cups' },
  })
  const more = JSON.stringify(fields.attrs)
  for (const words of ['Amends [Sell oil]', 'Good: warm', 'Bad: sour']) expect(more).toContain(words)
  const cups = t.get('Sell cups')!.fields.attrs as { consequences: string }
  expect(cups.consequences).toBe('Positive Consequences:\nMoney\n\nNegative Consequences:\nShards')
})

test('[G3] a page of decisions may number them', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'DECISIONS.md':
      '# Decisions\n\n## Shop\n\n### 1. Sell tea.\n\nIt is warm.\n\n### 2. Sell cups\n\nOf clay.\n\nThey break.\n',
  })
  await take(t, 'decisions', 'DECISIONS.md')
  expect(t.get('Sell tea')!.fields.description).toBe('It is warm.')
  expect(t.get('Sell cups')!.fields).toMatchObject({ description: 'Of clay.', rationale: 'They break.' })
})

test('[G3] a record that names another by its file is linked to it, once', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/0001-tea.md': '# 1. Sell tea\n\n## Status\n\nAccepted\n\n## Decision\n\nTea.\n',
    'adr/0002-cups.md':
      '# 2. Sell cups\n\n## Status\n\nAccepted\n\n## Decision\n\nFor [tea](0001-tea.md), see 0001-tea.md.\n',
    'adr/0003-mugs.md': '# 3. Sell mugs\n\n## Status\n\nSupersedes [2](0002-cups.md)\n\n## Decision\n\nMugs.\n',
    'adr/README.md': 'See 0001-tea.md.\n',
  })
  await take(t, 'decisions', 'adr')
  const links = t.memory.reader.list('relationship').map(({ fields: f }) => `${f.from} ${f.type} ${f.to}`)
  expect(links.sort()).toEqual([
    'decision:sell-mugs supersedes decision:sell-cups',
    'decision:sell-tea informs decision:sell-cups',
  ])
  expect((await take(t, 'decisions', 'adr')).batches).toEqual([])
})

test('[G3] records in reStructuredText are read as those in Markdown', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'docs/decisions/0001-tea.rst':
      '.. _ADR-1:\n\n1. Sell tea\n===========\n\nStatus\n------\n\n**Accepted** *2020-06-01*\n\nContext\n-------\n\nGuests are cold.\n\nDecisions\n---------\n\n1. Tea.\n',
  })
  await take(t, 'decisions', 'docs/decisions')
  expect(t.get('Sell tea')!.fields).toMatchObject({ description: '1. Tea.', rationale: 'Guests are cold.' })
  expect(t.get('Sell tea')!.fields.standing).not.toBe('proposed')
})

test('[G3] numbers make decisions only on a page without days; a list of options is not its sections; a part of a name is no name', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'DECISIONS.md': '# Decisions\n\n## 2026-06-01: Use Postgres\n\nFor jsonb.\n\n#### 1. MySQL\n\nRejected.\n',
    'docs/DECISIONS.md': '# Decisions\n\n## 2026-06-01\n\nA day.\n\n## 12-factor config\n\nAll of it.\n',
    'adr/0001-caching.md':
      '# 1. Caching\n\n## Decision\n\nYes.\n\n## Options\n\n* Redis\n* Files\n\n### Comparison\n\nRedis is quick.\n',
    'adr/0002-http.md': '# 2. HTTP\n\n## Decision\n\nSee http-0001-caching.md.\n',
  })
  for (const path of ['DECISIONS.md', 'docs/DECISIONS.md', 'adr']) await take(t, 'decisions', path)
  expect(
    t.memory.reader
      .list('decision')
      .map((e) => e.name)
      .sort(),
  ).toEqual(['Caching', 'HTTP', 'Use Postgres'])
  expect(t.get('Caching')!.fields.optionsConsidered).toEqual(['Redis', 'Files'])
  expect(t.memory.reader.list('relationship')).toEqual([])
})

test('[G3] a record may lie in a file that is called decision.md, and a number may have a dash behind it', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'adr/decision.md': '# Sell milk\n\n## Status\n\nAccepted\n\n## Decision\n\nCold.\n',
    'decision-log.md': '# Log\n\n## ADR-001 - Sell oil\n\nOf olives.\n',
  })
  for (const path of ['adr', 'decision-log.md']) await take(t, 'decisions', path)
  expect(t.get('Sell milk')!.fields.description).toBe('Cold.')
  expect(t.get('Sell oil')!.fields.description).toBe('Of olives.')
})

test('[G3] a number that two records have names neither, and the year of a day is no number', async () => {
  const t = openTestMemory()
  const record = (title: string, more = '') =>
    `# ${title}\n\n## Status\n\nAccepted\n\n## Decision\n\n${title}.${more}\n`
  lay(t.dir, {
    'adr/0005-tea.md': record('Sell tea'),
    'adr/0005-cups.md': record('Sell cups', ' As in ADR-5.'),
    'adr/0006-mugs.md': record('Sell mugs'),
    'adr/0007-jars.md': record('Sell jars', ' As in ADR-5 and ADR-6, after ADR 2024-01-15.'),
    'adr/2024-01-15-milk.md': record('Sell milk'),
  })
  await take(t, 'decisions', 'adr')
  const links = t.memory.reader.list('relationship').map(({ fields: f }) => `${f.from} ${f.type} ${f.to}`)
  expect(links).toEqual(['decision:sell-mugs informs decision:sell-jars'])
})

test('[G3] a record without a day is as old as its page in git, and a number names a record', async () => {
  const t = openTestMemory()
  const git = (day: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: t.dir,
      env: { ...process.env, GIT_AUTHOR_DATE: `${day}T10:00:00Z`, GIT_COMMITTER_DATE: `${day}T10:00:00Z` },
    })
  lay(t.dir, { 'adr/0003-cups.md': '# Sell cups\n\n## Status\n\nAccepted\n\n## Decision\n\nCups, as ADR-010 sells tea:\n\n| a | b |\n' }) // biome-ignore format: a row
  git('2024-03-01', 'init', '-q')
  git('2024-03-01', 'add', '.')
  git('2024-03-01', 'commit', '-qm', 'cups')
  lay(t.dir, { 'adr/0010-tea.md': '# Sell tea\n\n## Status\n\nAccepted\n\n## Decision\n\nTea.\n' })
  git('2024-05-01', 'add', '.')
  git('2024-05-01', 'commit', '-qm', 'tea')
  await take(t, 'decisions', 'adr')
  expect(t.get('decision:sell-cups')!.fields.validFrom).toBe('2024-03-01')
  expect(t.get('decision:sell-tea')!.fields.validFrom).toBe('2024-05-01')
  const links = t.memory.reader.links('from', 'decision:sell-tea')
  expect(links.map((l) => `${l.type} ${l.to}`)).toEqual(['informs decision:sell-cups'])
  const { text } = brief(t.memory, t.project)
  expect(text).toContain('Cups, as ADR-010 sells tea:')
  expect(text).not.toContain('| a |')
})

test('[G3] a record that was renamed in its folder is as old as by its first name; a month is a day of it', async () => {
  const t = openTestMemory()
  const git = (day: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: t.dir,
      env: { ...process.env, GIT_AUTHOR_DATE: `${day}T10:00:00Z`, GIT_COMMITTER_DATE: `${day}T10:00:00Z` },
    })
  const page = (title: string, date: string) =>
    `# ${title}\n\n${date}\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n`
  lay(t.dir, { 'adr/0001-cup.md': page('Sell cups', 'Cups.'), 'adr/0002-tea.md': page('Sell tea', 'Date: 2026-02 (Phase 3)') }) // biome-ignore format: a row
  lay(t.dir, { 'adr/0003-milk.md': page('Sell milk', 'Date: November 2024'), 'adr/0004-jam.md': page('Sell jam', '- **Date**: 3. May 2023') }) // biome-ignore format: a row
  git('2024-03-01', 'init', '-q')
  git('2024-03-01', 'add', '.')
  git('2024-03-01', 'commit', '-qm', 'cups')
  git('2024-05-01', 'mv', 'adr/0001-cup.md', 'adr/0001-cups.md')
  git('2024-05-01', 'commit', '-qm', 'plural')
  await take(t, 'decisions', 'adr')
  const dayOf = (name: string) => t.get(`decision:sell-${name}`)!.fields.validFrom
  expect(['cups', 'tea', 'milk', 'jam'].map(dayOf)).toEqual(['2024-03-01', '2026-02-01', '2024-11-01', '2023-05-03'])
})

test('[M6] of a record its title as written, whole sentences up to a list or table, and its file are told', async () => {
  const t = openTestMemory()
  const page = (title: string, said: string) =>
    `# ${title}\n\nDate: 2024-03-01\n\n## Status\n\nAccepted\n\n## Decision\n\n${said}\n`
  const long = 'a till that is far away from the door and never near it, '.repeat(5)
  lay(t.dir, {
    'adr/0001-cups.md': page(
      'Sell cups',
      'We sell **cups**. See [tea](0002-tea.md).\n\n| a | b |\n|---|---|\n| c | d |\n\nNobody knows.',
    ),
    'adr/0002-tea.md': page('Sell tea', 'We sell:\n\n- green tea, from\n  Assam\n- black tea\n'),
    'adr/0003-till.md': page('Move the till', `It moves to the left. It is ${long}.`),
    'adr/0004-records.md': page('Record architecture decisions', 'We write records.'),
  })
  await take(t, 'decisions', 'adr')
  const { text } = brief(t.memory, t.project)
  expect(
    text
      .split('\n')
      .filter((l) => l.startsWith('- '))
      .toSorted(),
  ).toEqual([
    '- Move the till: It moves to the left. … (adr/0003-till.md, 2024-03-01)',
    '- Record architecture decisions: We write records. (adr/0004-records.md, 2024-03-01)',
    '- Sell cups: We sell cups. See tea. … (adr/0001-cups.md, 2024-03-01)',
    '- Sell tea: We sell: green tea, from Assam; black tea (adr/0002-tea.md, 2024-03-01)',
  ])
  expect(text.split('\n').findLast((l) => l.startsWith('- '))).toContain('Record architecture decisions')
})

test('[G3] a day or a range in a page of decisions is no number of one', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'decisions.md': '# Decisions\n\n## 2024 - Q1\n\nTea.\n\n## 10 - 12 May\n\nCups.\n\n## ADR 3 - Sell milk\n\nMilk.\n' }) // biome-ignore format: a row
  await take(t, 'decisions', 'decisions.md')
  expect(t.memory.reader.list('decision').map((e) => e.name)).toEqual(['Sell milk'])
})
