import { isPair, isPlaceholder, isRandom, isSecretValue } from './judge.ts'
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

const PASSWORD = /\s-p\s{0,3}["']?([^\s"']{3,200})/g

/** Words before `admin / …`, without what may be a capital. */
const LOGINS =
  'creds,Creds,reden,gin as ,g in as ,gn in as ,gin with ,g in with ,gn in with ,user/pass,name/pass,ugangsdaten,nmeldedaten,dentifiants'.split(
    ',',
  )
/** Between a name and what it names. */
const NAMED = `["']?(?: is| are)?[ \\t]{0,3}[:=]?\\s{0,4}["'\`[]{0,2}`
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
  rule('Buildkite token', ['bkua_', 'bkct_'], `${H}{40}`),
  rule('CircleCI token', ['CCIPAT_', 'CCIPRJ_'], `${A}{16,40}_${H}{40}`),
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
  rule('Cloudflare token', ['cfut_', 'cfat_', 'cfk_'], `${A}{32,80}`, RANDOM),
  rule('Cloudflare key', 'v1.0-', `${H}{24}-${H}{120,160}`),
  rule('DigitalOcean token', ['dop_v1_', 'doo_v1_', 'dor_v1_'], `${H}{64}`),
  rule('Heroku key', 'HRKU-', `${U}{30,80}`),
  rule('Fly.io token', ['fm1a_', 'fm1r_', 'fm2_', 'fo1_'], `[A-Za-z0-9+/=_-]{40,800}`),
  rule('Vercel token', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], `${A}{24,100}`, RANDOM),
  rule('Vercel token', 'vercel_blob_rw_', `${A}{16}_${A}{24,60}`),
  rule('Netlify token', ['nfp_', 'nfc_', 'nfo_', 'nfu_', 'nfb_'], `${A}{36,60}`, RANDOM),
  rule('Supabase token', 'sbp_', `(?:v\\d_|oauth_)?${H}{40}`),
  rule('Supabase key', 'sb_secret_', `${U}{20,60}`),
  rule('PlanetScale token', ['pscale_pw_', 'pscale_tkn_', 'pscale_oauth_'], `${U}{32,64}`),
  rule('Neon key', 'napi_', `[a-z0-9]{60,80}`),
  rule('Render key', 'rnd_', `${A}{28,40}`, RANDOM),
  rule('Pulumi token', 'pul-', `${H}{40}`),
  rule('Terraform token', '.atlasv1.', `${U}{60,80}`, { before: `${A}{14}` }),
  rule('Doppler token', ['dp.pt.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'], `${A}{40,44}`),
  rule('Doppler token', 'dp.st.', `(?:[a-z0-9_-]{2,35}\\.)?${A}{40,44}`),
  rule('Vault token', ['hvs.', 'hvb.', 'hvr.'], `${U}{24,400}`),
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
  rule('LangSmith key', ['lsv2_pt_', 'lsv2_sk_'], `${H}{32}_${H}{10}`),
  rule('Pinecone key', 'pcsk_', `${A}{4,8}_${A}{50,70}`),
  rule('Tavily key', 'tvly-', `${U}{28,60}`, RANDOM),
  rule('NVIDIA key', 'nvapi-', `${U}{60,70}`),
  rule('Fireworks key', ['fw_', 'csk-', 'tgp_v1_', 'jina_', 'e2b_'], `${U}{22,80}`, RANDOM),
  rule('Firecrawl key', 'fc-', `${H}{32}${END}`, RANDOM),
  rule('ElevenLabs key', 'sk_', `${H}{48}`),
  // messages and mail
  rule('SendGrid key', 'SG.', `${U}{16,32}\\.${U}{32,64}`),
  rule('Slack token', ['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xoxe.'], `[A-Za-z0-9.-]{10,400}`),
  rule('Slack token', 'xapp-', `\\d-[A-Z0-9]{8,16}-\\d{8,16}-[0-9a-f]{40,80}`),
  rule('Slack webhook', 'hooks.slack.com/', `(?:services|workflows|triggers)/[A-Z0-9]{8,14}/[A-Za-z0-9/]{20,100}`),
  rule('Discord webhook', ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'], `\\d{17,20}/${U}{60,80}`),
  rule('Discord token', ['.G', '.X', '.Y', '.Z'], `${U}{5}\\.${U}{27,40}`, { before: `[MNO]${U}{22,27}` }),
  rule('Teams webhook', '.webhook.office.com/webhookb2/', `[A-Za-z0-9@-]{36,100}/IncomingWebhook/[A-Za-z0-9/-]{30,100}`),
  rule('Telegram token', ':AA', `[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])`, { before: `(?:bot)?\\d{8,10}` }),
  rule('Twilio key', 'SK', `${H}{32}${END}`),
  rule('Mailgun key', 'key-', `${H}{32}${END}`),
  rule('mail service key', '-us', `\\d{1,2}(?![0-9A-Za-z-])`, { before: `${H}{32}` }),
  rule('mail service key', '-', `${H}{8}-${H}{8}(?![0-9A-Za-z-])`, { before: `${H}{32}` }),
  rule('Brevo key', ['xkeysib-', 'xsmtpsib-'], `${H}{64}-${A}{16}`),
  rule('Resend key', 're_', `${A}{6,12}_${A}{20,40}`, RANDOM),
  rule('Zapier webhook', 'hooks.zapier.com/hooks/catch/', `\\d{4,12}/[a-z0-9]{6,20}`),
  // payments and shops
  rule('Stripe key', ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'sk_org_'], `[A-Za-z0-9_]{16,250}`),
  rule('webhook secret', 'whsec_', `[A-Za-z0-9+/=]{24,80}`),
  rule('Square token', ['sq0atp-', 'sq0csp-'], `${U}{22,60}`),
  rule('Square token', 'EAAA', `${U}{60}${END}`),
  rule('Plaid token', 'access-', `(?:production|development|sandbox)-${UUID}`),
  rule('Shopify token', ['shpat_', 'shpss_', 'shpca_', 'shppa_', 'shpua_'], `[0-9A-Fa-f]{32}`),
  rule('Shippo token', ['shippo_live_', 'shippo_test_'], `${H}{40}`),
  rule('EasyPost key', ['EZAK', 'EZTK'], `${A}{54}`),
  rule('Flutterwave key', ['FLWSECK_TEST-', 'FLWSECK-'], `${A}{12,40}`),
  rule('Adyen key', 'AQE', `[A-Za-z0-9+/=]{60,300}\\.[A-Za-z0-9]{8,20}`),
  // observation
  rule('New Relic key', ['NRAK-', 'NRII-', 'NRJS-', 'NRRA-', 'NRIQ-'], `${U}{19,40}`),
  rule('New Relic key', 'NRAL', END, { before: `${H}{36}` }),
  rule('Grafana token', 'glsa_', `${A}{32}_${H}{8}`),
  rule('Grafana token', ['glc_', 'eyJrIjoi'], `[A-Za-z0-9+/=]{32,400}`),
  rule('Sentry token', 'sntryu_', `${H}{64}`),
  rule('Sentry token', 'sntrys_', `eyJ[A-Za-z0-9+/=_]{40,600}`),
  rule('Datadog key', ['ddapp_', 'ddapi_'], `${A}{32,60}`, RANDOM),
  rule('Dynatrace token', ['dt0c01.', 'dt0s01.', 'dt0s16.'], `[A-Z0-9]{24}\\.[A-Z0-9]{64}`),
  rule('PostHog key', 'phx_', `${A}{32,60}`, RANDOM),
  rule('LaunchDarkly key', ['sdk-', 'api-'], `${UUID}${END}`),
  // what people work with
  rule('Figma token', ['figd_', 'figo_', 'figdr_'], `${U}{36,80}`),
  rule('Linear key', ['lin_api_', 'lin_oauth_', 'lin_wh_'], `${A}{32,64}`),
  rule('Notion token', 'ntn_', `${A}{40,60}`),
  rule('Notion token', 'secret_', `${A}{43}${END}`, RANDOM),
  rule('HubSpot token', 'pat-', `(?:na|eu|ap)\\d-${UUID}`),
  rule('Mapbox token', ['sk.eyJ', 'tk.eyJ'], `${U}{20,400}\\.${U}{20,60}`),
  rule('Postman key', 'PMAK-', `${H}{24}-${H}{34}`),
  rule('Postman key', 'PMAT-', `[0-9A-Z]{26}`),
  rule('Contentful token', 'CFPAT-', `${U}{40,60}`),
  rule('Typeform token', 'tfp_', `${U}{40,70}`),
  rule('ReadMe key', 'rdme_', `[a-z0-9]{70}`),
  rule('Frame.io token', 'fio-u-', `${U}{64}`),
  rule('Zuplo key', 'zpka_', `${A}{32}_${H}{8}`),
  rule('Duffel token', ['duffel_live_', 'duffel_test_'], `${U}{43}`),
  rule('Okta token', 'SSWS 00', `${U}{40}`),
  // everywhere
  rule('JSON web token', 'eyJ', `${U}{8,500}\\.${U}{8,6000}\\.${U}{8,1000}`),
  rule('password hash', ['$2a$', '$2b$', '$2y$'], `\\d\\d\\$[A-Za-z0-9./]{53}`, { within: true }),
  rule('password hash', ['$1$', '$apr1$', '$5$', '$6$', '$y$'], `(?:rounds=\\d{1,9}\\$|j[A-Za-z0-9./]{1,8}\\$)?[A-Za-z0-9./]{1,40}\\$[A-Za-z0-9./]{22,90}`, { within: true }),
  rule('password hash', ['$argon2id$', '$argon2i$', '$argon2d$'], `[A-Za-z0-9./+=,$]{40,300}`, { within: true }),
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
  rule('one-time password', ['eed: ', 'eed=', 'eed is '], `["']?([A-Z2-7]{16,128})${END}`, { within: true, is: (t) => isRandom(t, 16) && !isPlaceholder(t) }),
  rule('connection string', '://', USERINFO, { within: true, is: isLogin }),
  rule('bearer token', ['Bearer ', 'bearer ', 'BEARER ', 'earer:', 'earer='], CREDENTIAL, { within: true, is: (t) => t.length >= 20 && isRandom(t, 8) && !isPlaceholder(t) }),
  rule('basic authorization', ['Basic ', 'basic ', 'BASIC '], CREDENTIAL, { within: true, is: isPair }),
  rule('password', ['| chpasswd', '| sudo chpasswd'], '', { before: `[\\w.-]{1,30}:[^\\s"'|$]{3,50}["']?\\s?` }),
  // `.pgpass`: host:port:database:user:password
  rule('password', [':5432:', ':5433:', ':6432:', ':*:'], `[\\w*-]{1,64}:[\\w-]{1,64}:(?!:)([^\\s"'\`]{6,200})`, { within: true, is: (value) => isSecretValue(value, 'password', 'tight', false) }),
  // logins without a name for either half; words and codes that let in
  rule('password', LOGINS, PAIR, { within: true, is: isOfLogin }),
  rule('password', ['ogin', 'ccount', 'логин', 'Логин', 'учётк', 'учетк', '账号', '帳號', 'アカウント', '계정'], PAIR, { within: true, is: isNoPath }),
  rule('password', ' / ', SPACED[1], { before: SPACED[0], is: isOfLogin }),
  rule('password', ['auth', 'Auth', 'ogin', 'og_in', 'ign_in', 'ignIn'], SIGN_IN, { within: true, is: isPassword }),
  rule('recovery phrase', ['nemonic', 'eed phrase', 'ecovery phrase', 'ecret phrase'], `${NAMED}((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})`, { within: true, is: () => true }),
  rule('recovery code', ['ackup code', 'ecovery code', 'cratch code'], `s?${NAMED}(${CODE}(?:[ ,\\n"'\`]{1,5}${CODE}){0,15})`, { within: true, is: () => true }),
  rule('password', ['pp password', 'pp-password', 'pplication password'], `${NAMED}([a-z]{4}(?: [a-z]{4}){3})(?![ \\w])`, { within: true, is: () => true }),
  rule('connection string', ['@tcp(', '@unix('], '', { before: `[\\w.-]{1,40}:[^\\s"'@:/]{4,100}` }),
  rule('password', ['getConnection(', 'createConnection('], `[^\\n]{1,200}?["'][^"'\\n]{1,60}["'],[ ]{0,2}["']([^"'\\n]{4,100})(?=["'][ ]?\\))`, { within: true, is: (t) => !isPlaceholder(t) }),
  rule('PIN', ['PIN ', 'PIN:'], `(?:(?:for|of|to|on|für|von) (?:\\w{1,20} ){1,4}?)?(?:is|ist|=|:)?[ ]?(\\d{4,8})(?![\\d.])`, { within: true, is: (t) => new Set(t).size > 2 }),
  rule('password', ['ifi key', 'iFi key', 'LAN key', 'ifi password', 'iFi password', 'LAN password'], `${NAMED}(\\d{4}(?:[ -]\\d{4}){1,6})`, { within: true, is: () => true }),
  // options that mean a password with one command only
  option('openssl', /\s-pass(?:in|out)?\s{1,3}["']?pass:([^\s"']{3,200})/g),
  option('nmcli', /\s(?:password|wifi-sec\.psk)\s{1,3}["']?([^\s"']{8,63})/g),
  option('curl', /\s(?:-u|--user)[ =]?["']?[^\s:"']{1,100}:([^\s"']{3,200})/g),
  option('sshpass', PASSWORD),
  option('mysql', /\s-p([^\s"']{3,200})/g),
  option('mariadb', /\s-p([^\s"']{3,200})/g),
  option('docker login', PASSWORD),
  option('podman login', PASSWORD),
  option('registry login', PASSWORD),
  option('zip', /\s-P\s{0,3}["']?([^\s"']{3,200})/g),
  option('IDENTIFIED', /\sBY\s{1,3}(?:PASSWORD\s{1,3})?["']([^\s"']{4,200})/g),
  option('mongo', /\s-p\s{0,3}["']?((?![\d.:]{1,30}(?:\s|$))[^\s"']{3,200})/g),
  option('ldap', /\s-w\s{1,3}["']?([^\s"']{3,200})/g),
  option('smbclient', /\s-U\s{0,3}["']?[^\s"'%]{1,60}%([^\s"']{3,200})/g),
  option('7z', /\s-p["']?([^\s"']{3,200})/g),
  option('net use', /\s\/user:\S{1,60}\s{1,3}["']?([^\s"'/]{3,200})/gi),
  option('sqlplus', /\s[\w.]{1,60}\/([^\s@"'/]{3,200})/g),
  option('wpa_passphrase', /\s\S{1,60}\s{1,3}["']?([^\s"']{8,63})/g),
  option('requirepass', /^\w{11}\s{1,3}["']?([^\s"']{3,200})/g),
  option('snmp', /\scommunity\s{1,3}([^\s"']{3,200})/g),
  option('redis-cli', /\s-a\s{1,3}["']?([^\s"']{3,200})/g),
]
