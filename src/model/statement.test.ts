import { expect, test } from 'vitest'
import { isStatement } from './statement.ts'

test.each(['SESSION_TTL in src/auth.ts is 7200', 'The default of RETRIES = 3', 'login() returns null'])(
  '[W2] a value is stated: %s',
  (text) => expect(isStatement(text)).toBe(true),
)

test.each([
  'login() in src/auth.ts is frozen: ask before you touch it',
  'Direct calls of login() are forbidden',
  'Every change of login() has to be reviewed by 2 people',
  'No secret is logged in login()',
  'Retries must stay 3',
])('[W2] an order stays one: %s', (text) => expect(isStatement(text)).toBe(false))
