// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are what others write
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The labelled set for the detection of secrets: texts with one secret each, and innocent texts. Tokens are drawn from
 * a seed, so that none stands in this repository. One half is for tuning the rules; the other was written before
 * the rules were, and is only ever measured. More are by authors who had not read the rules. The rules were mended with
 * `fresh`, then with `judged`, of which they found 92 % before, then with `another`, of which they found 91.8 % before,
 * then with `further`, of which they found 85.6 % before, then with `blind`, of which they found 93.9 % before (97.5 % of what
 * they found was one). Of `last` they found all, and 98.9 % of what they found was one, before two lines of it were mended. All
 * of it is invented.
 */
export interface Labelled {
  readonly half: Half
  /** What it is a case of. */
  readonly kind: string
  readonly text: string
  /** What must not be left of the text; absent in an innocent one. */
  readonly secret?: string
}

/** Sets in files, by authors who had not read the rules: `NAME.txt` below `bench/secrets/`. */
const WRITTEN = ['fresh', 'judged', 'another', 'further', 'blind', 'last'] as const
export type Half = 'tuned' | 'held back' | (typeof WRITTEN)[number]

/** A line of a file is JSON in base64, so that no scanner of a code host takes what is invented for a leak. */
function written(half: (typeof WRITTEN)[number]): readonly Labelled[] {
  const file = join(import.meta.dirname, 'secrets', `${half}.txt`)
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
  return lines.map((line) => {
    const { text, secret } = JSON.parse(Buffer.from(line, 'base64').toString()) as { text: string; secret?: string }
    return { half, kind: secret === undefined ? 'innocent' : text.slice(0, 60), text, ...(secret && { secret }) }
  })
}

/** Draws from a seed: `draw(20, 'a-z')`. */
type Draw = (length: number, alphabet?: string) => string

const SETS: Readonly<Record<string, string>> = {
  hex: '0123456789abcdef',
  HEX: '0123456789ABCDEF',
  digit: '0123456789',
  lower: 'abcdefghijklmnopqrstuvwxyz',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  base32: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  lowernum: 'abcdefghijklmnopqrstuvwxyz0123456789',
  alnum: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  url: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  b64: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  bech32: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
}

export function drawing(seed: number): Draw {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return (length, alphabet = 'alnum') => {
    const from = SETS[alphabet] ?? alphabet
    let out = ''
    for (let i = 0; i < length; i++) out += from[Math.floor(next() * from.length)]
    return out
  }
}

const uuid = (d: Draw) => `${d(8, 'hex')}-${d(4, 'hex')}-4${d(3, 'hex')}-${d(1, '89ab')}${d(3, 'hex')}-${d(12, 'hex')}`
const base64 = (text: string) => Buffer.from(text).toString('base64')
const part = (d: Draw, claims: object) => Buffer.from(JSON.stringify({ ...claims, jti: d(12) })).toString('base64url')
const jwt = (d: Draw) => `${part(d, { alg: 'HS256', typ: 'JWT' })}.${part(d, { sub: d(8, 'digit') })}.${d(43, 'url')}`
const lines = (d: Draw, n: number, width = 64) => Array.from({ length: n }, () => d(width, 'b64')).join('\n')
const pem = (d: Draw, what: string, n = 6) =>
  `-----BEGIN ${what}-----\n${lines(d, n)}\n${d(22, 'b64')}==\n-----END ${what}-----`

