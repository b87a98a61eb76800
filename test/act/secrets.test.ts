import { describe, expect, test } from 'vitest'
import { openTestMemory, userError } from '../helpers.ts'

// put together here, so that no scanner takes this file for a leak
const SECRETS: [category: string, secret: string][] = [
  ['private key', ['-----BEGIN RSA PRIVATE', 'KEY-----\nMIIEowIBAAKCAQEA7bq\n-----END RSA PRIVATE KEY-----'].join(' ')],
  ['private key', ['-----BEGIN PRIVATE', 'KEY-----\nMIIEowIBAAKCAQEA7bq'].join(' ')],
  ['GitHub token', `ghp_${'a1B2'.repeat(9)}`],
  ['GitHub token', `github_pat_${'11ABCDEFG0'.repeat(4)}`],
  ['GitLab token', `glpat-${'x1Y2'.repeat(5)}`],
  ['AWS access key', `AKIA${'Q7XK2MN4PL9RST3V'}`],
  ['API key', `sk-${'proj-abc123DEF456ghi789'}`],
  ['Anthropic key', `sk-ant-api03-${'Zx9'.repeat(10)}`],
  ['Stripe key', `sk_live_${'4eC39HqLyjWDarjtT1zdp7dc'}`],
  ['Slack token', `xoxb-${'123456789012-abcdefghijkl'}`],
  ['Google API key', `AIza${'SyA1234567890abcdefghijklmnopqrstuv'}`],
  ['npm token', `npm_${'a1B2c3'.repeat(6)}`],
  ['Hugging Face token', `hf_${'abcDEF'.repeat(6)}`],
  ['JSON web token', `eyJ${'hbGciOiJIUzI1NiJ9'}.eyJzdWIiOiIxMjM0NSJ9.${'dozjgNryP4J3jVmNHl0w5N'}`],
  ['password', `password=${'correct-horse'}`],
  ['password', `DB_PASSWORD=${'hunter2hunter2'}`],
  ['credential', `aws_secret_access_key = ${'wJalrXUtnFEMI/K7MDENG/bPxRfiCYq7Lx2NvTe0'}`],
  ['credential', `"api_key": "${'0123456789abcdef'}"`],
  ['connection string', `postgres://admin:${'s3cretpw'}@db.internal:5432/app`],
  ['bearer token', `Authorization: Bearer ${'abcdefghij0123456789xyz'}`],
]

const PASS = [
  '10.0.0.1',
  'rotate api keys quarterly',
  'the password is asked for at login',
  'password: string',
  'password = process.env.DB_PASSWORD',
  'api_key: $API_KEY',
  'password: required on every call',
  'const password = req.body.password',
  'const password = getPassword()',
  'secret: none',
  'token refresh happens in sk-client.ts',
  'postgres://localhost:5432/app',
  'https://example.org/a?b=c',
  'commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b',
  'see https://user@example.org/x',
  'Bearer tokens are checked in src/auth.ts',
]

