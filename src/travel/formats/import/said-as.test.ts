import { describe, expect, test } from 'vitest'
import { actionOf, type SaidKind } from './said-as.ts'

const SENTENCES: Readonly<Record<SaidKind, readonly string[]>> = {
  'failed-approach': [
    'We tried optimistic locking and it lost updates',
    'We tried to cache tokens in the browser, but they leaked into the logs',
    'I tried out a bigger pool: connections ran out all the same',
    'We attempted a blue-green switch. The queue was drained twice',
    'We tried to always lock the row, but the importer deadlocked',
    'We gave up on snapshot tests because nobody read the diffs',
    'Caching at the edge did not work because prices change hourly',
    "Sharding by region didn't scale beyond four tenants",
    'The second read replica was a dead end',
    'Polling every second turned out too slow',
    'Wir haben versucht, die Tests parallel laufen zu lassen, aber sie hingen',
    'Wir haben Redis ausprobiert, aber es verlor Nachrichten',
    'Das Zwischenspeichern der Preise hat nicht funktioniert, weil sie sich stündlich ändern',
    'On a essayé le cache local, mais il perdait des commandes',
    "Nous avons tenté d'indexer la nuit et ça bloquait la caisse",
    'Probamos con un índice parcial, pero el planificador lo ignora',
    'Tentamos gravar em lote, mas a fila parou',
    'O cache de sessão não funcionou porque o balanceador alterna',
    '我们试过把缓存放在内存里，但是重启后全部丢失',
    'メモリキャッシュを試したが、再起動で消えた',
  ],
  decision: [
    'We decided to store prices as whole cents',
    'We chose SQLite over Postgres because nobody runs a server',
    'We picked Fastify over Express',
    "We've agreed on one invoice per order",
    "Let's use Valkey for sessions",
    "We're going with server-side rendering since the pages are static",
    'We settled on trunk-based work',
    'We switched from Jest to Vitest',
    'Decision: invoices are PDF only',
    'It was decided to drop Internet Explorer',
    'RabbitMQ was chosen over Kafka because two people know it',
    'Wir haben uns für SQLite entschieden, weil niemand einen Server pflegt',
    'Wir haben beschlossen, Rechnungen nur als PDF zu verschicken',
    'Lass uns Vite nehmen',
    'On a décidé de garder une seule base',
    'Nous avons choisi Fastify parce que Express dort',
    'Decidimos guardar los precios en céntimos',
    'Vamos a usar Valkey para las sesiones',
    'Escolhemos uma fatura por pedido',
    '我们决定使用一个数据库',
    '料金は税込みで保存することにした',
  ],
  fact: [
    'use pnpm',
    'We use pnpm',
    'pnpm, not npm',
    'Always run the linter before you push',
    'Never log card numbers',
    "Don't touch the generated clients",
    'Keep handlers below forty lines',
    'Commit messages in English',
    'Tabs, not spaces',
    'No default exports',
    'Only CI may publish',
    'Write a test first',
    'Ask Ana before you change the tax table',
    'In tests, mock the clock',
    'Please put new endpoints into the v2 router',
    'Remember that releases must be tagged',
    'Note: never edit src/auth.ts',
    'Every handler should return a Result',
    'From now on the changelog is written by hand',
    'src/model must not import from src/web',
    'You need to rebase before a merge',
    'Run the server from source',
    'Check that the cache is warm before a deploy',
    'Prices are whole cents, never use floats',
    'Use fake clocks, sleeping did not work',
    'Nie auf main pushen',
    'Verwende pnpm statt npm',
    'Preise nie als Gleitkommazahl speichern',
    'Jede Migration muss rückwärts laufen',
    'Toujours lancer les tests avant de pousser',
    'Il faut signer chaque commit',
    "N'utilise pas de nombres flottants",
    'Nunca subas a main sin revisión',
    'Hay que firmar cada commit',
    'Usa pnpm en vez de npm',
    'Sempre rode os testes antes do commit',
    'Não edite os clientes gerados',
    'Cada migração deve ter volta',
    '不要直接推送到主分支',
    '提交信息必须用英文',
    'コミットの前にテストを実行してください',
    '必ず型を書く',
  ],
  question: ['Should we use pnpm?', 'Did we decide to use pnpm?', '我们应该用 pnpm 吗？'],
  learning: [
    'The customer pays late',
    'Staging runs on box 3',
    'Orders are in the archive database',
    'The build takes four minutes',
    'Log files are in the data volume',
    'Test runs need two cores',
    'Release 4 is still on the old schema',
    'Deploys happen on Tuesdays',
    'The old importer never worked well',
    'We tried the new parser and it works',
    "We don't have a staging system",
    'The cache always returns the last price',
    'Sessions live in Valkey, not in Postgres',
    'The pickup window closes at noon',
    'login() in src/auth.ts takes 14 characters',
    'src/cart/total.ts rounds half up',
    'Der Kunde zahlt immer spät',
    'Die Kunden können nicht online zahlen',
    'Les commandes sont dans la base des archives',
    'El cliente paga tarde',
    'O servidor de teste fica na caixa 3',
    '订单在归档数据库里',
    '注文はアーカイブにある',
  ],
}