/** Tokens that say by themselves whose they are, with the variable that usually holds them. */
const TOKENS: readonly (readonly [issuer: string, variable: string, make: (d: Draw) => string])[] = [
  ['GitHub classic', 'GITHUB_TOKEN', (d) => `ghp_${d(36)}`],
  ['GitHub OAuth', 'GH_OAUTH', (d) => `gho_${d(36)}`],
  ['GitHub server', 'GH_TOKEN', (d) => `ghs_${d(36)}`],
  ['GitHub fine-grained', 'GITHUB_PAT', (d) => `github_pat_${d(22)}_${d(59)}`],
  ['GitLab', 'GITLAB_TOKEN', (d) => `glpat-${d(20, 'url')}`],
  ['GitLab runner', 'RUNNER_TOKEN', (d) => `glrt-${d(20, 'url')}`],
  ['GitLab deploy', 'CI_DEPLOY', (d) => `gldt-${d(20, 'url')}`],
  ['GitLab trigger', 'TRIGGER', (d) => `glptt-${d(40, 'hex')}`],
  ['AWS access key', 'AWS_ACCESS_KEY_ID', (d) => `AKIA${d(16, 'base32')}`],
  ['AWS temporary key', 'AWS_ACCESS_KEY_ID', (d) => `ASIA${d(16, 'base32')}`],
  ['Anthropic', 'ANTHROPIC_API_KEY', (d) => `sk-ant-api03-${d(93, 'url')}AA`],
  ['Anthropic OAuth', 'CLAUDE_CODE_OAUTH_TOKEN', (d) => `sk-ant-oat01-${d(93, 'url')}AA`],
  ['OpenAI project', 'OPENAI_API_KEY', (d) => `sk-proj-${d(74, 'url')}T3BlbkFJ${d(74, 'url')}`],
  ['OpenAI legacy', 'OPENAI_API_KEY', (d) => `sk-${d(20)}T3BlbkFJ${d(20)}`],
  ['OpenAI service', 'OPENAI_KEY', (d) => `sk-svcacct-${d(74, 'url')}T3BlbkFJ${d(74, 'url')}`],
  ['OpenRouter', 'OPENROUTER_API_KEY', (d) => `sk-or-v1-${d(64, 'hex')}`],
  ['DeepSeek', 'DEEPSEEK_API_KEY', (d) => `sk-${d(32, 'hex')}`],
  ['Groq', 'GROQ_API_KEY', (d) => `gsk_${d(52)}`],
  ['xAI', 'XAI_API_KEY', (d) => `xai-${d(80)}`],
  ['Replicate', 'REPLICATE_API_TOKEN', (d) => `r8_${d(37)}`],
  ['Perplexity', 'PPLX_KEY', (d) => `pplx-${d(48)}`],
  ['Hugging Face', 'HF_TOKEN', (d) => `hf_${d(34)}`],
  ['LangSmith', 'LANGSMITH_KEY', (d) => `lsv2_pt_${d(32, 'hex')}_${d(10, 'hex')}`],
  ['Pinecone', 'PINECONE', (d) => `pcsk_${d(6)}_${d(62)}`],
  ['Tavily', 'TAVILY', (d) => `tvly-dev-${d(32)}`],
  ['NVIDIA', 'NVIDIA', (d) => `nvapi-${d(64, 'url')}`],
  ['SendGrid', 'SENDGRID', (d) => `SG.${d(22, 'url')}.${d(43, 'url')}`],
  ['Slack bot', 'SLACK_BOT', (d) => `xoxb-${d(12, 'digit')}-${d(13, 'digit')}-${d(24)}`],
  ['Slack user', 'SLACK_USER', (d) => `xoxp-${d(12, 'digit')}-${d(12, 'digit')}-${d(12, 'digit')}-${d(32, 'hex')}`],
  ['Slack app', 'SLACK_APP', (d) => `xapp-1-A0${d(9, 'base32')}-${d(13, 'digit')}-${d(64, 'hex')}`],
  [
    'Slack webhook',
    'SLACK_HOOK',
    (d) => `https://hooks.slack.com/services/T${d(8, 'base32')}/B${d(10, 'base32')}/${d(24)}`,
  ],
  ['Discord bot', 'DISCORD', (d) => `MT${d(24)}.G${d(5, 'url')}.${d(38, 'url')}`],
  ['Discord webhook', 'DISCORD_HOOK', (d) => `https://discord.com/api/webhooks/1${d(18, 'digit')}/${d(68, 'url')}`],
  ['Telegram', 'TELEGRAM_BOT', (d) => `7${d(9, 'digit')}:AA${d(33, 'url')}`],
  ['Twilio key', 'TWILIO_SID', (d) => `SK${d(32, 'hex')}`],
  ['Mailgun', 'MAILGUN', (d) => `key-${d(32, 'hex')}`],
  ['Mailgun 2', 'MG', (d) => `${d(32, 'hex')}-${d(8, 'hex')}-${d(8, 'hex')}`],
  ['Mailchimp', 'MAILCHIMP', (d) => `${d(32, 'hex')}-us${d(1, '123456789')}`],
  ['Brevo', 'BREVO', (d) => `xkeysib-${d(64, 'hex')}-${d(16)}`],
  ['Resend', 'RESEND', (d) => `re_${d(8)}_${d(24)}`],
  ['PyPI', 'TWINE', (d) => `pypi-AgEIcHlwaS5vcmc${d(150, 'url')}`],
  ['npm', 'NPM', (d) => `npm_${d(36)}`],
  ['RubyGems', 'GEM_HOST', (d) => `rubygems_${d(48, 'hex')}`],
  ['crates.io', 'CARGO', (d) => `cio${d(32)}`],
  ['NuGet', 'NUGET', (d) => `oy2${d(43, 'lowernum')}`],
  ['Docker Hub', 'DOCKERHUB', (d) => `dckr_pat_${d(27, 'url')}`],
  ['Vault service', 'VAULT', (d) => `hvs.${d(92, 'url')}`],
  ['Vault batch', 'VAULT', (d) => `hvb.${d(140, 'url')}`],
  ['Terraform Cloud', 'TFE', (d) => `${d(14)}.atlasv1.${d(67)}`],
  ['DigitalOcean', 'DO', (d) => `dop_v1_${d(64, 'hex')}`],
  ['Databricks', 'DBX', (d) => `dapi${d(32, 'hex')}`],
  ['Shopify', 'SHOPIFY', (d) => `shpat_${d(32, 'hex')}`],
  ['Shopify shared', 'SHOPIFY', (d) => `shpss_${d(32, 'hex')}`],
  ['Stripe live', 'STRIPE', (d) => `sk_live_${d(24)}`],
  ['Stripe restricted', 'STRIPE', (d) => `rk_live_${d(99)}`],
  ['Stripe webhook', 'STRIPE_WH', (d) => `whsec_${d(32)}`],
  ['Square', 'SQUARE', (d) => `sq0atp-${d(22, 'url')}`],
  ['Square secret', 'SQUARE', (d) => `sq0csp-${d(43, 'url')}`],
  ['Plaid', 'PLAID', (d) => `access-production-${uuid(d)}`],
  ['Google API', 'GOOGLE', (d) => `AIza${d(35, 'url')}`],
  ['Google OAuth client', 'GOOGLE', (d) => `GOCSPX-${d(28, 'url')}`],
  ['Google access', 'GCP', (d) => `ya29.a0${d(160, 'url')}`],
  ['Firebase server', 'FCM', (d) => `AAAA${d(7, 'url')}:APA91b${d(134, 'url')}`],
  ['Azure AD client', 'AZ', (d) => `${d(3)}8Q~${d(34, 'url')}`],
  ['age', 'AGE', (d) => `AGE-SECRET-KEY-1${d(58, 'bech32')}`],
  ['New Relic', 'NR', (d) => `NRAK-${d(27, 'base32')}`],
  ['Grafana service', 'GRAFANA', (d) => `glsa_${d(32)}_${d(8, 'hex')}`],
  ['Grafana cloud', 'GRAFANA', (d) => `glc_${base64(`{"o":"${d(6, 'digit')}","n":"${d(10)}","k":"${d(24)}"}`)}`],
  ['Figma', 'FIGMA', (d) => `figd_${d(40, 'url')}`],
  ['Linear', 'LINEAR', (d) => `lin_api_${d(40)}`],
  ['Notion', 'NOTION', (d) => `ntn_${d(11, 'digit')}${d(35)}`],
  ['Notion old', 'NOTION', (d) => `secret_${d(43)}`],
  ['Atlassian', 'JIRA', (d) => `ATATT3xFfGF0${d(180, 'url')}=${d(8, 'HEX')}`],
  ['Bitbucket', 'BITBUCKET', (d) => `ATBB${d(32)}`],
  ['Asana', 'ASANA', (d) => `2/${d(16, 'digit')}/${d(16, 'digit')}:${d(32, 'hex')}`],
  ['Airtable', 'AIRTABLE', (d) => `pat${d(14)}.${d(64, 'hex')}`],
  ['HubSpot', 'HUBSPOT', (d) => `pat-na1-${uuid(d)}`],
  ['Supabase', 'SUPABASE', (d) => `sbp_${d(40, 'hex')}`],
  ['Supabase secret', 'SUPABASE', (d) => `sb_secret_${d(22, 'url')}_${d(8, 'url')}`],
  ['Vercel', 'VERCEL', (d) => `vcp_${d(56)}`],
  ['Netlify', 'NETLIFY', (d) => `nfp_${d(36)}`],
  ['Heroku', 'HEROKU', (d) => `HRKU-AA${d(58, 'url')}`],
  ['Fly', 'FLY', (d) => `FlyV1 fm2_${d(200, 'b64')}`],
  ['Doppler', 'DOPPLER', (d) => `dp.pt.${d(43)}`],
  ['Doppler service', 'DOPPLER', (d) => `dp.st.prd.${d(43)}`],
  ['Sentry user', 'SENTRY', (d) => `sntryu_${d(64, 'hex')}`],
  ['Sentry org', 'SENTRY', (d) => `sntrys_eyJpYXQiOjE3${d(120)}_${d(43)}`],
  ['Mapbox', 'MAPBOX', (d) => `sk.eyJ1Ijoi${d(60)}.${d(22, 'url')}`],
  ['Postman', 'POSTMAN', (d) => `PMAK-${d(24, 'hex')}-${d(34, 'hex')}`],
  ['Pulumi', 'PULUMI', (d) => `pul-${d(40, 'hex')}`],
  ['SonarQube', 'SONAR', (d) => `sqp_${d(40, 'hex')}`],
  ['LaunchDarkly', 'LD', (d) => `sdk-${uuid(d)}`],
  ['Tailscale', 'TS', (d) => `tskey-auth-k${d(11)}CNTRL-${d(32)}`],
  ['PlanetScale', 'PSCALE', (d) => `pscale_pw_${d(43, 'url')}`],
  ['Dynatrace', 'DT', (d) => `dt0c01.${d(24, 'base32')}.${d(64, 'base32')}`],
  ['Buildkite', 'BK', (d) => `bkua_${d(40, 'hex')}`],
  ['CircleCI', 'CCI', (d) => `CCIPAT_${d(22)}_${d(40, 'hex')}`],
  ['Contentful', 'CTF', (d) => `CFPAT-${d(43, 'url')}`],
  ['OpenShift', 'OC', (d) => `sha256~${d(43, 'url')}`],
  ['Sourcegraph', 'SRC', (d) => `sgp_${d(16, 'hex')}_${d(40, 'hex')}`],
  ['PostHog', 'PH', (d) => `phx_${d(47)}`],
  ['1Password', 'OP', (d) => `ops_eyJ${d(240, 'b64')}`],
  ['Artifactory', 'ART', (d) => `AKCp${d(69)}`],
  ['Typeform', 'TF', (d) => `tfp_${d(44, 'url')}_${d(14)}`],
  ['Prefect', 'PREFECT', (d) => `pnu_${d(36)}`],
  ['Shippo', 'SHIPPO', (d) => `shippo_live_${d(40, 'hex')}`],
  ['JWT', 'SESSION', jwt],
  ['ElevenLabs', 'EL', (d) => `sk_${d(48, 'hex')}`],
  ['Langfuse', 'LF', (d) => `sk-lf-${uuid(d)}`],
  ['AWS Bedrock', 'AWS_BEARER_TOKEN_BEDROCK', (d) => `ABSK${d(128, 'b64')}=`],
]