describe('[A7] secrets', () => {
  test.each(SECRETS)('[A7] %s is refused with its category and never echoed: %#', (category, secret) => {
    const m = openTestMemory()
    m.act([['record-principle', { name: 'p' }]])
    const places: unknown[] = [
      ['record-principle', { name: `a ${secret}` }],
      ['record-principle', { name: 'p', description: `before ${secret} after` }],
      ['record-principle', { name: 'p', evidence: ['fine', secret] }],
      ['record-principle', { name: 'p', attrs: { deep: { er: [secret] } } }],
      ['record-principle', { name: 'p', attrs: { [secret]: { inner: secret } } }],
      ['record-principle', { name: 'p', [secret]: 1 }],
      ['add-evidence', { ref: 'p', evidence: secret }],
      ['propose', { action: ['record-fact', { fact: secret }] }],
      ['define-kind', { name: 'k', about: secret, fields: { name: 'text' } }],
      ['retire', { ref: 'p', reason: secret }],
    ]
    for (const action of places) {
      const error = userError(() => m.act([action]))
      expect(error.code).toBe('secret')
      expect(error.message).toContain(`looks like a secret (${category})`)
      expect(JSON.stringify([error.message, error.hint, error.details])).not.toContain(
        JSON.stringify(secret).slice(1, -1),
      )
      m.refused([action])
    }
    const intent = userError(() => m.act({ intent: secret, actions: [['record-principle', { name: 'q' }]] }))
    expect(intent.code).toBe('secret')
    expect(intent.message).not.toContain(secret)
    const broken = userError(() => m.act({ actions: [[secret, 1]] }))
    expect(JSON.stringify([broken.message, broken.details])).not.toContain(JSON.stringify(secret).slice(1, -1))
    for (const { count } of m.memory.occurrences(secret)) expect(count).toBe(0)
  })

  test.each(SECRETS)('[A7] with redact, %s is stored as its category: %#', (category, secret) => {
    const m = openTestMemory()
    const done = m.act(
      {
        intent: `because of ${secret}`,
        actions: [
          ['record-principle', { name: 'p', description: `before ${secret} after`, attrs: { [secret]: [secret] } }],
          ['propose', { action: ['record-principle', { name: 'p', description: secret }] }],
        ],
      },
      { redact: true },
    )
    expect(done.notes.join('\n')).toContain(
      `description held a secret: "[redacted: ${category}]" is stored in its place`,
    )
    expect(JSON.stringify(done)).not.toContain(JSON.stringify(secret).slice(1, -1))
    expect(m.get('p')!.fields.description).toMatch(/^before .*\[redacted: /)
    m.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    for (const { count } of m.memory.occurrences(secret)) expect(count).toBe(0)
  })

  test('[A7] a key that says password makes its value one, and a value that says nothing passes', () => {
    const m = openTestMemory()
    const secret = 'correct-horse-battery'
    const record = ['record-learning', { title: 't', attrs: { db: { password: secret }, apiKey: secret } }]
    expect(m.refused([record]).map((p) => p.field)).toEqual(['attrs.db.password', 'attrs.apiKey'])
    m.act([record], { redact: true })
    expect(m.get('learning:t')!.fields.attrs).toEqual({
      db: { password: '[redacted: password]' },
      apiKey: '[redacted: credential]',
    })
    m.act([['record-learning', { title: 'u', attrs: { password: 'asked for at login', secret: 'none' } }]])
  })

  test('[A7] a secret is known where its name stands beside it: name and value, key and value, option and argument', () => {
    const m = openTestMemory()
    const secret = 'Zq0Xv9LmT4wRk7PbNc2Hd'
    const env = { name: 'DB_PASSWORD', value: secret }
    const field = (action: unknown) => m.refused([action as [string, object]]).map((p) => p.field)
    expect(field(['share-set', { key: 'db.password', value: secret }])).toEqual(['value'])
    expect(field(['share-set', { key: 'env', value: [env] }])).toEqual(['value.0.value'])
    expect(field(['share-append', { key: 'argv', value: ['mysql', '--password', secret] }])).toEqual(['value.2'])
    m.act({ redact: true, actions: [['share-set', { key: 'env', value: [env] }]] })
    for (const { count } of m.memory.occurrences(secret)) expect(count).toBe(0)
    m.act([
      ['share-set', { key: 'password.rules', value: 'at least twelve' }],
      [
        'share-set',
        {
          key: 'form',
          value: [
            { name: 'password', value: null },
            { name: 'user', value: 'ana-maria' },
          ],
        },
      ],
      ['share-append', { key: 'argv', value: ['--password', '--user', 'ana-maria'] }],
    ])
  })

  test('[A7] a batch may ask for redaction itself', () => {
    const m = openTestMemory()
    m.act({ redact: true, actions: [['record-fact', { fact: `the token is ghp_${'a1B2'.repeat(9)}` }]] })
    expect(m.discover('(map :fact (get-facts))')).toEqual(['("the token is [redacted: GitHub token]")'])
  })

  test.each(PASS)('[A7] %s passes', (text) => {
    const m = openTestMemory()
    m.act([['record-learning', { title: text, body: text, attrs: { [text]: text } }]])
    expect(m.get(`learning:${text}`)!.fields.body).toBe(text)
  })

  test('[A7] text inside <private> is never stored, wherever it stands', () => {
    const m = openTestMemory()
    const hidden = 'quetzalcoatl'
    const done = m.act({
      intent: `keep <private>${hidden}</private> out`,
      actions: [
        ['record-principle', { name: 'p', description: `seen <private>${hidden}</private> seen <PRIVATE>${hidden}` }],
        [
          'record-principle',
          {
            name: 'p',
            evidence: [`a <private>${hidden}\n${hidden}</private>`],
            attrs: { [`k<private>${hidden}</private>`]: 1 },
          },
        ],
      ],
    })
    expect(done.notes).toContain('text between <private> and </private> was left out')
    expect(m.get('p')!.fields).toMatchObject({ description: 'seen  seen', evidence: ['a'], attrs: { k: 1 } })
    for (const { count } of m.memory.occurrences(hidden)) expect(count).toBe(0)
    expect(m.memory.reader.search(hidden, 10)).toEqual([])
    expect(m.refused([['record-fact', { fact: `<private>${hidden}</private>` }]])).toMatchObject([{ field: 'fact' }])
  })
})
