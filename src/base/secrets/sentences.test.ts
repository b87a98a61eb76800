import { expect, test } from 'vitest'
import { drawing } from '../../../bench/secrets-set.ts'
import { findSecrets, redact } from './find.ts'

const draw = drawing(77)
const letters = `${draw(1, 'lower')}${draw(15, 'ABCDEFGHabcdefghijkmnopqrstuvwxyz')}`
const word = draw(9, 'lower')
const chosen = `Harbor${draw(2, 'digit')}!${draw(3, 'lower')}`
const hex = draw(32, 'hex')

test.each([
  [`Host=db.acme.net;Port=5432;Database=crm;Username=app;Password=${letters};SSL Mode=Require;`, letters],
  [`"Server=sql01;Database=crm;User Id=sa;Pwd=${letters};"`, letters],
  [`Data Source=sql01;Initial Catalog=crm;User ID=sa;Password=${word}`, word],
  [`Password=${word};Server=sql01;Database=crm`, word],
  [`Driver={ODBC Driver 18};Server=sql01;Uid=sa;Pwd=${word};Encrypt=yes`, word],
  [`psql "host=db port=5432 user=app password=${letters} dbname=crm"`, letters],
])('[A7] [T51] in a connection string whatever stands there is the password: %s', (text, secret) => {
  expect(redact(text)).toBe(text.replace(secret, '[redacted: password]'))
})

test.each([
  `the password for the staging box is ${chosen}`,
  `The password of the admin account: ${chosen}`,
  `password for prod = ${chosen}, please rotate`,
  `the password on the old server was ${chosen}.`,
  `das Passwort ist ${chosen}`,
  `Das Passwort für den Testserver lautet ${chosen}.`,
  `la contraseña es ${chosen}`,
  `la contraseña del servidor es ${chosen}`,
  `la clave del admin es ${chosen}`,
  `le mot de passe est ${chosen}`,
  `le mot de passe de la base est ${chosen}`,
  `a senha do banco é ${chosen}`,
  `la password del server è ${chosen}`,
  `La parola d'ordine: vedi il wiki. parola: ${chosen}`,
  `het wachtwoord is ${chosen}`,
  `hasło do bazy: ${chosen}`,
  `heslo je ${chosen}`,
  `şifre: ${chosen}`,
  `пароль от сервера: ${chosen}`,
  `пароль администратора - ${chosen}`,
  `Пароль — ${chosen}`,
  `数据库密码是${chosen}`,
  `密码：${chosen}，请不要外传`,
  `パスワードは${chosen}です`,
  `DBのパスワード: ${chosen}`,
  `비밀번호는 ${chosen} 입니다`,
  `I set the admin password to ${chosen} yesterday`,
  `${chosen} is the root password`,
  `use \`${chosen}\` as the password.`,
  `admin / ${chosen}`,
  `the sa password is ${chosen}!`,
  `let's use sa / ${chosen}! to connect`,
  `credentials are admin/${chosen}`,
  `log in as admin / ${chosen} on staging`,
  `Login: ana@acme.dev / ${chosen}`,
  `creds: root:${chosen}`,
  `user ana password ${chosen}`,
  `логин: admin / ${chosen}`,
])('[A7] [T51] a password that people tell each other is known: %s', (text) => {
  expect(redact(text)).not.toMatch(new RegExp(`${chosen}|]!`))
})

test.each([
  [`machine api.acme.dev login ana password ${word}`, word],
  [`machine api.acme.dev\n  login ana\n  password ${word}\n`, word],
  [`default login anonymous password ${word}`, word],
  [`apikey ${hex}`, hex],
  [`our API key: ${hex}`, hex],
  [`the API key is ${hex}`, hex],
  [`code=4/0A${draw(60, 'url')}`, '4/0A'],
  [`"code": "4%2F0A${draw(60, 'url')}"`, '4%2F0A'],
])('[A7] [T51] and by where it stands: %s', (text, secret) => {
  expect(redact(text)).not.toContain(secret)
})

const wide = (text: string) => text.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0))
const token = `ghp_${draw(36)}`

test.each([
  ['full-width', wide(token)],
  ['with zero-width blanks', [...token].join('\u200b')],
  ['with a soft hyphen', `${token.slice(0, 9)}\u00ad${token.slice(9)}`],
  ['with a word joiner', `${token.slice(0, 3)}\u2060${token.slice(3)}`],
  [
    'bold',
    [...token].map((c) => (/[a-z]/.test(c) ? String.fromCodePoint(0x1d41a + c.charCodeAt(0) - 97) : c)).join(''),
  ],
])('[A7] [T50] a token in letters that look alike goes whole: %s', (_, written) => {
  expect(redact(`before ${written} after`)).toBe('before [redacted: GitHub token] after')
  expect(redact(`👩‍💻 naïve\u00a0：${written}，完`)).toBe('👩‍💻 naïve\u00a0：[redacted: GitHub token]，完')
})