/** How a developer writes a token down: `x` is the token, `v` the name of a variable. */
type Context = (x: string, v: string, d: Draw) => string

const TUNED_CONTEXTS: readonly Context[] = [
  (x) => `use ${x} for the staging deploy`,
  (x, v) => `${v}=${x}`,
  (x, v) => `export ${v}="${x}"`,
  (x, v) => `{"${v.toLowerCase()}": "${x}"}`,
  (x) => `The CI was failing because the token (${x}) had expired.`,
  (x, v) => `env:\n  - name: ${v}\n    value: ${x}\n`,
  (x) => `curl -H 'Authorization: Bearer ${x}' https://api.example.com/v1/me`,
  (x) => `2026-03-02T10:11:12Z ERROR auth failed for key ${x}: 401`,
  (x, v) => `const ${v.toLowerCase()} = '${x}'; // remove before merge`,
  (x, v) => `+${v}=${x}\n-${v}=\n`,
  (x) => `I tried \`${x}\` and it works.`,
  (x, v) => `docker run -e ${v}=${x} app:latest`,
]

const HELD_CONTEXTS: readonly Context[] = [
  (x) => `Remember: our key is ${x}.`,
  (x, v) => `# production\n${v}='${x}'\nPORT=3000\n`,
  (x, v) => `${v}: ${x}   # rotated in May`,
  (x) => `requests.get(url, headers={"X-Api-Key": "${x}"})`,
  (x) => `- [ ] revoke "${x}", it was posted in the channel`,
  (x, v) => `resource "x" "y" {\n  ${v.toLowerCase()} = "${x}"\n}`,
  (x) => `client = Client("${x}")`,
  (x) => `GET /v1/items?api_key=${x}&page=2 HTTP/1.1`,
  (x, v) => `@@ -1,2 +1,2 @@\n port: 80\n+${v.toLowerCase()}: "${x}"`,
  (x) => `[info] loaded credentials: ${x}, region eu-west-1`,
  (x, v) => `setx ${v} ${x}`,
  (x) => `<add key="ServiceKey" value="${x}" />`,
  (x) => `deploy with\n\n    ${x}\n\nand tell ops.`,
]

type Whole = readonly [kind: string, make: (d: Draw) => readonly [text: string, secret: string]]

/** A password as people choose them. */
const chosen = (d: Draw) =>
  `${['Winter', 'falcon', 'Tr0ub4dor', 'Mango', 'quartz', 'blueHorse'][Number(d(1, '012345'))]}${d(1, '!#%-_')}${d(3, 'digit')}${d(2, 'lower')}`

const with_ = (secret: string, text: (s: string) => string): readonly [string, string] => [text(secret), secret]

