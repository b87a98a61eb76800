import { expect, test } from 'vitest'
import { ACTORS, CHANGES, OWNERS, outcomeOf, STANDINGS } from './authority.ts'

test('[Y1] no agent and no writer makes, changes or takes away what binds or what a person said, whatever the change', () => {
  for (const who of ['agent', 'writer'] as const)
    for (const change of CHANGES.filter((c) => c !== 'release'))
      for (const whose of OWNERS) {
        expect(outcomeOf(change, who, whose, 'binding'), `${who} ${change} ${whose} binding`).toBe('proposed')
        if (change !== 'add')
          expect(outcomeOf(change, who, whose, 'confirmed'), `${who} ${change} ${whose}`).toBe('proposed')
      }
})

test('[Y1] what this store wrote is neither changed nor erased by another replica without a yes', () => {
  for (const change of CHANGES.filter((c) => c !== 'release' && c !== 'add'))
    for (const standing of STANDINGS) expect(outcomeOf(change, 'writer', 'here', standing), change).toBe('proposed')
})

test('[Y1] everybody works on what is their own and binds nobody; a person decides about all of it', () => {
  for (const change of CHANGES)
    for (const who of ACTORS) expect(outcomeOf(change, who, 'own', 'plain'), `${who} ${change}`).toBe('done')
  for (const change of CHANGES.filter((c) => c !== 'release'))
    for (const whose of OWNERS)
      for (const standing of STANDINGS) expect(outcomeOf(change, 'person', whose, standing)).toBe('done')
})

test('[X6] a lease is released by its holder alone', () => {
  for (const who of ACTORS)
    for (const whose of ['here', 'elsewhere'] as const)
      for (const standing of STANDINGS) expect(outcomeOf('release', who, whose, standing)).toBe('refused')
})