test.each([
  `STRIPE_PUBLISHABLE_KEY=pk_live_${draw(24)}`,
  `stripeKey: "pk_live_${draw(99)}"`,
  `STRIPE_KEY=pk_test_${draw(24)}`,
  `RECAPTCHA_SITE_KEY=6L${draw(38)}`,
  `<div class="g-recaptcha" data-sitekey="6L${draw(38)}"></div>`,
  `recaptchaKey: "6L${draw(38)}"`,
  `SENTRY_DSN=https://${draw(32, 'hex')}@o${draw(6, 'digit')}.ingest.us.sentry.io/${draw(7, 'digit')}`,
  `dsn: "https://${draw(32, 'hex')}@sentry.acme.dev/12"`,
  `NEXT_PUBLIC_VAPID_PUBLIC_KEY=B${draw(86, 'url')}`,
  'the password for the staging box is in 1Password, vault "ops-2024"',
  'The password of the admin account: see the wiki page 4711',
  'a password of 12-character minimum is required',
  'the password for CI is stored in /etc/ci/secret2024.env',
  'the password for the demo is printed on page 12',
  'das Passwort ist falsch, siehe auth.ts:112',
  'пароль не подходит',
  '密码是必填项',
  'パスワードは8文字以上です',
  'roles: admin / editor / viewer',
  'see src/admin/user2fa.ts',
  'log in to https://acme.dev/app2024/home',
  'login page: admin/dashboard2024',
  'GitHub account acme/crm-2024',
  'the login is broken since v2.14.3',
  'machine account with login and password from 1Password',
  'GIT_SHA=9f8e7d6c5b4a39281706f5e4d3c2b1a098765432',
  'machine learning: login required, password optional',
  'reset the password to continue, then send the token to ana1@acme.dev',
  'is this the password?',
  'const a = host;b.password=input;c.server=d',
  'the password is "incorrect"',
  'the password is case-sensitive and end-to-end encrypted',
  'SHA256 is used as the password hash for db01',
  'API key: rotated on 2024-05-01',
  '- task: Docker@2\n  inputs:\n    command: login\n    containerRegistry: acme',
  `user.signingkey = ${draw(16, 'hex').toUpperCase()}`,
])('[A7] [T51] what may be shown, and what tells of a password, stays: %s', (text) => {
  expect(findSecrets(text)).toEqual([])
})

const plain = ['maple', 'window'].join('')
const figured = `Zaun${draw(2, 'digit')}-Koenig`

test.each([
  `bob, pw ${figured}, then restart`,
  `mdp ${figured}`,
  `senha ${figured}`,
  `пароль ${figured}`,
  `账号 admin 密码 ${figured}`,
  `ユーザー admin パスワード ${figured} で`,
  `le mot de passe c'est ${figured}`,
  `le mot de passe est « ${figured} »`,
  `das Passwort ist „${figured}“`,
  `密码是「${figured}」`,
  `Passwort geändert auf ${figured}`,
  `mudei a senha para ${figured}`,
  `сменил пароль на ${figured}`,
  `密码改成了${figured}`,
  `when sudo asks type ${figured}`,
  `when it asks for the passphrase, enter ${figured}`,
  `type ${figured} when prompted for the password`,
  `I changed the root password on the NAS to ${plain} yesterday`,
  `the admin password is ${plain}.`,
  `log in with user ops and password ${plain}`,
  `basic auth on the preview is demo:${plain}`,
  `user ana, password ${plain}`,
  `| host | user | password |\n|---|---|---|\n| db01 | root | ${plain} |`,
  `name,username,password\nwiki,ana,${figured}`,
  `| **Password** | \`${figured}\` |`,
  `<td>Password</td><td>${figured}</td>`,
  `**Password:** ${figured}`,
  `[DEBUG] using password "${plain}" for ana`,
])('[A7] [T51] a password is known by what a sentence or a table says of it: %s', (text) => {
  expect(redact(text)).not.toMatch(new RegExp(`${figured}|${plain}`))
})