const TUNED_WHOLES: readonly Whole[] = [
  [
    'RSA key',
    (d) => with_(lines(d, 8), (s) => `-----BEGIN RSA PRIVATE KEY-----\n${s}\n-----END RSA PRIVATE KEY-----\n`),
  ],
  [
    'OpenSSH key',
    (d) =>
      with_(
        lines(d, 6, 70),
        (s) => `id_ed25519:\n-----BEGIN OPENSSH PRIVATE KEY-----\n${s}\n-----END OPENSSH PRIVATE KEY-----`,
      ),
  ],
  [
    'key in JSON',
    (d) =>
      with_(
        d(120, 'b64'),
        (s) =>
          `{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n${s}\\n-----END PRIVATE KEY-----\\n"}`,
      ),
  ],
  [
    'PGP key',
    (d) =>
      with_(
        lines(d, 5),
        (s) => `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${s}\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----`,
      ),
  ],
  ['key cut off', (d) => with_(lines(d, 4), (s) => `cat key.pem\n-----BEGIN EC PRIVATE KEY-----\n${s}`)],
  [
    'PuTTY key',
    (d) =>
      with_(
        lines(d, 3),
        (s) =>
          `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: me\nPublic-Lines: 2\nAAAAC3NzaC1lZDI1NTE5\nAAAAIB\nPrivate-Lines: 3\n${s}\nPrivate-MAC: ${d(64, 'hex')}`,
      ),
  ],
  ['password in env', (d) => with_(chosen(d), (s) => `DB_PASSWORD=${s}`)],
  ['password in YAML', (d) => with_(chosen(d), (s) => `database:\n  user: app\n  password: ${s}\n  host: db`)],
  ['password in JSON', (d) => with_(chosen(d), (s) => `{"user": "app", "password": "${s}", "port": 5432}`)],
  ['password in code', (d) => with_(chosen(d), (s) => `conn = psycopg2.connect(host="db", password="${s}")`)],
  ['password in prose', (d) => with_(chosen(d), (s) => `the staging password is ${s}, ask ops for prod`)],
  [
    'postgres URL',
    (d) => with_(chosen(d).replace('#', ''), (s) => `DATABASE_URL=postgres://app:${s}@db.internal:5432/app`),
  ],
  [
    'mongo URL',
    (d) => with_(d(16), (s) => `mongodb+srv://root:${s}@cluster0.${d(5, 'lower')}.mongodb.net/prod?retryWrites=true`),
  ],
  ['redis URL', (d) => with_(d(24), (s) => `cache: rediss://default:${s}@eu1-${d(6, 'lower')}.upstash.io:6379`)],
  ['git URL', (d) => with_(d(28), (s) => `git clone https://oauth2:${s}@git.acme.dev/team/app.git`)],
  [
    'ADO.NET',
    (d) =>
      with_(chosen(d), (s) => `Server=tcp:sql01.acme.local,1433;Database=app;User Id=sa;Password=${s};Encrypt=True;`),
  ],
  ['AWS secret named', (d) => with_(d(40, 'b64'), (s) => `aws_secret_access_key = ${s}`)],
  ['AWS secret bare', (d) => with_(d(40, 'b64'), (s) => `aws keys for ci: AKIA${d(16, 'base32')} ${s}`)],
  ['AWS session', (d) => with_(`IQoJb3JpZ2luX2Vj${d(300, 'b64')}`, (s) => `export AWS_SESSION_TOKEN=${s}`)],
  [
    'Azure storage',
    (d) =>
      with_(
        `${d(86, 'b64')}==`,
        (s) => `DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=${s};EndpointSuffix=core.windows.net`,
      ),
  ],
  [
    'Azure SAS',
    (d) =>
      with_(
        `${d(43)}%3D`,
        (s) =>
          `https://acme.blob.core.windows.net/c/f.zip?sv=2024-11-04&se=2026-12-01T00%3A00%3A00Z&sr=b&sp=r&sig=${s}`,
      ),
  ],
  [
    'kubeconfig',
    (d) =>
      with_(base64(pem(d, 'RSA PRIVATE KEY', 3)), (s) => `users:\n- name: admin\n  user:\n    client-key-data: ${s}`),
  ],
  [
    'kubernetes secret',
    (d) =>
      with_(base64(chosen(d)), (s) => `apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: ${s}`),
  ],
  ['netrc', (d) => with_(chosen(d), (s) => `machine api.heroku.com\n  login me@acme.dev\n  password ${s}`)],
  ['pgpass', (d) => with_(chosen(d), (s) => `db.acme.dev:5432:app:admin:${s}`)],
  ['htpasswd', (d) => with_(`$apr1$${d(8)}$${d(22)}`, (s) => `admin:${s}`)],
  ['Basic header', (d) => with_(base64(`admin:${chosen(d)}`), (s) => `Authorization: Basic ${s}`)],
  ['Bearer header', (d) => with_(d(40, 'url'), (s) => `> GET /api HTTP/1.1\n> authorization: Bearer ${s}\n>`)],
  [
    'session cookie',
    (d) => with_(d(32), (s) => `curl 'https://app.acme.dev/' -H 'Cookie: sessionid=${s}; theme=dark'`),
  ],
  ['curl user', (d) => with_(chosen(d), (s) => `curl -u admin:${s} https://jenkins.acme.dev/job/x/build`)],
  ['mysql option', (d) => with_(d(12), (s) => `mysql -h db -u root -p${s} app < dump.sql`)],
  ['sshpass', (d) => with_(chosen(d), (s) => `sshpass -p '${s}' ssh root@10.0.0.4`)],
  ['token option', (d) => with_(d(32), (s) => `acme deploy --token ${s} --prod`)],
  ['PGPASSWORD', (d) => with_(chosen(d), (s) => `PGPASSWORD=${s} psql -h db -U app`)],
  ['Datadog', (d) => with_(d(32, 'hex'), (s) => `DD_API_KEY=${s}`)],
  ['Twilio auth', (d) => with_(d(32, 'hex'), (s) => `TWILIO_AUTH_TOKEN=${s}`)],
  ['Algolia', (d) => with_(d(32, 'hex'), (s) => `algoliasearch('A1B2C3', { adminApiKey: '${s}' })`)],
  ['Cloudflare', (d) => with_(d(40, 'url'), (s) => `CLOUDFLARE_API_TOKEN: ${s}`)],
  ['Snyk', (d) => with_(uuid(d), (s) => `SNYK_TOKEN=${s}`)],
  ['Heroku UUID', (d) => with_(uuid(d), (s) => `HEROKU_API_KEY="${s}"`)],
  ['npmrc', (d) => with_(base64(`${d(10)}:${d(24)}`), (s) => `//registry.acme.dev/:_authToken=${s}`)],
  ['npmrc auth', (d) => with_(base64(`ci:${d(24)}`), (s) => `//registry.acme.dev/:_auth="${s}"`)],
  ['client secret', (d) => with_(d(40, 'url'), (s) => `oauth:\n  clientId: web\n  clientSecret: ${s}\n`)],
  ['Django key', (d) => with_(`${d(48)}$x!`, (s) => `SECRET_KEY = 'django-insecure-${s}'`)],
  ['Rails key', (d) => with_(d(128, 'hex'), (s) => `secret_key_base: ${s}`)],
  ['JWT secret', (d) => with_(d(44, 'b64'), (s) => `JWT_SECRET=${s}`)],
  ['encryption key', (d) => with_(d(64, 'hex'), (s) => `ENCRYPTION_KEY=${s}`)],
  ['webhook secret', (d) => with_(d(40, 'hex'), (s) => `webhook_secret: "${s}"`)],
  ['Java properties', (d) => with_(chosen(d), (s) => `spring.datasource.password=${s}`)],
  ['PHP', (d) => with_(chosen(d), (s) => `define('DB_PASSWORD', '${s}');`)],
  ['Go', (d) => with_(d(32), (s) => `\tapiKey := "${s}"`)],
  ['docker auth', (d) => with_(base64(`ci:${d(24)}`), (s) => `{"auths": {"registry.acme.dev": {"auth": "${s}"}}}`)],
]