describe('the words of a sentence say what it is recorded as', () => {
  for (const [kind, sentences] of Object.entries(SENTENCES))
    test.each(sentences)(`${kind}: %s`, (sentence) => {
      const { kind: found, action } = actionOf(sentence)
      expect([found, action[0]]).toEqual([kind, `record-${kind}`])
    })
})

const FIELDS: readonly (readonly [said: string, args: object])[] = [
  [
    'We tried optimistic locking and it lost updates',
    { approach: 'optimistic locking', outcome: 'it lost updates' },
  ],
  [
    'We tried Redis, Kafka and NATS, but none kept the order',
    { approach: 'Redis, Kafka and NATS', outcome: 'none kept the order' },
  ],
  ['We tried a bigger pool\nThe server ran out of sockets', { approach: 'a bigger pool', outcome: 'The server ran out of sockets' }],
  ['Polling every second turned out too slow', { approach: 'Polling every second', outcome: 'turned out too slow' }],
  ['Wir haben Redis ausprobiert, aber es verlor Nachrichten', { approach: 'Redis', outcome: 'es verlor Nachrichten' }],
  ['On a essayé le cache local, mais il perd tout', { approach: 'le cache local', outcome: 'il perd tout' }],
  ['メモリキャッシュを試したが、再起動で消えた', { approach: 'メモリキャッシュ', outcome: '再起動で消えた' }],
  [
    'We decided to store prices as cents because floats lose some\nAna asked for it',
    {
      name: 'store-prices-as-cents',
      description: 'We decided to store prices as cents because floats lose some',
      rationale: 'floats lose some\nAna asked for it',
    },
  ],
  ['decided: postgres, because of jsonb', { name: 'postgres', description: 'decided: postgres, because of jsonb', rationale: 'jsonb' }],
  ['So long as v1 lives, never drop the old header', { fact: 'So long as v1 lives, never drop the old header', category: 'constraint' }],
  ['So called soft deletes are forbidden', { fact: 'So called soft deletes are forbidden', category: 'constraint' }],
  ['y axis labels must be in English', { fact: 'y axis labels must be in English', category: 'constraint' }],
  ['From now on never call os.Exit', { fact: 'never call os.Exit', category: 'constraint' }],
  ["Let's use Valkey", { name: 'valkey', description: "Let's use Valkey" }],
  ['Wir haben uns für SQLite entschieden', { name: 'sqlite', description: 'Wir haben uns für SQLite entschieden' }],
  [
    'Always run the linter before you push\nCI does it too',
    { fact: 'Always run the linter before you push', category: 'workflow', context: 'CI does it too' },
  ],
  ['use pnpm', { fact: 'use pnpm', category: 'tool' }],
  ['Never edit src/auth.ts', { fact: 'Never edit src/auth.ts', category: 'constraint' }],
  [
    'login() in src/auth.ts takes 14 characters\nsince the audit',
    { title: 'login() in src/auth.ts takes 14 characters', body: 'since the audit', locations: ['src/auth.ts#login'] },
  ],
  ['`src/a.ts:12-20` is slow, lib/b.py#Pool.take waits for it', { title: expect.any(String), locations: ['src/a.ts:12-20', 'lib/b.py#Pool.take'] }],
  ['Makefile and package.json have it twice.', { title: expect.any(String), locations: ['Makefile', 'package.json'] }],
  ['Node.js reads /etc/hosts, https://a.example/b.ts and example.com/c.html', { title: expect.any(String) }],
] // biome-ignore format: a list

test.each(FIELDS)('its parts stand in the fields of the kind: %s', (said, args) => {
  expect(actionOf(said).action[1]).toEqual(args)
})

test('a line that is too long stands whole in the context', () => {
  const said = `The harbour ${'is loud and '.repeat(50)}old`
  const { kind, action } = actionOf(said)
  expect(kind).toBe('learning')
  expect(action[1].body).toBe(said)
  expect(String(action[1].title)).toMatch(/^.{399}…$/)
})

test('a kind that was asked for has the same fields', () => {
  expect(actionOf('Postgres because two people know it', 'decision').action).toEqual([
    'record-decision',
    { name: 'postgres', description: 'Postgres because two people know it', rationale: 'two people know it' },
  ])
  expect(actionOf('Postgres', 'failed-approach').action[1]).toEqual({ approach: 'Postgres' })
  expect(actionOf('the customer pays late', 'fact').action[1]).toEqual({ fact: 'the customer pays late' })
})

test('what is secret or private is not taken apart: the gate sees all of it', () => {
  const secret = `password: ${'Zq0Xv9LmT4wRk7PbNc2Hd'}`
  for (const said of [
    `We tried the ${secret} and it was refused`,
    `We decided to use postgres://shop:${'correct-horse-7'}@db.example/orders because it is there`,
    'We decided <private>to buy\nthe harbour</private> in May',
  ]) {
    const args = actionOf(said).action[1]
    expect(Object.values(args)).toEqual([said])
  }
})
