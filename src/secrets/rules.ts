import { isPair, isPhrase, isPlaceholder, isPlain, isRandom, isSecretValue, isWord } from './judge.ts'
import { awsSecrets, option, privateKeys, type Shape } from './shapes.ts'
import { isNoPath, isOfLogin, isPassword, PAIR, SIGN_IN, SPACED } from './told.ts'

/**
 * A secret that a pattern tells. Written from the formats that their issuers document.
 *
 * A rule costs next to nothing until one of its keywords is found; its pattern is compiled then. Patterns have no repetition
 * within a repetition, and end by themselves: what they cost is bounded at each place.
 */
export interface Rule {
  readonly category: string
  /** What a secret of this kind holds literally; the pattern `after` begins right behind it. */
  readonly keywords: readonly string[]
  /** Its group, where it has one, is the secret and ends the pattern. */
  readonly after: string
  /** What stands right before the keyword, where that does not begin the token. */
  readonly before?: string
  /** The prefix is short or a word: what follows must look drawn by chance. */
  readonly random?: true
  /** What a text must hold for its keywords to be looked for. */
  readonly part?: string
  /** May stand right behind a letter, since no word goes on like that. */
  readonly within?: true
  /** Whether it is a secret, by itself and by what stands behind it. Without this, one that is no placeholder is. */
  readonly is?: (secret: string, behind: string) => boolean
}

const A = '[A-Za-z0-9]'
const U = '[A-Za-z0-9_-]'
const H = '[0-9a-f]'
const B = '[A-Za-z0-9+/]'
const UUID = `${H}{8}-${H}{4}-${H}{4}-${H}{4}-${H}{12}`
/** The token is as long as this, and no longer. */
const END = '(?![A-Za-z0-9])'

const rule = (
  category: string,
  keywords: string | readonly string[],
  after: string,
  more: Omit<Rule, 'category' | 'keywords' | 'after'> = {},
): Rule => ({ category, keywords: typeof keywords === 'string' ? [keywords] : keywords, after, ...more })

const RANDOM = { random: true } as const

/** What stands behind `Bearer` and `Basic`. */
const CREDENTIAL = `[ \\t"']{0,4}([A-Za-z0-9_.~+/-]{8,2000}={0,2})`

/** `user:password` of a URL, or a token in the user's place. */
const USERINFO = `([^\\s:/@"'\`<>?#]{0,200}(?::[^\\s/@"'\`<>]{4,300})?)(?=@)`
const LOCAL = /^@(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|host\.docker\.internal)\b/
/** Sentry's address for what a page reports stands in the page. */
const DSN = /^[0-9a-f]{32}@[\w.-]{0,30}sentry/
/** What a password in a URL is called in examples. */
const EXAMPLE_PASS = /^(?:pass(?:word|wd)?|pwd?|secret|token|user|foobar|redis|xx+|\*+)$/i