const HELD_WHOLES: readonly Whole[] = [
  [
    'PKCS8 key',
    (d) =>
      with_(lines(d, 10), (s) => `see below\n\n-----BEGIN PRIVATE KEY-----\n${s}\n-----END PRIVATE KEY-----\n\nthanks`),
  ],
  [
    'encrypted key',
    (d) =>
      with_(lines(d, 7), (s) => `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${s}\n-----END ENCRYPTED PRIVATE KEY-----`),
  ],
  [
    'key indented',
    (d) =>
      with_(
        d(64, 'b64'),
        (s) =>
          `tls:\n  key: |\n    -----BEGIN EC PRIVATE KEY-----\n    ${s}\n    ${d(64, 'b64')}\n    -----END EC PRIVATE KEY-----\n`,
      ),
  ],
  [
    'key in a diff',
    (d) =>
      with_(
        d(64, 'b64'),
        (s) => `+-----BEGIN RSA PRIVATE KEY-----\n+${s}\n+${d(60, 'b64')}\n+-----END RSA PRIVATE KEY-----`,
      ),
  ],
  [
    'key in .env',
    (d) =>
      with_(
        d(180, 'b64'),
        (s) => `GITHUB_APP_KEY="-----BEGIN RSA PRIVATE KEY-----\\n${s}\\n-----END RSA PRIVATE KEY-----"`,
      ),
  ],
  ['key, end lost', (d) => with_(lines(d, 3), (s) => `$ head -4 id_rsa\n-----BEGIN OPENSSH PRIVATE KEY-----\n${s}\n`)],
  [
    'PuTTY 2 key',
    (d) =>
      with_(
        lines(d, 4),
        (s) =>
          `PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: ops\nPublic-Lines: 1\nAAAAB3NzaC1yc2E\nPrivate-Lines: 4\n${s}\nPrivate-MAC: ${d(40, 'hex')}\n`,
      ),
  ],
  ['password, exported', (d) => with_(chosen(d), (s) => `export MYSQL_ROOT_PASSWORD="${s}"`)],
  [
    'password in compose',
    (d) =>
      with_(
        chosen(d),
        (s) => `services:\n  db:\n    image: postgres:17\n    environment:\n      POSTGRES_PASSWORD: ${s}\n`,
      ),
  ],
  ['password in TOML', (d) => with_(chosen(d), (s) => `[smtp]\nhost = "mail.acme.dev"\npassword = "${s}"\n`)],
  [
    'password in XML',
    (d) => with_(chosen(d), (s) => `<server><id>nexus</id><username>ci</username><password>${s}</password></server>`),
  ],
  ['password in kwargs', (d) => with_(chosen(d), (s) => `engine = connect(user='svc', passwd='${s}', db='crm')`)],
  ['password in JS', (d) => with_(chosen(d), (s) => `await page.fill('#pw', creds.user); const password = "${s}"`)],
  ['password told', (d) => with_(chosen(d), (s) => `Login with user demo and password: ${s}.`)],
  ['passphrase', (d) => with_(chosen(d), (s) => `passphrase=${s} ssh-add`)],
  ['mysql URL', (d) => with_(d(18), (s) => `"mysql://svc_orders:${s}@10.2.3.4:3306/orders?ssl=true"`)],
  ['amqp URL', (d) => with_(chosen(d).replace('#', ''), (s) => `broker_url = "amqps://worker:${s}@mq.acme.dev//"`)],
  ['proxy URL', (d) => with_(d(14), (s) => `HTTPS_PROXY=http://jdoe:${s}@proxy.corp:3128 npm ci`)],
  ['JDBC', (d) => with_(chosen(d), (s) => `jdbc:postgresql://db.acme.dev/app?user=app&password=${s}&ssl=true`)],
  ['token in git URL', (d) => with_(d(32), (s) => `origin\thttps://${s}@git.acme.dev/team/app.git (fetch)`)],
  [
    'Event Hub',
    (d) =>
      with_(
        `${d(43, 'b64')}=`,
        (s) => `Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${s};EntityPath=x`,
      ),
  ],
  [
    'AWS credentials file',
    (d) =>
      with_(
        d(40, 'b64'),
        (s) =>
          `[default]\naws_access_key_id = AKIA${d(16, 'base32')}\naws_secret_access_key = ${s}\nregion = eu-central-1`,
      ),
  ],
  [
    'AWS JSON',
    (d) =>
      with_(
        d(40, 'b64'),
        (s) => `{"Credentials": {"AccessKeyId": "ASIA${d(16, 'base32')}", "SecretAccessKey": "${s}"}}`,
      ),
  ],
  [
    'AWS SDK',
    (d) => with_(d(40, 'b64'), (s) => `new S3Client({ credentials: { accessKeyId: id, secretAccessKey: "${s}" } })`),
  ],
  ['AWS secret, told', (d) => with_(d(40, 'b64'), (s) => `the AWS secret is ${s} (eu)`)],
  [
    'SAS of a queue',
    (d) =>
      with_(
        `${d(20)}%2B${d(21)}%3D`,
        (s) =>
          `az storage blob upload --sas-token "sp=rcw&st=2026-05-01&se=2026-06-01&spr=https&sv=2024-11-04&sr=c&sig=${s}"`,
      ),
  ],
  ['kubeconfig token', (d) => with_(jwt(d), (s) => `users:\n- name: ci\n  user:\n    token: ${s}\n`)],
  [
    'kubeconfig key',
    (d) =>
      with_(
        `LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt${d(200, 'b64')}`,
        (s) => `    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t\n    client-key-data: ${s}=\n`,
      ),
  ],
  ['netrc, one line', (d) => with_(d(20), (s) => `machine github.acme.dev login ci-bot password ${s}`)],
  ['pgpass, any', (d) => with_(chosen(d), (s) => `*:5432:*:postgres:${s}`)],
  ['bcrypt', (d) => with_(`$2y$10$${d(53)}`, (s) => `ops:${s}`)],
  ['shadow', (d) => with_(`$6$${d(16)}$${d(86)}`, (s) => `root:${s}:19000:0:99999:7:::`)],
  ['Basic in code', (d) => with_(base64(`svc:${d(18)}`), (s) => `headers: { Authorization: "Basic ${s}" }`)],
  ['Bearer in Python', (d) => with_(d(48), (s) => `headers = {"Authorization": f"Bearer ${s}"}`)],
  ['api key header', (d) => with_(d(32), (s) => `< X-API-Key: ${s}\r\n< Accept: */*`)],
  [
    'private token header',
    (d) => with_(d(26, 'url'), (s) => `curl --header "PRIVATE-TOKEN: ${s}" https://git.acme.dev/api/v4/projects`),
  ],
  ['set-cookie', (d) => with_(`s%3A${d(32)}.${d(43)}`, (s) => `Set-Cookie: connect.sid=${s}; Path=/; HttpOnly`)],
  ['PHP session', (d) => with_(d(26, 'lowernum'), (s) => `Cookie: PHPSESSID=${s}`)],
  [
    'curl user, quoted',
    (d) => with_(chosen(d), (s) => `curl -sS --user 'deploy:${s}' -T a.zip https://nexus.acme.dev/x`),
  ],
  ['redis-cli', (d) => with_(d(20), (s) => `redis-cli -h cache -a ${s} ping`)],
  ['docker login', (d) => with_(d(16), (s) => `docker login -u ci -p ${s} registry.acme.dev`)],
  ['password option', (d) => with_(chosen(d), (s) => `keytool -list -storepass ${s} -keystore app.jks`)],
  [
    'client secret option',
    (d) => with_(d(34, 'url'), (s) => `az login --service-principal -u app --client-secret=${s} --tenant t`),
  ],
  ['New Relic licence', (d) => with_(`${d(36, 'hex')}NRAL`, (s) => `license_key: '${s}'`)],
  ['PagerDuty', (d) => with_(d(20, 'url'), (s) => `Authorization: Token token=${s}`)],
  ['Okta', (d) => with_(`00${d(40, 'url')}`, (s) => `Authorization: SSWS ${s}`)],
  ['Mistral', (d) => with_(d(32), (s) => `MISTRAL_API_KEY=${s}`)],
  ['Cohere', (d) => with_(d(40), (s) => `cohere.Client(api_key="${s}")`)],
  ['Vercel old', (d) => with_(d(24), (s) => `VERCEL_TOKEN=${s} npx vercel --prod`)],
  ['Postmark', (d) => with_(uuid(d), (s) => `X-Postmark-Server-Token: ${s}`)],
  ['Auth0', (d) => with_(d(64, 'url'), (s) => `AUTH0_CLIENT_SECRET='${s}'`)],
  ['composer', (d) => with_(d(40, 'hex'), (s) => `{"config": {"github-oauth": {"oauth_token": "${s}"}}}`)],
  ['Laravel', (d) => with_(`${d(43, 'b64')}=`, (s) => `APP_KEY=base64:${s}`)],
  ['NextAuth', (d) => with_(`${d(43, 'b64')}=`, (s) => `NEXTAUTH_SECRET="${s}"`)],
  ['Flask', (d) => with_(d(48, 'hex'), (s) => `app.secret_key = "${s}"`)],
  ['signing key', (d) => with_(d(64, 'hex'), (s) => `signingKey: "${s}",`)],
  ['appsettings', (d) => with_(d(36), (s) => `"Jwt": { "Issuer": "acme", "SecretKey": "${s}" }`)],
  ['gradle', (d) => with_(chosen(d), (s) => `signing.password=${s}\nsigning.keyId=24875D73`)],
  [
    'refresh token',
    (d) => with_(d(64, 'url'), (s) => `{"access_token":"[redacted]","refresh_token":"${s}","expires_in":3600}`),
  ],
  ['tfvars', (d) => with_(chosen(d), (s) => `db_username = "app"\ndb_password = "${s}"`)],
  ['Ruby', (d) => with_(d(30), (s) => `config.api_key = '${s}'`)],
  ['Rust', (d) => with_(d(32), (s) => `const API_TOKEN: &str = "${s}";`)],
]