test.each([
  `neues pw ist jetzt ${figured} falls du ran musst`,
  `changed the database password, now it's ${figured}`,
  `the password for the wiki is now ${plain}`,
  `${figured} as password when it asks`,
  `The password of the build box is:\n${figured}`,
  `The password of the build box is:\n\n  ${figured}\n`,
  `password is:\n${plain}`,
  `parola d'accesso al server: ${figured}`,
  `site:\n  name: ana\n  password: ${plain}\n`,
  `deploy_creds = 'ana:${figured}'`,
  `smtp://ana@acme.dev:${figured}@mail.acme.dev:465`,
  `log into the demo, its ana@acme.dev and then ${figured}`,
  `root/${figured} on 10.0.0.9`,
  `the secrets file:\nmirror:${figured}`,
  `login failed for ana, I used ${figured}`,
  `radius server a\n key 0 ${figured}`,
  `enter enable secret ${figured} then reload`,
  `gpg --passphrase '${plain.slice(0, 5)} ${plain.slice(5)} orchard' -d x`,
  `storePassword '${plain}'`,
  `INSERT INTO users (name, password) VALUES ('bob', '${plain}'), ('ana', '${figured}');`,
  `<table><tr><th>User</th><th>Password</th></tr><tr><td>ana</td><td><b>${figured}</b></td></tr></table>`,
])('[A7] [T51] also in other words, commands and tables: %s', (text) => {
  expect(redact(text)).not.toMatch(new RegExp(`${figured}|${plain}|orchard`))
})

const drawn = draw(40)
const seed = draw(32, 'base32')
const digits = draw(20, 'digit')
const words = 'gravel tackle pistol donkey lemon orbit wisdom clarify vendor crisp tilt aspect'

test.each([
  [`wifi is Home and the key is ${digits}`, digits],
  [`PIN for the e-token is ${digits.slice(0, 8)}`, digits.slice(0, 8)],
  [`passphrase is ${words.slice(0, 27)}`, words.slice(0, 27)],
  [`MNEMONIC="${words}"`, words],
  [`recovery code (the last one): 1a${draw(3, 'digit')}-c4${draw(3, 'digit')}x`, '-c4'],
  [`BitLocker: ${Array.from({ length: 8 }, () => draw(6, 'digit')).join('-')}`, '-'],
  [`curl -b 'connect.sid=s%3A${drawn}' x`, drawn],
  [`laravel_session=${drawn}`, drawn],
  [`x-internal-auth header must be ${drawn}`, drawn],
  [`le jeton est ${drawn}`, drawn],
  [`la clé API est ${drawn}`, drawn],
  [`APIキーは ${drawn}`, drawn],
  [`密钥：${drawn}`, drawn],
  [`token eingeben: ${drawn}`, drawn],
  [`https://acme.webhook.office.com/webhookb2/a@b/IncomingWebhook/${hex}/x`, hex],
  [`https://open.feishu.cn/open-apis/bot/v2/hook/${drawn}`, drawn],
  [`https://mm.acme.dev/hooks/${drawn}`, drawn],
  [`https://cal.acme.dev/ical/a/private-${hex}/basic.ics`, hex],
  [`config/master.key, content is ${hex}`, hex],
  [`the pin for the printer menu is ${digits.slice(0, 8)}`, digits.slice(0, 8)],
  [`Authorization: GenieKey ${drawn}`, drawn],
  [`co = acme.Client("${drawn}")`, drawn],
  [`It wants a PIN. Ours is ${digits.slice(0, 6)}; enter that`, digits.slice(0, 6)],
  [`TOTP seed for the shared account is ${seed}, make a code`, seed],
  [`the key for the maps is in this mail: ${hex}`, hex],
  [`Username\nana\nPassword\n${chosen}`, chosen],
])('[A7] [T51] and what else lets in: %s', (text, secret) => {
  expect(redact(text)).not.toContain(secret)
})

test.each([
  'signingPassword=System.getenv("X")',
  '$pw = Read-Host -AsSecureString "Password"',
  '$token = Get-AzAccessToken -ResourceUrl x',
  "password=os.environ['X']",
  'password=getpass()',
  'password=input("Password: ")',
  'token=secrets.token_hex(16)',
  'password: required|string|min:8',
  'I changed the password field to textarea',
  'reset the password to continue',
  'the password is alphanumeric',
  'passphrase is four plain words',
  'le mot de passe est obligatoire',
  '密码 必填',
  'when sudo asks type it in',
  'basic auth is enabled, see docs:security',
  '| Field | Type | Password |\n|---|---|---|\n| name | string | required |',
  '| password | string | The password of the user |',
  'const {username,password} = req.body',
  'connect PIN 13 to ground',
  'csrftoken=abcDEF123456ghiJKL789mnoPQR',
  'pass --verbose2 to it',
  'log in as admin and open settings/profile2',
  'The password is:\nsee the wiki page',
  'INSERT INTO users (name, password_hash) VALUES (?, ?)',
  '<table><tr><th>Field</th><th>Password</th></tr><tr><td>type</td><td>string</td></tr></table>',
  'variable "password_length" {\n  default = 16\n}',
])('[A7] [T51] a call, a cmdlet and what tells of a password stay: %s', (text) => {
  expect(findSecrets(text)).toEqual([])
})