function isLogin(userinfo: string, behind: string): boolean {
  const colon = userinfo.indexOf(':')
  if (colon < 0 && DSN.test(userinfo + behind)) return false
  if (colon < 0) return userinfo.length >= 16 && isRandom(userinfo, 12) && !isPlaceholder(userinfo)
  const pass = userinfo.slice(colon + 1)
  if (EXAMPLE_PASS.test(pass) || /^[$%{[]/.test(pass)) return false
  if (userinfo.slice(0, colon) === pass && LOCAL.test(behind)) return false
  return !isPlaceholder(pass.length < 6 ? `${pass}-1a2b3c` : pass)
}

/** A PEM key in base64, as kubeconfig and the variables of CI have it. */
const isEncodedKey = (run: string): boolean =>
  run.length > 40 && Buffer.from(run.slice(0, 80), 'base64').toString('latin1').includes('PRIVATE KEY')

const PASSWORD = () => /\s-p\s{0,3}["']?([^\s"']{3,200})/g
const CAPITAL = () => /\s-P\s{0,3}["']?([^\s"']{3,200})/g
const SETTING = () => /^\S+\s{1,3}["']?([^\s"']{3,200})(?=["']?\s{0,9}$)/g

/** Words before `admin / …`, without what may be a capital. */
const LOGINS =
  'creds,Creds,reden,ugang: ,оступ: ,gin as ,g in as ,gn in as ,gin with ,g in with ,gn in with ,user/pass,name/pass,ugangsdaten,nmeldedaten,dentifiants'.split(
    ',',
  )
/** Between a name and what it names. */
const NAMED = `["']?(?: \\([^()\\n]{1,40}\\))?(?: is| are| ist| lautet| est| es| é| è)?[ \\t]{0,3}[:=：]?\\s{0,4}["'\`[]{0,2}`
const PHRASE = '((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})'
/** Up to the end of a clause. */
const LAST =
  '(?=["\'.,;!)]{0,2}(?:\\s*$|\\s*\\n|[ ](?:yesterday|today|now|last|this|on|so|for|and|please|since|until|before)\\b|[,;]))'
const isChoice = (value: string): boolean =>
  /^\d{8,63}$/.test(value) || (isOfLogin(value) && isSecretValue(value, 'password', 'beside', false))
/** A login of one word each: `demo:rainbow77`. */
const isChosen = (value: string): boolean => isOfLogin(value) || isWord(value)
/** "…, type X" */
const TYPED = `[^\\n.]{0,60}?[ ,](?:type|enter|use|use:|answer|with|gib|tippe|nimm|tape|entre|utilise|escribe|usa|digite|введи|say)[ ](?:in )?["'\`]?([^\\s"'\`,;()<>]{6,63})`
const CODE = `(?=[A-Za-z-]{0,12}\\d)[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{3,10}){0,3}`

/** Every rule for secrets that are known by their form. A function finds what no single pattern tells. */
// biome-ignore format: one rule a line
export const RULES: readonly (Rule | Shape)[] = [
  // code hosts and CI
  rule('GitHub token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], `${A}{16,255}`, { within: true }),
  rule('GitHub token', 'github_pat_', `[A-Za-z0-9_]{22,255}`, { within: true }),
  rule(
    'GitLab token',
    ['glpat-', 'glrt-', 'gldt-', 'glptt-', 'glcbt-', 'glsoat-', 'glft-', 'glimt-', 'glagent-', 'glffct-', 'gloas-'],
    `[A-Za-z0-9_.-]{16,300}`,
  ),
  rule('GitLab token', 'GR1348941', `${U}{20}`),
  rule('Bitbucket token', ['ATBB', 'ATCTT3xFfG'], `[A-Za-z0-9_=-]{24,300}`, RANDOM),
  rule('Atlassian token', 'ATATT3xFfG', `[A-Za-z0-9_=-]{40,300}`),
  rule('Sourcegraph token', ['sgp_', 'slk_'], `(?:${H}{16}_|local_)?${H}{40}`),
  rule('Buildkite token', 'bk', `(?:ua|ct)_${H}{40}`),
  rule('CircleCI token', 'CCIP', `(?:AT|RJ)_${A}{16,40}_${H}{40}`),
  rule('SonarQube token', ['sqp_', 'squ_', 'sqa_'], `${H}{40}`),
  rule('Snyk token', 'snyk_', `(?:uat|sat)\\.${H}{8}\\.[A-Za-z0-9_.-]{20,300}`),
  rule('Azure DevOps token', 'AZDO', `[A-Za-z0-9]{4}${END}`, { before: `${A}{76}` }),
  // packages
  rule('npm token', 'npm_', `${A}{36}${END}`),
  rule('PyPI token', 'pypi-', `AgE${U}{50,300}`),
  rule('RubyGems key', 'rubygems_', `${H}{48}`),
  rule('crates.io token', 'cio', `${A}{32}${END}`, RANDOM),
  rule('NuGet key', 'oy2', `[a-z0-9]{43}${END}`, RANDOM),
  rule('Docker Hub token', ['dckr_pat_', 'dckr_oat_'], `${U}{20,80}`),
  rule('Artifactory key', 'AKCp', `${A}{60,80}`),
  rule('Artifactory token', 'cmVmdGtu', `${A}{50,70}`),
  rule('Clojars token', 'CLOJARS_', `${H}{60}`),
  // clouds
  rule('AWS access key', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], `[A-Z0-9]{16}${END}`),
  rule('AWS Bedrock key', 'ABSK', `${B}{100,300}`),
  rule('AWS session token', ['IQoJb3JpZ2lu', 'FwoGZXIvYXdz'], `[A-Za-z0-9+/=]{100,2000}`),
  rule('Google API key', 'AIza', `${U}{35}`),
  rule('Google client secret', 'GOCSPX-', `${U}{24,40}`),
  rule('Google access token', 'ya29.', `${U}{40,500}`),
  rule('Google authorization code', ['4/0A', '4%2F0A'], `${U}{30,120}`, RANDOM),
  rule('Google refresh token', '1//0', `${U}{40,200}`, RANDOM),
  rule('Firebase server key', ':APA91b', `${U}{100,200}`, { before: `${U}{7,20}` }),
  rule('Azure client secret', 'Q~', `[A-Za-z0-9_.~-]{31,34}`, { before: `[A-Za-z0-9_.~-]{3}\\d` }),
  rule('Cloudflare token', 'cf', `(?:ut|at|k)_${A}{32,80}`, RANDOM),
  rule('Cloudflare key', 'v1.0-', `${H}{24}-${H}{120,160}`),
  rule('DigitalOcean token', '_v1_', `${H}{64}`, { before: 'do[opr]' }),
  rule('Heroku key', 'HRKU-', `${U}{30,80}`),
  rule('Fly.io token', ['fm1a_', 'fm1r_', 'fm2_', 'fo1_'], `[A-Za-z0-9+/=_-]{40,800}`),
  rule('Vercel token', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], `${A}{24,100}`, RANDOM),
  rule('Vercel token', 'vercel_blob_rw_', `${A}{16}_${A}{24,60}`),
  rule('Netlify token', ['nfp_', 'nfc_', 'nfo_', 'nfu_', 'nfb_'], `${A}{36,60}`, RANDOM),
  rule('Supabase token', 'sbp_', `(?:v\\d_|oauth_)?${H}{40}`),
  rule('Supabase key', 'sb_secret_', `${U}{20,60}`),
  rule('PlanetScale token', 'pscale_', `(?:pw|tkn|oauth)_${U}{32,64}`),
  rule('Neon key', 'napi_', `[a-z0-9]{60,80}`),
  rule('Render key', 'rnd_', `${A}{28,40}`, RANDOM),
  rule('Pulumi token', 'pul-', `${H}{40}`),
  rule('Terraform token', '.atlasv1.', `${U}{60,80}`, { before: `${A}{14}` }),
  rule('Doppler token', 'dp.', `(?:pt|ct|sa|scim|audit)\\.${A}{40,44}`),
  rule('Doppler token', 'dp.st.', `(?:[a-z0-9_-]{2,35}\\.)?${A}{40,44}`),
  rule('Vault token', 'hv', `[sbr]\\.${U}{24,400}`),
  rule('1Password token', 'ops_eyJ', `[A-Za-z0-9+/_-]{100,2000}`),
  rule('age key', ['AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-PQ-1'], `[A-Z0-9]{58}`),
  rule('Tailscale key', 'tskey-', `(?:auth|api|client|scim|webhook)-${A}{8,30}(?:-${A}{20,50})?`),
  rule('OpenShift token', 'sha256~', `${U}{43}`),
  rule('Databricks token', 'dapi', `${H}{32}(?:-\\d)?`),
  rule('Prefect key', ['pnu_', 'pnb_'], `${A}{36}`),
  rule('Scalingo token', 'tk-us-', `${U}{48}`),
  rule('Infracost key', 'ico-', `${A}{32}${END}`, RANDOM),
  rule('Harness token', ['pat.', 'sat.'], `${U}{22}\\.${H}{24}\\.${A}{20}`),
  // models
  rule('Anthropic key', 'sk-ant-', `(?:api|admin|oat|ort|sid)\\d\\d-${U}{20,200}`),
  rule('API key', 'sk-', `${U}{16,300}`, RANDOM),
  rule('Groq key', 'gsk_', `${A}{40,60}`),
  rule('xAI key', 'xai-', `${A}{60,100}`),
  rule('Replicate token', 'r8_', `${A}{37}`),
  rule('Perplexity key', 'pplx-', `${A}{40,60}`),
  rule('Hugging Face token', ['hf_', 'api_org_'], `${A}{30,60}`),
  rule('LangSmith key', 'lsv2_', `[ps][tk]_${H}{32}_${H}{10}`),
  rule('Pinecone key', 'pcsk_', `${A}{4,8}_${A}{50,70}`),
  rule('Tavily key', 'tvly-', `${U}{28,60}`, RANDOM),
  rule('NVIDIA key', 'nvapi-', `${U}{60,70}`),
  rule('Fireworks key', ['fw_', 'csk-', 'tgp_v1_', 'jina_', 'e2b_'], `${U}{22,80}`, RANDOM),
  rule('Firecrawl key', 'fc-', `${H}{32}${END}`, RANDOM),
  rule('ElevenLabs key', 'sk_', `${H}{48}`),
  // messages and mail
  rule('SendGrid key', 'SG.', `${U}{16,32}\\.${U}{32,64}`),
  rule('Slack token', 'xox', `[abdeoprs][-.][A-Za-z0-9.%-]{10,400}`),
  rule('Slack token', 'xapp-', `\\d-[A-Z0-9]{8,16}-\\d{8,16}-[0-9a-f]{40,80}`),
  rule('Slack webhook', 'hooks.slack.com/', `(?:services|workflows|triggers)/[A-Z0-9]{8,14}/[A-Za-z0-9/]{20,100}`),
  rule('Discord token', ['.G', '.X', '.Y', '.Z'], `${U}{5}\\.${U}{27,40}`, { before: `[MNO]${U}{22,27}` }),
  rule('Teams webhook', '/IncomingWebhook/', `[A-Za-z0-9/_-]{30,200}`, { within: true, is: () => true }),
  rule('Discord webhook', '/webhooks/', `\\d{17,20}/${U}{60,80}`, { within: true, is: () => true }),
  rule('webhook', ['/bot/v2/hook/', '/webhook/send?key=', '/hooks/', '.make.com/', '://webhook.site/', '://hc-ping.com/', '/with/key/', '/integration/', '/20131114/alert/', '.day.app/', '.ftqq.com/', '.alchemy.com/v2/', 'infura.io/v3/', '.ankr.com/eth/', 'quiknode.pro/', '://ntfy.sh/', '/webhook/'], `(${U}{16,100}(?:/${U}{20,100})?)`, { within: true, part: '://', is: (t) => isRandom(t, 8) && !isPlaceholder(t) }),
  rule('Telegram token', ':AA', `[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])`, { before: `(?:bot)?\\d{8,10}` }),
  rule('Twilio key', 'SK', `${H}{32}${END}`),
  rule('Mailgun key', 'key-', `${H}{32}${END}`),
  rule('mail service key', '-us', `\\d{1,2}(?![0-9A-Za-z-])`, { before: `${H}{32}` }),
  rule('mail service or recovery key', '-', `(?:${H}{8}-${H}{8}|\\d{6}(?:-\\d{6}){6})(?![0-9A-Za-z-])`, { before: `(?:${H}{32}|\\d{6})` }),
  rule('Brevo key', ['xkeysib-', 'xsmtpsib-'], `${H}{64}-${A}{16}`),
  rule('Resend key', 're_', `${A}{6,12}_${A}{20,40}`, RANDOM),
  rule('Zapier webhook', 'hooks.zapier.com/hooks/catch/', `\\d{4,12}/[a-z0-9]{6,20}`),
  // payments and shops
  rule('Stripe key', ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'sk_org_'], `[A-Za-z0-9_]{16,250}`),
  rule('webhook secret', 'whsec_', `[A-Za-z0-9+/=]{24,80}`),
  rule('Square token', 'sq0', `(?:at|cs)p-${U}{22,60}`),
  rule('Square token', 'EAAA', `${U}{60}${END}`),
  rule('Plaid token', 'access-', `(?:production|development|sandbox)-${UUID}`),
  rule('Shopify token', 'shp', `(?:at|ss|ca|pa|ua)_[0-9A-Fa-f]{32}`),
  rule('Shippo token', 'shippo_', `(?:live|test)_${H}{40}`),
  rule('EasyPost key', ['EZAK', 'EZTK'], `${A}{54}`),
  rule('Flutterwave key', 'FLWSECK', `(?:_TEST)?-${A}{12,40}`),
  rule('Adyen key', 'AQE', `[A-Za-z0-9+/=]{60,300}\\.[A-Za-z0-9]{8,20}`),
  // observation
  rule('New Relic key', 'NR', `(?:AK|II|JS|RA|IQ)-${U}{19,40}`),
  rule('New Relic key', 'NRAL', END, { before: `${H}{36}` }),
  rule('Grafana token', 'glsa_', `${A}{32}_${H}{8}`),
  rule('Grafana token', ['glc_', 'eyJrIjoi'], `[A-Za-z0-9+/=]{32,400}`),
  rule('Sentry token', 'sntryu_', `${H}{64}`),
  rule('Sentry token', 'sntrys_', `eyJ[A-Za-z0-9+/=_]{40,600}`),
  rule('Datadog key', ['ddapp_', 'ddapi_'], `${A}{32,60}`, RANDOM),
  rule('Dynatrace token', 'dt0', `[cs]\\d\\d\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}`),
  rule('PostHog key', 'phx_', `${A}{32,60}`, RANDOM),
  rule('LaunchDarkly key', ['sdk-', 'api-'], `${UUID}${END}`),
  // what people work with
  rule('Figma token', ['figd_', 'figo_', 'figdr_'], `${U}{36,80}`),
  rule('Linear key', 'lin_', `(?:api|oauth|wh)_${A}{32,64}`),
  rule('Notion token', 'ntn_', `${A}{40,60}`),
  rule('Notion token', 'secret_', `${A}{43}${END}`, RANDOM),
  rule('HubSpot token', 'pat-', `(?:na|eu|ap)\\d-${UUID}`),
  rule('Mapbox token', 'k.eyJ', `${U}{20,400}\\.${U}{20,60}`, { before: '[st]' }),
  rule('Postman key', 'PMAK-', `${H}{24}-${H}{34}`),
  rule('Postman key', 'PMAT-', `[0-9A-Z]{26}`),
  rule('Contentful token', 'CFPAT-', `${U}{40,60}`),
  rule('Typeform token', 'tfp_', `${U}{40,70}`),
  rule('ReadMe key', 'rdme_', `[a-z0-9]{70}`),
  rule('Frame.io token', 'fio-u-', `${U}{64}`),
  rule('Zuplo key', 'zpka_', `${A}{32}_${H}{8}`),
  rule('Duffel token', 'duffel_', `(?:live|test)_${U}{43}`),
  rule('Dropbox token', ['sl.B', 'sl.C', 'sl.u.'], `${U}{60,1500}`, RANDOM),
  rule('Mollie key', ['live_', 'test_'], `${A}{30}${END}`, RANDOM),
  rule('1Password key', 'A3-', `[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){4,5}`),
  rule('API key', ['y0_', 'vk1.a.', 'hcaik_', 'xprv', 'zprv', 'AQVN', 'AKID', 'LTAI', 'GOOG1E', 'EAAC', 'EAAG', 'apify_api_', 'APP_USR-', 'tk_', 'pk_', 'ck_', 'cs_', 'key_'], `(?!live_|test_)[A-Za-z0-9_:./%-]{16,400}`, RANDOM),
  rule('Okta token', 'SSWS 00', `${U}{40}`),
  // everywhere
  rule('JSON web token', 'eyJ', `${U}{8,500}\\.${U}{8,6000}\\.${U}{8,1000}`),
  rule('password hash', '$2', `[aby]\\$\\d\\d\\$[A-Za-z0-9./]{53}`, { within: true }),
  rule('password hash', ['$1$', '$apr1$', '$5$', '$6$', '$y$'], `(?:rounds=\\d{1,9}\\$|j[A-Za-z0-9./]{1,8}\\$)?[A-Za-z0-9./]{1,40}\\$[A-Za-z0-9./]{22,90}`, { within: true }),
  rule('password hash', '$argon2', `(?:id|i|d)\\$[A-Za-z0-9./+=,$]{40,300}`, { within: true }),
  rule('access token', 'pat', `${A}{14}\\.${H}{64}${END}`),
  rule('access token', ['0/', '1/', '2/'], `\\d{15,17}(?:/\\d{15,17})?:${H}{32}${END}`),
  // keys and logins
  privateKeys,
  rule('private key', 'LS0tLS1CRUdJTi', `[A-Za-z0-9+/=]*`, { within: true, is: isEncodedKey }),
  awsSecrets,
  rule('credentials in a URL', ['http://', 'https://'], USERINFO, { within: true, is: isLogin }),
  rule('connection string', 'oracle:thin:', `[\\w.]{1,60}/([^\\s@"'/]{3,200})(?=@)`, { within: true }),
  rule('authorization code', ['?code=', '&code='], `([A-Za-z0-9_.~%/-]{20,2000})`, { within: true, is: (t) => isRandom(t, 16) && !isPlaceholder(t) }),
  rule('API key', ['appid=', 'APPID='], `(${H}{32})${END}`, { is: (t) => !isPlaceholder(t) }),
  rule('Vault key', ['nseal Key ', 'nseal key '], `\\d{1,2}: (${B}{43}=)`, { within: true, is: (t) => !isPlaceholder(t) }),
  rule('one-time password', ['eed: ', 'eed=', 'eed is ', 'FA secret', 'OTP secret'], `(?: is |: )?["']?((?:[A-Z2-7]{4}[ ]){3,12}[A-Z2-7]{2,4}|[A-Z2-7]{16,128})${END}`, { within: true, is: (t) => isRandom(t.replaceAll(' ', ''), 16) && !isPlaceholder(t) }),
  rule('connection string', '://', USERINFO, { within: true, is: isLogin }),
  rule('bearer token', ['earer', 'BEARER'], `[ :=]${CREDENTIAL}`, { within: true, is: (t) => t.length >= 20 && isRandom(t, 8) && !isPlaceholder(t) }),
  rule('basic authorization', ['asic ', 'BASIC '], CREDENTIAL, { within: true, is: isPair }),
  rule('session cookie', ['connect.sid', '.sess=', '.sid=', 'dentity.Application', 'logged_in_', 'li_at=', 'remember_token'], `(?:\\w{1,40})?(?: cookie)?(?: is |["']?[=:][ ]?)["']?([A-Za-z0-9%._~+/|:!-]{20,4000}={0,2})`, { within: true, is: (t) => isRandom(t.replace(/%[0-9A-F]{2}/g, '.'), 12) }),
  rule('password', 'echo ', `(?:-n[ ])?["']?([^\\s"'|$(]{4,200})(?=["']?[ ]{0,2}\\|[ ](?:sudo[ ])?(?:sudo -S|-S|docker|podman|passwd|kinit|helm|su )[ ]?)`, { is: (t) => !isPlain(t) }),
  rule('password', '<<<', `[ ]?["']?([^\\s"'$]{4,200})`, { before: `(?:sudo -S|kinit|passwd|-stdin)[ ]`, is: (t) => !isPlain(t) }),
  rule('password', ['| chpasswd', '| sudo chpasswd'], '', { before: `[\\w.-]{1,30}:[^\\s"'|$]{3,50}["']?\\s?` }),
  // `.pgpass`: host:port:database:user:password
  rule('password', [':5432:', ':5433:', ':6432:', ':*:'], `[\\w*-]{1,64}:[\\w-]{1,64}:(?!:)([^\\s"'\`]{6,200})`, { within: true, is: (value) => isSecretValue(value, 'password', 'tight', false) }),
  // logins without a name for either half; words and codes that let in
  rule('password', LOGINS, PAIR, { within: true, is: isOfLogin }),
  rule('password', ['ogin', 'ccount', 'логин', 'Логин', 'учётк', 'учетк', '账号', '帳號', 'アカウント', '계정'], PAIR, { within: true, is: isNoPath }),
  rule('password', ['asic', 'ttp auth', 'creds', 'redentials', 'user/pass'], `[^\\n:=]{0,60}?(?:is|are|ist|est|es|é|è|=|:)[ ]["'\`]?[A-Za-z][\\w.@-]{1,40}(?::|[ ]?/[ ]?)([^\\s"'\`,;:/()<>]{6,63})`, { within: true, is: isChosen }),
  rule('password', ' / ', SPACED[1], { before: SPACED[0], is: isOfLogin }),
  rule('password', ['auth', 'Auth', 'ogin', 'og_in', 'ign_in', 'ignIn'], SIGN_IN, { within: true, is: isPassword }),
  rule('password', ['sudo asks', 'sudo prompts', 'sudo fragt'], TYPED, { within: true, is: isChoice }),
  rule('recovery phrase', ['nemonic', 'NEMONIC', 'phrase', 'PHRASE', 'hrase', '12 words', '24 words', '12 Wörter', '24 Wörter', 'seed words', 'allet', '助记词', 'фраза', 'frase se', 'ニーモニック'], `(?:[^\\n:=]{0,30}?[:=(]|是)?${NAMED}${PHRASE}`, { within: true, is: isPhrase }),
  rule('recovery key', ['ecovery key', 'ecovery Key', 'iederherstellungss', 'récupération', 'recuperación', 'recuperação', 'восстановления', '恢复密钥', '回復キー'], `[^\\s\\d]{0,8}${NAMED}(${CODE.replace('{0,3}', '{1,7}').replace('{0,12}', '{0,20}')})`, { within: true, is: () => true }),
  rule('recovery code', ['ackup code', 'ackup-Code', 'ecovery code', 'ecovery-code', 'cratch code', 'iederherstellungsc', 'ode de secours', 'ódigo de ', 'di recupero', 'резервный код', 'код восстановления', '恢复码', '备用码', 'バックアップコード', 'リカバリーコード'], `(?:[^\\s\\d]{1,12})?s?${NAMED}(${CODE}(?:[ ,\\n"'\`]{1,5}${CODE}){0,15})`, { within: true, is: () => true }),
  rule('password', ['pp password', 'pp-password', 'pplication password'], `${NAMED}([a-z]{4}(?: [a-z]{4}){3})(?![ \\w])`, { within: true, is: () => true }),
  rule('connection string', ['@tcp(', '@unix('], '', { before: `[\\w.-]{1,40}:[^\\s"'@:/]{4,100}` }),
  rule('password', ['getConnection(', 'createConnection('], `[^\\n]{1,200}?["'][^"'\\n]{1,60}["'],[ ]{0,2}["']([^"'\\n]{4,100})(?=["'][ ]?\\))`, { within: true, is: (t) => !isPlaceholder(t) }),
  rule('PIN', ['PIN', 'PUK', 'пин-код', 'ПИН'], `[ :=](?:(?:for|of|to|on|für|von|der|des|du|de|da|do|del|della|от|для|code|кода?) (?:[\\w-]{1,20} ){0,5}?)?(?:is|ist|lautet|est|es|é|è|=|:)?[ ]?(\\d{4,8})(?![\\d.:/-])`, { within: true, is: (t) => new Set(t).size > 2 }),
  rule('PIN', ['im pin', 'nlock pin', 'pin is ', 'afe code', 'oor code', 'ate code', 'larm code', 'nlock code', 'ode PIN', 'домофона'], `(?: (?:for|of) (?:[\\w-]{1,20} ){0,4}?)?[ ]?(?:is |ist |est |:[ ]?|=[ ]?)?(\\d{4,8}[#*]?)(?![\\d.:/-])`, { within: true, is: (t) => new Set(t).size > 2 }),
  rule('password', ['wifi', 'Wifi', 'WiFi', 'i-Fi', 'WLAN', 'SSID', 'wlan', 'ssid', 'otspot', 'вайфа'], `[^\\n]{0,60}?(?:[kK]ey|code|clé|clave|chave|[sS]chlüssel|парол|[pP]ass|pw|mdp|senha|密码)[^\\s\\d:=]{0,8}${NAMED}([^\\s"'\`,;()]{8,63})`, { within: true, is: isChoice }),
  rule('password', ['ifi key', 'iFi key', 'LAN key', 'LAN-', 'ifi password', 'iFi password', 'LAN password'], `(?:Schlüssel|Key|Passwort)?${NAMED}(\\d{4}(?:[ -]?\\d{4}){1,6})`, { within: true, is: () => true }),
  // options that mean a password with one command only
  option('openssl', () => /\s-pass(?:in|out)?\s{1,3}["']?pass:([^\s"']{3,200})/g),
  option('nmcli', () => /\s(?:password|wifi-sec\.psk)\s{1,3}["']?([^\s"']{8,63})/g),
  option('curl', () => /\s(?:-\w{0,5}[uU]|--(?:proxy-)?user)[ =]?["']?[^\s:"']{1,100}:([^\s"']{3,200})/g),
  option('mysql,mariadb', () => /\s(?:-p|password\s{1,3}["']?)([^\s"']{3,200})/g),
  option('zip,sqlcmd,bcp,tsql,ipmitool,mosquitto_', CAPITAL, ' -P'),
  option('IDENTIFIED', () => /\sBY\s{1,3}(?:PASSWORD\s{1,3})?["']?([^\s"';]{4,200})/g),
  option('crypt(', () => /^crypt\('([^'\n]{4,100})(?=',\s?gen_salt)/g),
  rule('password', 'dentified by', `[ ]'([^'\n]{3,200})(?=')`, { before: `(?:create|alter|grant)[ ][^\n;]{1,60}`, is: (t) => !isPlain(t) }),
  option('mongo', () => /\s-p\s{0,3}["']?((?![\d.:]{1,30}(?:\s|$))[^\s"']{3,200})/g),
  option('ldap', () => /\s-w\s{1,3}["']?([^\s"']{3,200})/g),
  option('smbclient', () => /\s-U\s{0,3}["']?[^\s"'%]{1,60}%([^\s"']{3,200})/g),
  option('7z,rar ', () => /\s-h?p["']?([^\s"']{3,200})/g),
  option('net use', () => /\s\/user:\S{1,60}\s{1,3}["']?([^\s"'/]{3,200})/gi),
  option('sqlplus,impdp ,expdp ', () => /\s[\w.]{1,60}\/([^\s@"'/]{3,200})/g),
  option('wpa_passphrase', () => /\s\S{1,60}\s{1,3}["']?([^\s"']{8,63})/g),
  option('requirepass', () => /^\w{11}\s{1,3}["']?([^\s"']{3,200})/g),
  option('snmp', () => /\s(?:community|-[AXc])\s{1,3}(?!public|private)([^\s"']{3,200})/g),
  option('redis-cli', () => /\s(?:-a|--pass|AUTH)\s{1,3}["']?([^\s"']{3,200})/g),
  option('sshpass,login,twine,beeline,cqlsh,cypher-shell,rabbitmq,couchbase-cli,elasticsearch-users,ncftp,psexec,PsExec,rdesktop,racadm,altool,keychain,certutil,useradd,usermod', PASSWORD, ' -p'),
  option('openssl enc', () => /\s-[kK]\s{1,3}["']?([^\s"']{3,200})/g),
  option('plink,pscp,psftp,putty', () => /\s-pw\s{1,3}["']?([^\s"']{3,200})/g, ' -pw'),
  option('xfreerdp,mstsc,signtool,cmdkey,schtasks', () => /\s\/(?:p|pass|rp)[ :]["']?([^\s"']{3,200})/g, ' /'),
  option('http', () => /^https? (?:-a|--auth)[ =]["']?[^\s:"']{1,100}:([^\s"']{3,200})/g),
  option('lftp', () => /\s-u\s{0,3}["']?[^\s,"']{1,60},([^\s"']{3,200})/g),
  option('htpasswd -,mosquitto_passwd', () => /\s-\w{0,5}b\w{0,5}\s[^\n]{1,200}?\s["']?([^\s"']{3,200})(?=["']?\s{0,9}$)/g),
  option('add_user ,change_password ,encrypt_string ,bw login ,bw unlock ', () => /^(?:(?:add_user|change_password|bw login)\s\S{1,60}|encrypt_string|bw unlock)\s{1,3}["']?((?!-)[^\s"']{4,200})/g),
  option('net use', () => /\s\\\\\S{1,100}\s{1,3}["']?([^\s"'/]{3,200})(?=["']?\s{1,3}\/user)/gi),
  option('http-basic.', () => /^\S{1,90}\s\S{1,60}\s{1,3}["']?([^\s"']{3,200})/g),
  option('user-secrets set', () => /\sset\s{1,3}["']?[^\s"']{1,80}["']?\s{1,3}["']?([^\s"']{3,200})/g),
  option('ConvertTo-SecureString', () => /^\S+(?:\s-String)?\s{1,3}["']([^"'\n]{3,200})/g),
  option('masterauth,rootpw,bindpw,wpa-psk,pre-shared-key,set-initial-password', SETTING),
  option('enable secret,enable password,AUTH default', () => /^\S+\s\S+(?:\s\d)?\s{1,3}((?=\S{0,60}\d)[^\s"']{6,200})(?=\s{0,9}$)/g),
  rule('password', ' pass:', `([^\\s"']{3,200})`, { before: '-pass(?:in|out)?|pass', is: (t) => !isPlain(t) }),
  // a token behind the command of a tool, or in a call of its library
  rule('token', ['login ', 'auth ', 'uth:token ', 'uthtoken ', 'pypi-token.', '-oauth.', 'apikey ', 'ingeben: ', 'API key: '], `(?:[a-z][\\w.-]{0,40}[ ])?(?:--?[a-z][\\w-]{0,20}[ =]){0,2}["']?([A-Za-z0-9_.-]{20,200})`, { within: true, is: (t) => isRandom(t, 8) && !isPlaceholder(t) && (isRandom(t, 16) || /^[0-9a-f-]{36}$/.test(t)) }),
  rule('token', ['search(', 'wilio(', 'Client(', 'connect('], `[ ]?["'][^"'\n]{4,60}["'],[ ]{0,2}["']([A-Za-z0-9_-]{20,80})(?=["'])`, { within: true, is: (t) => isRandom(t, 16) && !isPlaceholder(t) }),
  rule('token', ['.login(', '.run(', '.auth('], `(?:\\w{1,10}=)?["']([\\w.-]{30,100})(?=["'])`, { within: true, is: (t) => isRandom(t, 12) && !isPlaceholder(t) }),
  rule('token', ['neycomb-team', 'neycomb-Team'], `["']?[ ]?[:=][ ]?["']?(${A}{20,70})`, { within: true, is: (t) => isRandom(t, 12) }),
]

/** What a sentence says behind the name of a password, or before it: the pattern begins right behind the name. */
// biome-ignore format: one rule a line
export const SAID: readonly Rule[] = [
  // "changed the root password to X yesterday", "the password is X.", "user ana and password X"
  rule('password', '', `(?:[ ][^.,\\n]{0,24}?)?[ ](?:to|auf|en|para|a|на)[ ]["'\`]?([A-Z]?[a-z]{7,30})${LAST}`, { before: `(?:set|chang|reset|updat|rotat|änder|cambi|mud)\\w{0,4}[ ][^.,\\n]{0,40}`, is: isWord }),
  rule('password', '', `(?:[ ][^\\n.,:;]{1,40}?)?[ ](?:is|ist)(?: now| simply| just| jetzt)?[ ]["'\`]?([A-Z]?[a-z]{7,30})["'\`]?(?=[.,;!)]?[ ]{0,2}(?:$|\\n))`, { before: `(?:the|my|our|new|das|root|admin)[ ][^.\\n]{0,40}`, is: isWord }),
  rule('password', '', `[ ]["'\`]?([A-Z]?[a-z]{7,30})["'\`]?(?=[.,;!)]?[ ]{0,2}(?:$|\\n))`, { before: `(?:user(?:name)?|login|as)[ ][\\w.@-]{1,40}(?:,| and| with|, and)[ ](?:the )?\\w{2,10}`, is: isWord }),
  rule('passphrase', '', `[^\\n.:=]{0,40}?(?: is| lautet| ist|=|:)[ ]?["'\`]?((?:[a-z]{3,10}[ -]){3,7}[a-z]{3,10})(?=["'\`.,;!)]{0,2}\\s{0,9}(?:$|\\n|[,;.]))`, { before: '\\w{0,30}pass-?phrase', is: isPhrase }),
  rule('password', '', TYPED, { is: isChoice }),
  rule('password', '', '', { before: `(?:type|enter|use)[ ]["'\`]?(?=[^\\s"'\`]{0,40}\\d)[^\\s"'\`]{6,63}["'\`]?[ ](?:when|if)[ ][^\\n]{0,20}(?:prompted|asked) for [^\\n]{0,20}` }),
  // `ALTER ROLE app WITH LOGIN PASSWORD '…'`
  rule('password', '', `[ ]?(?:=[ ]?)?\\(?N?'([^'\\n]{3,200})(?=')`, { before: `(?:CREATE|ALTER|SET|create|alter|set)[ ][^\\n;]{1,60}`, is: (t) => !isPlain(t) }),
]