/** Innocent texts for tuning. Where chance is asked, it is for what looks like chance: hashes, ids, images. */
const TUNED_INNOCENT = (d: Draw): readonly string[] => [
  'OPENAI_API_KEY=your-api-key-here',
  'password: changeme',
  `aws_access_key_id = AKIA${'IOSFODNN7EXAMPLE'}`,
  'postgres://${USER}:${PASS}@db:5432/app',
  '.sk-loading-spinner-container { display: none }',
  '<input type="hidden" name="csrf_token" value=""> csrf_token=hidden',
  'pwd=/home/ana/projects/tidemark',
  'function login(user: string, password: string): Promise<void>',
  'Authorization: Bearer <token>',
  'token: xxxxxxxxxxxxxxxxxxxxxxxx',
  'const apiKey = process.env.STRIPE_SECRET_KEY',
  "api_key=os.environ['OPENAI_API_KEY']",
  'password: ${{ secrets.DB_PASSWORD }}',
  'curl -H "Authorization: Bearer $TOKEN" https://api.github.com/user',
  'token=${TOKEN} npm run deploy',
  "test('refuses a wrong password', async () => {",
  'Never log secrets; the token is read from the keychain.',
  `commit ${d(40, 'hex')}`,
  `request ${uuid(d)} took 12 ms`,
  `"integrity": "sha512-${d(86, 'b64')}=="`,
  `"resolved": "https://registry.npmjs.org/yjs/-/yjs-13.6.27.tgz#${d(40, 'hex')}"`,
  `.btn-secret-reveal:hover > .token-list { color: red }`,
  'see src/auth/password-reset/token-service.ts:112',
  `-----BEGIN PUBLIC KEY-----\n${lines(d, 4)}\n-----END PUBLIC KEY-----`,
  `ssh-rsa AAAAB3NzaC1yc2E${d(340, 'b64')} ana@laptop`,
  'const token = await getToken()',
  `-----BEGIN CERTIFICATE-----\n${lines(d, 9)}\n-----END CERTIFICATE-----`,
  `FROM node:24@sha256:${d(64, 'hex')}`,
  `background: url(data:image/png;base64,iVBORw0KGgo${d(400, 'b64')}=)`,
  'password_hash VARCHAR(255) NOT NULL',
  'max_tokens=4096, temperature=0.2',
  'tokenizer: cl100k_base',
  'The secret to good tests: real databases.',
  'secretKeyRef:\n  name: db-credentials\n  key: password',
  'PASSWORD_FILE=/run/secrets/db_password',
  'password = "${var.db_password}"',
  'PGPASSWORD="$(cat /run/secrets/pg)" psql',
  'if (password === confirmPassword) return ok()',
  'const { token, refreshToken } = useAuth()',
  'type Token = { kind: "string"; value: string }',
  'api_key: str = Field(..., description="key of the tenant")',
  'postgres://user:password@localhost:5432/mydb',
  'https://<user>:<password>@example.com/repo.git',
  'mysql -u root -p mydb < dump.sql',
  'docker login --username ci --password-stdin',
  'git push https://github.com/acme/app.git main',
  'gh auth login --with-token < token.txt',
  'AWS_SECRET_ACCESS_KEY is not set',
  'Error: missing required environment variable STRIPE_SECRET_KEY',
  'export GITHUB_TOKEN=$(gh auth token)',
  'passwordInput.value = ""',
  'expect(res.body.error).toBe("invalid_token")',
  '"token_endpoint": "https://login.acme.dev/oauth2/token"',
  '"token_type": "bearer", "expires_in": 3600',
  `ETag: W/"${d(32, 'hex')}"`,
  `index ${d(7, 'hex')}..${d(7, 'hex')} 100644`,
  `pnpm-lock: /esbuild@0.28.1: resolution: {integrity: sha512-${d(86, 'b64')}==}`,
  `go.sum: golang.org/x/sys v0.30.0 h1:${d(43, 'b64')}=`,
  `nix: sha256 = "${d(52, '0123456789abcdfghijklmnpqrsvwxyz')}";`,
  'rotate api keys quarterly',
  'connect to 10.0.0.1 with the token from the vault',
  'const SECRET_NAME = "prod/db/password"',
  'secretName: acme-tls-cert',
  'password: [REDACTED]',
  'password: ********',
  'API_KEY=<your key>',
  'apiKey: "YOUR_API_KEY"',
  'TOKEN=dummy npm test',
  'secret = "insert-your-secret-here"',
  'password: "{{ vault_db_password }}"',
  'api_key: ENV["ALGOLIA_API_KEY"]',
  'token: config.get("auth.token")',
  'let password = String::new();',
  'password := os.Getenv("DB_PASSWORD")',
  'private String accessToken;',
  'accessToken: credentials.accessToken,',
  '@Value("${app.jwt.secret}") private String secret;',
  'SELECT id, password_digest FROM users WHERE reset_token = $1',
  'throw new Error(`token expired: ${token.id}`)',
  'keyword: secret, weight: 0.4',
  'sk-SK is the locale for Slovak',
  'task-list-of-all-the-components-in-this-repository',
  'risk-assessment-for-the-migration-of-2026',
  'desk-booking-service-production-deployment',
  'user:password basic auth is deprecated',
  'cookie: SameSite=Lax; Secure; HttpOnly',
  'Set-Cookie: theme=dark; Path=/; Max-Age=31536000',
  'Basic authentication is turned off by default',
  'bearer authentication-middleware-configuration handles it',
  'Authorization: Basic <base64(user:pass)>',
  `_id: ObjectId("${d(24, 'hex')}")`,
  `traceparent: 00-${d(32, 'hex')}-${d(16, 'hex')}-01`,
  `md5 ${d(32, 'hex')}  dump.sql`,
  `https://cdn.acme.dev/assets/index-${d(8)}.js`,
  `x-request-id: ${d(26, 'base32')}`,
  `<script nonce="${d(22, 'b64')}==" src="/app.js"></script>`,
  'key-value-store-with-a-very-long-name-for-tests',
  'pat-na1 is the prefix of a HubSpot token',
  'tokens such as ghp_… and glpat-… are refused',
  'a GitHub token begins with ghp_ and has 36 more characters',
  'export function redact(secret: string, category: Category): string {',
  'secret: Buffer.from(hex, "hex")',
  'this.password = password;',
  'password=None, token=None',
  'api_key = "test"',
  'password: z.string().min(12).max(128)',
  'PASSWORD_MIN_LENGTH=12',
  'SESSION_TOKEN_TTL=86400',
  'API_KEY_HEADER=X-Api-Key',
  'const tokenUrl = "https://oauth2.googleapis.com/token"',
  'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p is the public key',
  'The password is stored as an Argon2id hash.',
  'npm_config_cache=/tmp/npm npm_lifecycle_event=test',
]

