import type { TestMemory } from './helpers.ts'

const DAY_MS = 86_400_000

/** An item of the fixture: the reference by which tests know it. */
interface Item {
  readonly id: string
  readonly name: string
}

export interface RecallFixture {
  /** Goals s1 to s3, tasks t1 to t4; t4 of s3 is the session's current task. */
  readonly goals: { readonly s1: string; readonly s2: string; readonly s3: string }
  readonly tasks: { readonly t1: string; readonly t2: string; readonly t3: string; readonly t4: string }
  readonly items: {
    readonly grantTypes: Item
    readonly useAuthorizationCode: Item
    readonly jwtHeader: Item
    readonly useHs256: Item
    readonly servicesValidate: Item
    readonly storeJwks: Item
    readonly middleware: Item
  }
}

/**
 * Three bodies of work: s1 learnt OAuth2 (t1) and JWT (t2) six months ago, s2 built
 * microservices (t3) three months ago, s3 is what the session `test` works on now (t4). Of "JWT validation" the
 * middleware says both words, four items one, the two on OAuth2 none. The clock ends where it stood.
 */
export function recallFixture(m: TestMemory): RecallFixture {
  const now = m.clock.now
  const at = <T>(daysAgo: number, body: () => T): T => {
    m.clock.now = now - daysAgo * DAY_MS
    return body()
  }
  const s1 = at(180, () => {
    const goal = m.library.goal('Implement OAuth2')
    const activity = goal.activity('authentication basics')
    const t1 = activity.task('Understand the OAuth2 flows')
    const grantTypes = t1.recordLearning('OAuth2 has four grant types; each fits another client')
    const useAuthorizationCode = t1.recordDecision('Use the authorization code grant for web clients')
    t1.complete()
    const t2 = activity.task('Understand signed tokens')
    const jwtHeader = t2.recordLearning('JWT: header, payload and signature, joined by dots')
    const useHs256 = t2.recordDecision('Use HS256 to sign each JWT')
    t2.complete()
    goal.complete('the login works')
    return { goal: goal.id, t1: t1.id, t2: t2.id, grantTypes, useAuthorizationCode, jwtHeader, useHs256 }
  })
  const s2 = at(90, () => {
    const goal = m.library.goal('Build microservices')
    const t3 = goal.activity('service authentication').task('Let services trust each other')
    const servicesValidate = t3.recordDecision('Services check each JWT on their own')
    const storeJwks = t3.recordLearning('Store the JWKS in a cache, so that a JWT is checked without the network')
    t3.complete()
    goal.complete()
    return { goal: goal.id, t3: t3.id, servicesValidate, storeJwks }
  })
  const s3 = at(0, () => {
    const goal = m.library.goal('Protect the gateway')
    const t4 = goal.activity('gateway').task('Write the gateway middleware')
    return { goal: goal.id, t4: t4.id, middleware: t4.recordAction('Implemented JWT validation middleware') }
  })
  return {
    goals: { s1: s1.goal, s2: s2.goal, s3: s3.goal },
    tasks: { t1: s1.t1, t2: s1.t2, t3: s2.t3, t4: s3.t4 },
    items: {
      grantTypes: s1.grantTypes,
      useAuthorizationCode: s1.useAuthorizationCode,
      jwtHeader: s1.jwtHeader,
      useHs256: s1.useHs256,
      servicesValidate: s2.servicesValidate,
      storeJwks: s2.storeJwks,
      middleware: s3.middleware,
    },
  }
}
