import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { acceptReviewers, reviewersNamed } from '../../src/engine/replication/reviewers.ts'
import { vouchedFor } from '../../src/engine/replication/vouched.ts'
import { publicKey } from '../../src/engine/store/keys.ts'
import { act, type Clone, elsewhere, give, team } from './clones.ts'

const RULE = [['record-fact', { fact: 'Never deploy on Fridays', category: 'workflow' }]]

/** Ana reviews what Ben records; what Mallory pushes is not wanted. */
function met() {
  const { clone } = team()
  const all = ['ana', 'ben', 'cid', 'mallory'].map((name) => clone(name)) as [Clone, Clone, Clone, Clone]
  const [ana, ben, cid, mallory] = all
  const share = (c: Clone) => elsewhere(c, () => c.share())
  const name = (reviewers: object) => {
    const path = join(cid.dir, '.tidemark/config.json')
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), reviewers }))
    cid.memory.close()
    cid.reopen()
    const { memory } = cid
    onTestFinished(() => memory.close())
  }
  ben.act(RULE)
  share(ben)
  for (const c of [ana, mallory]) share(c)
  const [rule] = ana.memory.reader.list('fact')
  const binds = () => {
    cid.git('stash', '-q')
    cid.pull()
    cid.git('stash', 'pop', '-q')
    cid.receive()
    return vouchedFor(cid.memory, [rule!.id]).has(rule!.id)
  }
  const confirm = (c: Clone) => {
    c.act([['confirm', { ref: rule!.id }]], { by: 'person' })
    share(c)
  }
  return { ana, mallory, cid, rule: rule!, share, name, binds, confirm, keyOf: (c: Clone) => elsewhere(c, () => publicKey(c.memory.projectId)!) } // biome-ignore format: one row
}

test('[M6] [T84] a reviewer’s confirmation counts once the person here has accepted the list, for those words alone', () => {
  const { ana, mallory, cid, rule, share, name, binds, confirm, keyOf } = met()
  const named = reviewersNamed({ ana: keyOf(ana) })
  expect(keyOf(ana)).not.toBe(keyOf(mallory))
  name(named)
  acceptReviewers(cid.memory.db, named)
  confirm(mallory)
  expect(binds()).toBe(false)
  elsewhere(ana, () => ana.share())
  confirm(ana)
  expect(binds()).toBe(true)
  // other words are not what she confirmed: hers go on binding, and the others wait
  share(mallory)
  mallory.act([['record-fact', { fact: rule.name, category: 'workflow', context: 'unless Mallory says so' }]])
  share(mallory)
  expect(binds()).toBe(true)
  expect(cid.memory.reader.entity(rule.id)!.fields.context).toBeUndefined()
  share(ana)
  confirm(ana)
  expect(binds()).toBe(true)
  expect(cid.memory.reader.entity(rule.id)!.fields.context).toBe('unless Mallory says so')
  ana.act([['retire', { ref: rule.id, reason: 'no longer' }]], { by: 'person' })
  share(ana)
  share(mallory)
  mallory.act([['restore', { ref: rule.id, reason: 'as before' }]], { by: 'person' })
  confirm(mallory)
  expect(binds()).toBe(false)
})

test('[M6] [T84] a list that came with a commit counts for nothing until it is accepted, and neither does a changed one', () => {
  const { ana, mallory, cid, name, binds, confirm, keyOf } = met()
  confirm(ana)
  const named = reviewersNamed({ ana: [keyOf(ana)] })
  name(named)
  expect(binds()).toBe(false)
  acceptReviewers(cid.memory.db, named)
  expect(binds()).toBe(true)
  name({ ...named, mallory: [keyOf(mallory)] })
  expect(binds()).toBe(false)
  name(named)
  expect(binds()).toBe(false)
  expect(reviewersNamed({ ana: 'short', 'b\nad': keyOf(ana), c: [1] })).toEqual({})
  expect(reviewersNamed('ana')).toEqual({})
})

test('[Y1] [T84] [T110] a reviewer who confirms my words does not agree to what others want of them by then', () => {
  const { clone } = team()
  const [ana, ben, mallory] = ['ana', 'ben', 'mallory'].map((name) => clone(name)) as [Clone, Clone, Clone]
  acceptReviewers(ana.memory.db, reviewersNamed({ ben: elsewhere(ben, () => publicKey(ben.memory.projectId)!) }))
  act(ana, RULE[0]!)
  give(ana, ben)
  give(ana, mallory)
  const [{ id } = { id: '' }] = ana.memory.reader.list('fact')
  act(mallory, ['record-fact', { ref: id, context: 'unless Mallory says so' }])
  give(mallory, ana)
  act(ben, ['confirm', { ref: id }])
  give(ben, ana)
  const context = () => ana.memory.reader.entity(id)!.fields.context
  expect(context()).toBeUndefined()
  expect(vouchedFor(ana.memory, [id]).has(id)).toBe(true)
  // to these words he has agreed
  give(mallory, ben)
  act(ben, ['confirm', { ref: id }])
  give(ben, ana)
  expect(context()).toBe('unless Mallory says so')
  ana.memory.compact(ana.clock.now + 60_000)
  expect(context()).toBe('unless Mallory says so')
  expect(vouchedFor(ana.memory, [id]).has(id)).toBe(true)
})