/** The half that is held back. */
const HELD_INNOCENT = (d: Draw): readonly string[] => [
  'ANTHROPIC_API_KEY=sk-ant-your-key-here',
  'STRIPE_SECRET_KEY=sk_test_xxxxxxxxxxxxxxxxxxxxxxxx',
  'GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'POSTGRES_PASSWORD: example',
  'SECRET_KEY=replace-me-in-production',
  'JWT_SECRET=<generate with openssl rand -hex 32>',
  'api_key: TODO',
  'token = "..."',
  'mongodb://<username>:<password>@cluster0.example.mongodb.net',
  'redis://localhost:6379/0',
  'amqp://guest@localhost//',
  'https://$GITHUB_ACTOR:$GITHUB_TOKEN@github.com/acme/app',
  'http://user:pass@proxy.example.com:8080',
  'curl -u "$USER:$PASS" https://ci.acme.dev',
  'curl -u $JENKINS_USER:$JENKINS_TOKEN $JENKINS_URL/queue',
  'az login --client-secret "$CLIENT_SECRET"',
  'vault kv get -field=password secret/data/prod/db',
  'aws secretsmanager get-secret-value --secret-id prod/db/password',
  'kubectl create secret generic db --from-literal=password="$PW"',
  'gh secret set NPM_TOKEN < token',
  'echo "$REGISTRY_PASSWORD" | docker login -u ci --password-stdin',
  'op read "op://prod/database/password"',
  'password: !vault |',
  'value: "{{ .Values.auth.password }}"',
  'apiKey: import.meta.env.VITE_MAPS_KEY,',
  'const secret = crypto.randomBytes(32).toString("hex")',
  'token = secrets.token_urlsafe(32)',
  'api_key = Rails.application.credentials.dig(:stripe, :secret_key)',
  'password = getpass.getpass("Password: ")',
  'var password = Environment.GetEnvironmentVariable("DB_PASSWORD");',
  '$password = $_POST["password"];',
  'let token: Option<String> = None;',
  'accessToken = response.data.access_token',
  'private readonly tokenService: TokenService,',
  'constructor(private secret: string, private password?: string) {}',
  'def authenticate(username: str, password: SecretStr) -> Token:',
  'interface Credentials { apiKey?: string; secretKey?: string }',
  'password: { type: String, required: true, select: false },',
  't.string :password_digest, null: false',
  '`password` varchar(60) COLLATE utf8mb4_bin',
  'ALTER ROLE app WITH PASSWORD NULL',
  'it("returns 401 when the token is missing", async () => {',
  'describe("POST /password/reset", () => {',
  'assert_equal "password is too short", user.errors.full_messages.first',
  'expect(screen.getByLabelText("Password")).toBeVisible()',
  'await page.getByLabel("Password").fill(process.env.E2E_PASSWORD!)',
  'placeholder="Enter your password"',
  'errors.password = "Password must be at least 12 characters"',
  'The API key must be sent in the X-Api-Key header.',
  'Secret: never trust the client.',
  'Our password policy: twelve characters, no rotation.',
  'Decision: tokens are rotated every 30 days by the platform team.',
  'We store the refresh token: encrypted, in the keychain.',
  'The access token is short-lived, the refresh token is not.',
  'The password is checked against the haveibeenpwned list.',
  'A bearer token without a scope is refused with 403.',
  'Why a secret scanner? Because keys leak.',
  'Use basic auth only behind TLS.',
  'token: the smallest unit that the lexer emits',
  'Token(kind=IDENTIFIER, value="password")',
  'tokens: 1523 in, 420 out, cached 1200',
  'prompt_tokens=812 completion_tokens=95 total_tokens=907',
  'warning: unused variable: `token`',
  "TypeError: Cannot read properties of undefined (reading 'token')",
  'ERROR: password authentication failed for user "app"',
  'remote: Invalid username or password.',
  'fatal: Authentication failed for https://github.com/acme/app.git/',
  'npm error code E401 Unable to authenticate, need: Bearer authorization',
  `a ${d(40, 'hex')} (HEAD -> main, origin/main) Merge branch auth-token`,
  `Merge: ${d(7, 'hex')} ${d(7, 'hex')}`,
  `git checkout ${d(40, 'hex')} -- src/secrets.ts`,
  `session ${uuid(d)} claims src/auth/**`,
  `"id": "${uuid(d)}", "name": "token-refresh"`,
  `sha256:${d(64, 'hex')}`,
  `SHA256 (dist.tar.gz) = ${d(64, 'hex')}`,
  `"checksum": "${d(64, 'hex')}"`,
  `yarn: resolution: "left-pad@npm:1.3.0"\n  checksum: 10/${d(128, 'hex')}`,
  `cargo: checksum = "${d(64, 'hex')}"`,
  `integrity sha1-${d(27, 'b64')}=`,
  `<link rel="stylesheet" href="x.css" integrity="sha384-${d(64, 'b64')}">`,
  `poetry: {file = "a.whl", hash = "sha256:${d(64, 'hex')}"}`,
  `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${d(43, 'b64')} ops@acme`,
  `github.com ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABB${d(86, 'b64')}=`,
  `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${lines(d, 6)}\n-----END PGP PUBLIC KEY BLOCK-----`,
  `-----BEGIN PGP SIGNATURE-----\n\n${lines(d, 3)}\n-----END PGP SIGNATURE-----`,
  `-----BEGIN CERTIFICATE REQUEST-----\n${lines(d, 5)}\n-----END CERTIFICATE REQUEST-----`,
  `SHA256:${d(43, 'b64')} fingerprint of the deploy key`,
  `<img src="data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ${d(300, 'b64')}">`,
  `//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2Vz${d(200, 'b64')}`,
  `d="M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2zm0 18c-4.41 0-8-3.59-8-8"`,
  `Content-Security-Policy: script-src 'nonce-${d(22, 'b64')}=='`,
  `trace_id=${d(32, 'hex')} span_id=${d(16, 'hex')}`,
  `arn:aws:iam::${d(12, 'digit')}:role/deploy`,
  `s3://acme-artifacts/builds/${d(40, 'hex')}/app.zip`,
  `/home/ana/.cache/pip/http-v2/a/b/${d(56, 'hex')}`,
  `node_modules/.vite/deps/chunk-${d(8, 'upper')}.js?v=${d(8, 'hex')}`,
  `_next/static/chunks/${d(16, 'hex')}.js`,
  `ulid 01J${d(23, 'base32')}`,
  `container ${d(64, 'hex')} exited with 137`,
  `pk_live_${d(24)} is the publishable key and may be shown`,
  'class="sk-fading-circle sk-circle1 sk-child-of-the-spinner"',
  '.sk-chasing-dots-container-large-screens-only',
  'import { sk-icon } from "./task-runner"',
  'ask-the-user-before-deleting-anything-at-all',
  'hf_transfer and hf_xet are optional dependencies',
  'npm_package_json and npm_lifecycle_script are set by npm',
  'key-rotation-runbook-for-the-platform-team.md',
  'glpat- tokens can be listed with the API',
  'secret_scanning_push_protection_custom_link_enabled',
  'secret_access_key_last_rotated_at timestamp',
  'password_reset_token_expires_at',
  'auth_token_validity_period_in_seconds: 900',
  'TOKEN_BUCKET_CAPACITY=100',
  'SECRET_MANAGER_PROJECT=acme-prod-42',
  'PRIVATE_KEY_PATH=./certs/server.key',
  'SSL_KEY=/etc/ssl/private/server.key',
  'AWS_PROFILE=production AWS_REGION=eu-central-1',
  'KEYCLOAK_REALM=acme KEYCLOAK_CLIENT_ID=web-frontend',
  'primaryKey: "user_id", foreignKey: "account_id"',
  'publicKey: "vapid", keyPath: ["tenant", "id"]',
  'sort_key = "created_at#order_id"',
  'cacheKey: `user:${id}:profile`',
  'idempotency_key: order-2026-000123',
  'auth: { strategy: "oauth2", provider: "keycloak" }',
  'authorization: { policy: "admin-only", fallback: "deny" }',
  'x-auth-provider: keycloak-production',
  'cookie_consent=accepted; lang=de-DE',
  'document.cookie.split("; ").find((c) => c.startsWith("session="))',
  'https://login.acme.dev/authorize?response_type=code&client_id=web&state=init',
  'https://acme.dev/reset?token={token}',
  'https://example.com/callback?access_token=ACCESS_TOKEN&state=STATE',
  'machine learning: login required, password optional',
  'netrc format: machine NAME login USER password PASS',
  'use the machine account with login and password from 1Password',
  'rsync -a --password-file=/etc/rsync.pw src/ host::mod',
  'make deploy SECRET=$(SECRET) TOKEN=$(TOKEN)',
  '--token string   access token (default: $ACME_TOKEN)',
  'pass --token and --host to the command',
  'grep -rn "password" src/ | head',
]

/** Every case, the same ones each time. */
export function labelled(): readonly Labelled[] {
  const out: Labelled[] = []
  TOKENS.forEach(([issuer, variable, make], i) => {
    // an issuer in four is known to one half only
    for (const half of ['tuned', 'held back'] as const) {
      if (i % 8 === (half === 'tuned' ? 3 : 7)) continue
      const d = drawing(half === 'tuned' ? 1_000 + i : 5_000 + i)
      const contexts = half === 'tuned' ? TUNED_CONTEXTS : HELD_CONTEXTS
      const secret = make(d)
      out.push({ half, kind: issuer, secret, text: contexts[i % contexts.length]!(secret, variable, d) })
    }
  })
  for (const [half, wholes, seed] of [
    ['tuned', TUNED_WHOLES, 2_000],
    ['held back', HELD_WHOLES, 6_000],
  ] as const)
    wholes.forEach(([kind, make], i) => {
      const [text, secret] = make(drawing(seed + i))
      out.push({ half, kind, text, secret })
    })
  for (const text of TUNED_INNOCENT(drawing(3_000))) out.push({ half: 'tuned', kind: 'innocent', text })
  for (const text of HELD_INNOCENT(drawing(7_000))) out.push({ half: 'held back', kind: 'innocent', text })
  return [...out, ...WRITTEN.flatMap(written)]
}

/** Whether twelve characters of a secret in a row are left of it. */
export function isLeft(text: string, secret: string): boolean {
  const width = Math.min(12, secret.length)
  for (let i = 0; i + width <= secret.length; i++) if (text.includes(secret.slice(i, i + width))) return true
  return false
}
