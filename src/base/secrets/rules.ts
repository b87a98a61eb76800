import { isNamed, isPair, isPhrase, isPlaceholder, isPlain, isRandom, isSecretValue, isWord } from './is-secret.ts'
import { isNoPath, isOfLogin, isPassword, PAIR, SIGN_IN, SPACED } from './sentences.ts'
import type { SHAPES } from './shapes.ts'

/** A secret that a pattern tells, by its issuer's documentation. Its pattern is compiled once a keyword is found, and cannot backtrack. */
export interface Rule {
  readonly category: string
  /** What a secret of this kind holds literally; the pattern `after` begins right behind it. */
  readonly keywords: readonly string[]
  /** Its group, where it has one, is the secret and ends the pattern. */
  readonly after?: string
  /** What stands right before the keyword, where that does not begin the token. Its group, where it has one, is the secret. */
  readonly before?: string
  /** The prefix is short or a word: what follows must look drawn by chance. */
  readonly random?: true
  /** What a text must hold for its keywords to be looked for. */
  readonly part?: string
  /** May stand right behind a letter, since no word goes on like that. */
  readonly within?: true
  /** Whether it is a secret, by itself and by what stands behind it. Without this, one that is no placeholder is. */
  readonly is?: keyof typeof CHECKS
  /** Finds them all by itself, once a keyword is there. */
  readonly shape?: keyof typeof SHAPES
  /** The keyword is a command, and this the option of it that takes a password: its group, which ends it. */
  readonly option?: string
}

/** What patterns have `%A` and so on for. The token is as long as before `%E`, and no longer. */
export const SHORT: Readonly<Record<string, string>> = {
  A: '[A-Za-z0-9]',
  U: '[A-Za-z0-9_-]',
  H: '[0-9a-f]',
  B: '[A-Za-z0-9+/]',
  I: '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  E: '(?![A-Za-z0-9])',
  PAIR,
  SIGN: SIGN_IN,
  ACCOUNT: SPACED[0],
  VALUE: SPACED[1],
  /** What stands behind `Bearer` and `Basic`. */
  CREDENTIAL: `[ \\t"']{0,4}([A-Za-z0-9_.~+/-]{8,2000}={0,2})`,
  /** `user:password` of a URL, or a token in the user's place. */
  USERINFO: `([^\\s:/@"'\`<>?#]{0,200}(?::[^\\s/@"'\`<>]{4,300})?)(?=@)`,
  /** What an option takes, with blanks in quotation marks. */
  OPTION: `["']?((?<=")[^"\\n]{3,200}|(?<=')[^'\\n]{3,200}|[^\\s"']{3,200})`,
  /** Between a name and what it names. */
  NAMED: `["']?(?: \\([^()\\n]{1,40}\\))?(?: is| are| ist| lautet| est| es| é| è)?[ \\t]{0,3}[:=：]?\\s{0,4}["'\`[]{0,2}`,
  PHRASE: '((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})',
  /** A clause ends or goes on there. */
  STOP: `(?=["'\`]?[ ]?(?:[?.,;)!(]|$|\\n|(?<=[ ])(?:at|for|and|but|so|please|every|each|again|by|when)[ ]))`,
  /** What can be locked. */
  FILE: `(?:pdf|PDF|zip|ZIP|7z|rar|xlsx?|docx?|pptx?|sheet|spreadsheet|workbook|document|archive|file|backup|disk|stick|drive|export|note|folder|image|volume|vault|database|kdbx|Datei|Archiv|Dokument|Tabelle|Mappe|Platte|Stick|fichier|document|archive|archivo|documento|arquivo|cartella)`,
  /** Up to the end of a clause. */
  LAST: '(?=["\'.,;!)]{0,2}(?:\\s*$|\\s*\\n|[ ](?:yesterday|today|now|last|this|on|so|for|and|please|since|until|before)\\b|[,;]))',
  /** A word that is the value: behind it the clause ends, or more is said of it in parentheses. */
  CHOSEN: '(?=[A-Z]?[a-z]{7,30}(?=["\'`]?(?:[ ]?[,;][ ]|[.,;!)]?[ ]{0,2}(?:$|\\n|\\())))',
  /** A mark or a figure is in it. */
  FIGURED: '(?=\\S{0,62}[\\d!#$%^*@&+~=])',
  WIFIKEY: `(?:[kK]ey|[cC]ode|clé|mot de passe|clave|contraseña|chave|senha|chiave|[sS]chlüssel|[pP]ass(?:word|wort|phrase)?|[kK]ennwort|wachtwoord|pwd?|PW|mdp|hasło|парол[ья]?|密码|パスワード)`,
  STAYS: `(?:(?:is|ist|lautet|est|es|é|è)(?: (?:still|now|(?:immer )?noch|weiterhin|unverändert|jetzt|toujours|aún|ancora|ainda))?|has always been|remains|stays|bleibt|reste|sigue siendo)`,
  /** "…, type X" */
  TYPED: `[^\\n.]{0,60}?[ ,](?:type|enter|use|use:|answer|with|gib|tippe|nimm|tape|entre|utilise|escribe|usa|digite|введи|say)[ ](?:in )?["'\`]?([^\\s"'\`,;()<>]{6,63})`,
  CODE: `(?=[A-Za-z-]{0,12}\\d)[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{3,10}){0,3}`,
  LONGCODE: `(?=[A-Za-z-]{0,20}\\d)[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{3,10}){1,7}`,
}

const LOCAL = /^@(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|host\.docker\.internal)\b/
/** Sentry's address for what a page reports stands in the page. */
const DSN = /^[0-9a-f]{32}@[\w.-]{0,30}sentry/
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

const isNetworkKey = (value: string): boolean => isChoice(value) || isWord(value)
const isChoice = (value: string): boolean =>
  /^\d{8,63}$/.test(value) ||
  (isOfLogin(value) && isSecretValue(value, 'password', 'beside', false) && !/[-_]v?\d+\.\d/.test(value)) // a version
/** A login of one word each: `demo:rainbow77`. */
const isChosen = (value: string): boolean => isOfLogin(value) || isWord(value)

/** Programs that lock and open files have such names: `restic017`. */
const TOOL =
  /^[A-Za-z]{1,9}\d{1,2}$|^(?:7?zip|winzip|libreoffice|office|word|excel|restic|borg|vim|qpdf|bitlocker|vera|rclone|sops|gnupg|gpg)/i
const isNoName = (value: string): boolean => isOfLogin(value) && !isNamed(value)
const isLockWord = (value: string): boolean => isNoName(value) && !TOOL.test(value)
const isReallyRandom = (run: number) => (value: string) => isRandom(value, run) && !isPlaceholder(value)
/** By name, so that the rules are constants, which cost nothing to load. */
// biome-ignore format: one check a line
export const CHECKS = {
  any: (_: string, __: string): boolean => true, real: (t: string): boolean => !isPlaceholder(t),
  chosen: (t: string): boolean => !isPlain(t), random8: isReallyRandom(8), random12: isReallyRandom(12), random16: isReallyRandom(16),
  groups: (t: string): boolean => t.split(/[ -]/).filter((four) => /[^aeiouy]{3}/.test(four)).length > 1, // no words
  seed: (t: string): boolean => /[2-7]/.test(t) && !isPlaceholder(t),
  cookie: (t: string): boolean => isRandom(t.replace(/%[0-9A-F]{2}/g, '.'), 12),
  bearer: (t: string): boolean => t.length >= 20 && isReallyRandom(8)(t),
  loginToken: (t: string): boolean => isReallyRandom(8)(t) && (isRandom(t, 16) || /^[0-9a-f-]{36}$/.test(t)),
  code: (t: string): boolean => !/^(?:[a-z]+\d{1,3}|(?:19|20)\d\d(?:[-\s].*)?|[\da-f]{8}(?:-[\da-f]{4}){3}.*)$/is.test(t),
  typed: (t: string): boolean => isOfLogin(t) && /[!#$%^*@&+~=]|\d\d/.test(t) && !/\d\.\d|poly1305|25519|^[a-z]{1,4}\d\d[a-z]+$|^[A-Z]+-?\d+$/.test(t),
  pin: (t: string): boolean => new Set(t).size > 2 && !/^20[12]\d$/.test(t), password: (t: string): boolean => isSecretValue(t, 'password', 'tight', false),
  isChoice, isChosen, isLockWord, isNoName, isNetworkKey, isEncodedKey, isLogin, isNoPath, isOfLogin, isPair, isPassword, isPhrase, isWord,
}

/** Tokens: none is shorter than `RUN` says, or has what stands between words. */
// biome-ignore format: one rule a line
export const TOKENS: readonly Rule[] = [
  // code hosts and CI
  { category: 'GitHub token', keywords: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], after: `%A{16,255}`, within: true },
  { category: 'GitHub token', keywords: ['github_pat_'], after: `[A-Za-z0-9_]{22,255}`, within: true },
  { category: 'GitLab token', keywords: ['glpat-', 'glrt-', 'gldt-', 'glptt-', 'glcbt-', 'glsoat-', 'glft-', 'glimt-', 'glagent-', 'glffct-', 'gloas-'], after: `[A-Za-z0-9_.-]{16,300}` },
  { category: 'GitLab token', keywords: ['GR1348941'], after: `%U{20}` },
  { category: 'Bitbucket token', keywords: ['ATBB', 'ATCTT3xFfG'], after: `[A-Za-z0-9_=-]{24,300}`, random: true },
  { category: 'Atlassian token', keywords: ['ATATT3xFfG'], after: `[A-Za-z0-9_=-]{40,300}` },
  { category: 'Sourcegraph token', keywords: ['sgp_', 'slk_'], after: `(?:%H{16}_|local_)?%H{40}` },
  { category: 'Buildkite token', keywords: ['bk'], after: `(?:ua|ct)_%H{40}` },
  { category: 'CircleCI token', keywords: ['CCIP'], after: `(?:AT|RJ)_%A{16,40}_%H{40}` },
  { category: 'SonarQube token', keywords: ['sqp_', 'squ_', 'sqa_'], after: `%H{40}` },
  { category: 'Snyk token', keywords: ['snyk_'], after: `(?:uat|sat)\\.%H{8}\\.[A-Za-z0-9_.-]{20,300}` },
  { category: 'Azure DevOps token', keywords: ['AZDO'], after: `[A-Za-z0-9]{4}%E`, before: `%A{76}` },
  // packages
  { category: 'npm token', keywords: ['npm_'], after: `%A{36}%E` },
  { category: 'PyPI token', keywords: ['pypi-'], after: `AgE%U{50,300}` },
  { category: 'RubyGems key', keywords: ['rubygems_'], after: `%H{48}` },
  { category: 'crates.io token', keywords: ['cio'], after: `%A{32}%E`, random: true },
  { category: 'NuGet key', keywords: ['oy2'], after: `[a-z0-9]{43}%E`, random: true },
  { category: 'Docker Hub token', keywords: ['dckr_pat_', 'dckr_oat_'], after: `%U{20,80}` },
  { category: 'Artifactory key', keywords: ['AKCp', 'cmVmdGtu'], after: `%A{50,80}` },
  { category: 'Clojars token', keywords: ['CLOJARS_'], after: `%H{60}` },
  // clouds
  { category: 'AWS access key', keywords: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], after: `[A-Z0-9]{16}%E` },
  { category: 'AWS Bedrock key', keywords: ['ABSK'], after: `%B{100,300}` },
  { category: 'AWS session token', keywords: ['IQoJb3JpZ2lu', 'FwoGZXIvYXdz'], after: `[A-Za-z0-9+/=]{100,2000}` },
  { category: 'Google API key', keywords: ['AIza'], after: `%U{35}` },
  { category: 'Google client secret', keywords: ['GOCSPX-'], after: `%U{24,40}` },
  { category: 'Google access token', keywords: ['ya29.'], after: `%U{40,500}` },
  { category: 'Google authorization code', keywords: ['4/0A', '4%2F0A'], after: `%U{30,120}`, random: true },
  { category: 'Google refresh token', keywords: ['1//0'], after: `%U{40,200}`, random: true },
  { category: 'Firebase server key', keywords: [':APA91b'], after: `%U{100,200}`, before: `%U{7,20}` },
  { category: 'Azure client secret', keywords: ['Q~'], after: `[A-Za-z0-9_.~-]{31,34}`, before: `[A-Za-z0-9_.~-]{3}\\d` },
  { category: 'Cloudflare token', keywords: ['cf'], after: `(?:ut|at|k)_%A{32,80}`, random: true },
  { category: 'Cloudflare key', keywords: ['v1.0-'], after: `%H{24}-%H{120,160}` },
  { category: 'DigitalOcean token', keywords: ['_v1_'], after: `%H{64}`, before: 'do[opr]' },
  { category: 'Heroku key', keywords: ['HRKU-'], after: `%U{30,80}` },
  { category: 'Fly.io token', keywords: ['fm1a_', 'fm1r_', 'fm2_', 'fo1_'], after: `[A-Za-z0-9+/=_-]{40,800}` },
  { category: 'Vercel token', keywords: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], after: `%A{24,100}`, random: true },
  { category: 'Vercel token', keywords: ['vercel_blob_rw_'], after: `%A{16}_%A{24,60}` },
  { category: 'Netlify token', keywords: ['nfp_', 'nfc_', 'nfo_', 'nfu_', 'nfb_'], after: `%A{36,60}`, random: true },
  { category: 'Supabase token', keywords: ['sbp_'], after: `(?:v\\d_|oauth_)?%H{40}` },
  { category: 'Supabase key', keywords: ['sb_secret_'], after: `%U{20,60}` },
  { category: 'PlanetScale token', keywords: ['pscale_'], after: `(?:pw|tkn|oauth)_%U{32,64}` },
  { category: 'Neon key', keywords: ['napi_'], after: `[a-z0-9]{60,80}` },
  { category: 'Render key', keywords: ['rnd_'], after: `%A{28,40}`, random: true },
  { category: 'Pulumi token', keywords: ['pul-'], after: `%H{40}` },
  { category: 'Terraform token', keywords: ['.atlasv1.'], after: `%U{60,80}`, before: `%A{14}` },
  { category: 'Doppler token', keywords: ['dp.'], after: `(?:(?:pt|ct|sa|scim|audit)\\.|st\\.(?:[a-z0-9_-]{2,35}\\.)?)%A{40,44}` },
  { category: 'Vault token', keywords: ['hv'], after: `[sbr]\\.%U{24,400}` },
  { category: '1Password token', keywords: ['ops_eyJ'], after: `[A-Za-z0-9+/_-]{100,2000}` },
  { category: 'age key', keywords: ['AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-PQ-1'], after: `[A-Z0-9]{58}` },
  { category: 'Tailscale key', keywords: ['tskey-'], after: `(?:auth|api|client|scim|webhook)-%A{8,30}(?:-%A{20,50})?` },
  { category: 'OpenShift token', keywords: ['sha256~'], after: `%U{43}` },
  { category: 'cluster token', keywords: ['::server:', '::node:'], after: `%H{16,64}`, before: `K10%H{20,64}` },
  { category: 'Databricks token', keywords: ['dapi'], after: `%H{32}(?:-\\d)?` },
  { category: 'Prefect key', keywords: ['pnu_', 'pnb_'], after: `%A{36}` },
  { category: 'Scalingo token', keywords: ['tk-us-'], after: `%U{48}` },
  { category: 'Infracost key', keywords: ['ico-'], after: `%A{32}%E`, random: true },
  { category: 'Harness token', keywords: ['pat.', 'sat.'], after: `%U{22}\\.%H{24}\\.%A{20}` },
  // models
  { category: 'Anthropic key', keywords: ['sk-ant-'], after: `(?:api|admin|oat|ort|sid)\\d\\d-%U{20,200}` },
  { category: 'API key', keywords: ['sk-'], after: `%U{16,300}`, random: true },
  { category: 'Groq key', keywords: ['gsk_'], after: `%A{40,60}` },
  { category: 'xAI key', keywords: ['xai-'], after: `%A{60,100}` },
  { category: 'Replicate token', keywords: ['r8_'], after: `%A{37}` },
  { category: 'Perplexity key', keywords: ['pplx-'], after: `%A{40,60}` },
  { category: 'Hugging Face token', keywords: ['hf_', 'api_org_'], after: `%A{30,60}` },
  { category: 'LangSmith key', keywords: ['lsv2_'], after: `[ps][tk]_%H{32}_%H{10}` },
  { category: 'Pinecone key', keywords: ['pcsk_'], after: `%A{4,8}_%A{50,70}` },
  { category: 'Tavily key', keywords: ['tvly-'], after: `%U{28,60}`, random: true },
  { category: 'NVIDIA key', keywords: ['nvapi-'], after: `%U{60,70}` },
  { category: 'Fireworks key', keywords: ['fw_', 'csk-', 'tgp_v1_', 'jina_', 'e2b_'], after: `%U{22,80}`, random: true },
  { category: 'Firecrawl key', keywords: ['fc-'], after: `%H{32}%E`, random: true },
  { category: 'ElevenLabs key', keywords: ['sk_'], after: `%H{48}` },
  // messages and mail
  { category: 'SendGrid key', keywords: ['SG.'], after: `%U{16,32}\\.%U{32,64}` },
  { category: 'Slack token', keywords: ['xox'], after: `[abdeoprs][-.][A-Za-z0-9.%-]{10,400}` },
  { category: 'Slack token', keywords: ['xapp-'], after: `\\d-[A-Z0-9]{8,16}-\\d{8,16}-[0-9a-f]{40,80}` },
  { category: 'Slack webhook', keywords: ['hooks.slack.com/'], after: `(?:services|workflows|triggers)/[A-Z0-9]{8,14}/[A-Za-z0-9/]{20,100}` },
  { category: 'Discord token', keywords: ['.G', '.X', '.Y', '.Z'], after: `%U{5}\\.%U{27,40}`, before: `[MNO]%U{22,27}` },
  { category: 'Teams webhook', keywords: ['/IncomingWebhook/'], after: `[A-Za-z0-9/_-]{30,200}`, within: true, is: 'any' },
  { category: 'Discord webhook', keywords: ['/webhooks/'], after: `\\d{17,20}/%U{60,80}`, before: `(?:https?://)?(?:[\\w.-]{4,40}/api(?:/v\\d{1,2})?)?`, is: 'any' },
  { category: 'webhook', keywords: ['/bot/v2/hook/', '/webhook/send?key=', '/hooks/', '.make.com/', '://webhook.site/', '://hc-ping.com/', '/with/key/', '/integration/', '/20131114/alert/', '.day.app/', '.ftqq.com/', '.alchemy.com/v2/', 'infura.io/v3/', '.ankr.com/eth/', 'quiknode.pro/', '://ntfy.sh/', '/webhook/'], after: `(%U{16,100}(?:/%U{20,100})?)`, within: true, part: '://', is: 'random8' },
  { category: 'Telegram token', keywords: [':AA'], after: `[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])`, before: `(?:bot)?\\d{8,10}` },
  { category: 'Twilio key', keywords: ['SK'], after: `%H{32}%E` },
  { category: 'Mailgun key', keywords: ['key-'], after: `%H{32}%E` },
  { category: 'mail service key', keywords: ['-us'], after: `\\d{1,2}(?![0-9A-Za-z-])`, before: `%H{32}` },
  { category: 'mail service or recovery key', keywords: ['-'], after: `(?:%H{8}-%H{8}|\\d{6}(?:-\\d{6}){6})(?![0-9A-Za-z-])`, before: `(?:%H{32}|\\d{6})` },
  { category: 'Brevo key', keywords: ['xkeysib-', 'xsmtpsib-'], after: `%H{64}-%A{16}` },
  { category: 'Resend key', keywords: ['re_'], after: `%A{6,12}_%A{20,40}`, random: true },
  { category: 'Zapier webhook', keywords: ['hooks.zapier.com/hooks/catch/'], after: `\\d{4,12}/[a-z0-9]{6,20}` },
  // payments and shops
  { category: 'Stripe key', keywords: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'sk_org_'], after: `[A-Za-z0-9_]{16,250}` },
  { category: 'webhook secret', keywords: ['whsec_'], after: `[A-Za-z0-9+/=]{24,80}` },
  { category: 'Square token', keywords: ['sq0'], after: `(?:at|cs)p-%U{22,60}` },
  { category: 'Square token', keywords: ['EAAA'], after: `%U{60}%E` },
  { category: 'Plaid token', keywords: ['access-'], after: `(?:production|development|sandbox)-%I` },
  { category: 'Shopify token', keywords: ['shp'], after: `(?:at|ss|ca|pa|ua)_[0-9A-Fa-f]{32}` },
  { category: 'Shippo token', keywords: ['shippo_'], after: `(?:live|test)_%H{40}` },
  { category: 'EasyPost key', keywords: ['EZAK', 'EZTK'], after: `%A{54}` },
  { category: 'Flutterwave key', keywords: ['FLWSECK'], after: `(?:_TEST)?-%A{12,40}` },
  { category: 'Adyen key', keywords: ['AQE'], after: `[A-Za-z0-9+/=]{60,300}\\.[A-Za-z0-9]{8,20}` },
  // observation
  { category: 'New Relic key', keywords: ['NR'], after: `(?:AK|II|JS|RA|IQ)-%U{19,40}` },
  { category: 'New Relic key', keywords: ['NRAL'], after: `%E`, before: `%H{36}` },
  { category: 'Grafana token', keywords: ['glsa_'], after: `%A{32}_%H{8}` },
  { category: 'Grafana token', keywords: ['glc_', 'eyJrIjoi'], after: `[A-Za-z0-9+/=]{32,400}` },
  { category: 'Sentry token', keywords: ['sntryu_'], after: `%H{64}` },
  { category: 'Sentry token', keywords: ['sntrys_'], after: `eyJ[A-Za-z0-9+/=_]{40,600}` },
  { category: 'Datadog key', keywords: ['ddapp_', 'ddapi_'], after: `%A{32,60}`, random: true },
  { category: 'Dynatrace token', keywords: ['dt0'], after: `[cs]\\d\\d\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}` },
  { category: 'PostHog key', keywords: ['phx_'], after: `%A{32,60}`, random: true },
  { category: 'LaunchDarkly key', keywords: ['sdk-', 'api-'], after: `%I%E` },
  // what people work with
  { category: 'Figma token', keywords: ['figd_', 'figo_', 'figdr_'], after: `%U{36,80}` },
  { category: 'Linear key', keywords: ['lin_'], after: `(?:api|oauth|wh)_%A{32,64}` },
  { category: 'Notion token', keywords: ['ntn_'], after: `%A{40,60}` },
  { category: 'Notion token', keywords: ['secret_'], after: `%A{43}%E`, random: true },
  { category: 'HubSpot token', keywords: ['pat-'], after: `(?:na|eu|ap)\\d-%I` },
  { category: 'Mapbox token', keywords: ['k.eyJ'], after: `%U{20,400}\\.%U{20,60}`, before: '[st]' },
  { category: 'Postman key', keywords: ['PMAK-', 'PMAT-'], after: `(?:%H{24}-%H{34}|[0-9A-Z]{26})` },
  { category: 'Contentful token', keywords: ['CFPAT-'], after: `%U{40,60}` },
  { category: 'Typeform token', keywords: ['tfp_'], after: `%U{40,70}` },
  { category: 'ReadMe key', keywords: ['rdme_'], after: `[a-z0-9]{70}` },
  { category: 'Frame.io token', keywords: ['fio-u-'], after: `%U{64}` },
  { category: 'Zuplo key', keywords: ['zpka_'], after: `%A{32}_%H{8}` },
  { category: 'Duffel token', keywords: ['duffel_'], after: `(?:live|test)_%U{43}` },
  { category: 'Dropbox token', keywords: ['sl.B', 'sl.C', 'sl.u.'], after: `%U{60,1500}`, random: true },
  { category: 'Mollie key', keywords: ['live_', 'test_'], after: `%A{30}%E`, random: true },
  { category: '1Password key', keywords: ['A3-'], after: `[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){4,5}` },
  { category: 'API key', keywords: ['y0_', 'vk1.a.', 'hcaik_', 'xprv', 'zprv', 'AQVN', 'AKID', 'LTAI', 'GOOG1E', 'EAAC', 'EAAG', 'apify_api_', 'nsec1', 'signkey-', 'pdl_', 'polar_', 'APP_USR-', 'tk_', 'pk_', 'ck_', 'cs_', 'key_'], after: `(?!live_|test_)[A-Za-z0-9_:./%-]{16,400}`, random: true },
  // everywhere
  { category: 'JSON web token', keywords: ['eyJ'], after: `%U{8,500}\\.%U{8,6000}\\.%U{8,1000}` },
  { category: 'password hash', keywords: ['$2'], after: `[aby]\\$\\d\\d\\$[A-Za-z0-9./]{53}`, within: true },
  { category: 'password hash', keywords: ['$1$', '$apr1$', '$5$', '$6$', '$y$'], after: `(?:rounds=\\d{1,9}\\$|j[A-Za-z0-9./]{1,8}\\$)?[A-Za-z0-9./]{1,40}\\$[A-Za-z0-9./]{22,90}`, within: true },
  { category: 'password hash', keywords: ['$argon2'], after: `(?:id|i|d)\\$[A-Za-z0-9./+=,$]{40,300}`, within: true },
  { category: 'access token', keywords: ['pat'], after: `%A{14}\\.%H{64}%E` },
  { category: 'access token', keywords: ['0/', '1/', '2/'], after: `\\d{15,17}(?:/\\d{15,17})?:%H{32}%E` },
  { category: 'access token', keywords: ['/private-'], after: `%H{32}%E`, within: true },
  { category: 'X token', keywords: ['AAAAAAAAAAAAAAAAAAAA'], after: `[A-Za-z0-9%]{60,200}`, random: true },
  { category: 'private key', keywords: ['LS0tLS1CRUdJTi'], after: `[A-Za-z0-9+/=]*`, within: true, is: 'isEncodedKey' },
  { category: 'connection string', keywords: ['oracle:thin:'], after: `[\\w.]{1,60}/([^\\s@"'/]{3,200})(?=@)`, within: true },
  { category: 'authorization code', keywords: ['?code=', '&code='], after: `([A-Za-z0-9_.~%/-]{20,2000})`, within: true, is: 'random16' },
  { category: 'API key', keywords: ['appid=', 'APPID='], after: `(%H{32})%E`, is: 'real' },
]

/** What else is known by its form, or by its place. */
// biome-ignore format: one rule a line
export const RULES: readonly Rule[] = [
  { category: 'Okta token', keywords: ['SSWS 00'], after: `%U{40}` },
  // keys and logins
  { category: 'private key', keywords: ['PRIVATE KEY', 'Private-Lines:'], shape: 'privateKeys' },
  { category: 'AWS secret key', keywords: ['AKIA', 'ASIA'], shape: 'awsSecrets' },
  { category: 'password', keywords: ['INSERT', 'insert'], shape: 'inserts' },
  { category: 'password', keywords: ['</th>', '</TH>'], shape: 'htmlTables' },
  { category: 'credentials in a URL', keywords: ['http://', 'https://'], after: `%USERINFO`, within: true, is: 'isLogin' },
  { category: 'Vault key', keywords: ['nseal Key ', 'nseal key '], after: `(?:\\d{1,2})?(?:: ?| is |=)(%B{43,44}=?)%E`, within: true, is: 'real' },
  { category: 'one-time password', keywords: ['eed', 'FA ', 'fa ', 'OTP', 'otp', 'totp', 'uthenticator', 'generator', 'инутн'], after: `(?:[^\\n]{0,80}?[ :="'\`(])?["']?((?:[A-Z2-7]{4}[ ]){3,12}[A-Z2-7]{2,4}|(?=[a-z ]{0,40}[2-7])(?:[a-z2-7]{4}[ ]){3,12}[a-z2-7]{4}|[A-Z2-7]{16,128})%E`, within: true, is: 'seed' },
  { category: 'connection string', keywords: ['://'], after: `%USERINFO`, within: true, is: 'isLogin' },
  { category: 'connection string', keywords: ['://'], after: `[^\\s:/@"'<>]{1,60}@[\\w.-]{1,60}:([^\\s/@"'<>]{4,300})(?=@)`, within: true, is: 'chosen' },
  { category: 'bearer token', keywords: ['earer', 'BEARER'], after: `[ :=]%CREDENTIAL`, within: true, is: 'bearer' },
  { category: 'basic authorization', keywords: ['asic ', 'BASIC '], after: `%CREDENTIAL`, within: true, is: 'isPair' },
  { category: 'session cookie', keywords: ['connect.sid', '.sess=', '.sid=', 'dentity.Application', 'logged_in_', 'li_at=', 'remember_token'], after: `(?:\\w{1,40})?(?: cookie)?(?: is |["']?[=:][ ]?)["']?([A-Za-z0-9%._~+/|:!-]{20,4000}={0,2})`, within: true, is: 'cookie' },
  { category: 'password', keywords: ['echo ', 'printf '], after: `(?:-n[ ])?(?:["']?%s["']?[ ])?["']?([^\\s"'|$(%]{4,200})(?=["']?[ ]{0,2}\\|[ ](?:sudo[ ])?(?:(?:sudo -S|-S|docker|podman|passwd|kinit|helm|su )[ ]?|[a-z][\\w-]{1,20}[ ][^\\n|]{0,60}(?:secret|SECRET|token|TOKEN|pass|PASS|login|_KEY)))`, is: 'chosen' },
  { category: 'password', keywords: ['<<<'], after: `[ ]?["']?([^\\s"'$]{4,200})`, before: `(?:sudo -S|(?:kinit|cryptsetup)[^\\n|]{0,40}|-stdin|\\w{0,20}(?:passwd|secret|SECRET|token|TOKEN|key|KEY|pass|PASS|auth|login)[^\\n|]{0,40})[ ]`, is: 'chosen' },
  { category: 'password', keywords: ['| chpasswd', '| sudo chpasswd', 'This may also be found at'], before: `(?:[\\w.-]{1,30}:[^\\s"'|$]{3,50}["']?\\s?|%H{32}\\s{1,6})` },
  // `.pgpass`: host:port:database:user:password
  { category: 'password', keywords: [':5432:', ':5433:', ':6432:', ':*:'], after: `[\\w*-]{1,64}:[\\w-]{1,64}:(?!:)([^\\s"'\`]{6,200})`, within: true, is: 'password' },
  // logins without a name for either half; words and codes that let in
  { category: 'password', keywords: ['creds', 'Creds', 'reden', 'ugang: ', 'оступ: ', 'user/pass', 'name/pass', 'ugangsdaten', 'nmeldedaten', 'dentifiants'], after: `%PAIR`, within: true, is: 'isOfLogin' },
  { category: 'password', keywords: ['ogin', 'ccount', 'Konto', 'compte', 'cuenta', 'логин', 'Логин', 'учётк', 'учетк', '账号', '帳號', 'アカウント', '계정'], after: `%PAIR`, within: true, is: 'isNoPath' },
  { category: 'password', keywords: ['asic', 'ttp auth', 'creds', 'redentials', 'user/pass'], after: `[^\\n:=]{0,60}?(?:is|are|ist|est|es|é|è|=|:|->|→)[ ]["'\`]?[A-Za-z][\\w.@-]{1,40}(?::|[ ]?/[ ]?)([^\\s"'\`,;:/()<>]{6,63})`, within: true, is: 'isChosen' },
  { category: 'password', keywords: [' / ', ' // '], after: `%VALUE`, before: `%ACCOUNT`, is: 'isOfLogin' },
  { category: 'password', keywords: [' p: ', '\np: ', ' p:', ' p='], after: `%VALUE`, before: `(?:u|l|usr|user|login)[:=][ ]?[^\\s,;]{1,40}[,;/|]?`, is: 'isOfLogin' },
  { category: 'password', keywords: [' admin', ' root', '`admin', '`root'], after: `(?:[:+]|,? (?:and )?then |, | (?:and|und|[+&–]|(?:with|mit|avec|con)(?= \\S{0,62}[a-z])(?= \\S{0,62}(?:[!#$%^*@&+~=]|\\d\\d))) )%VALUE`, within: true, is: 'isNoPath' },
  { category: 'password', keywords: [' and then ', ' then '], after: `%VALUE(?=[ ](?:for|at|on|to|in)[ ]|[.,;]?(?:$|\\n|[ ]))`, before: `%ACCOUNT,?`, is: 'isNoPath' },
  { category: 'password', keywords: ['root/', 'admin/'], after: `%VALUE(?=[ ](?:on|at|for|auf|en|sur|for)[ ])`, is: 'isNoPath' },
  { category: 'password', keywords: ['secrets file', 'ecrets-file', 'passwd file', 'ssword file', 'users file', 'asswords', 'ogins', 'redentials', 'asswörter', 'ugangsdaten'], after: `[^\\n]{0,40}\\n[-=*\\s]{0,40}[\\w .@-]{1,40}(?:[:=][ ]?|[ ]-[ ])%VALUE`, within: true, is: 'isOfLogin' },
  { category: 'password', keywords: ['og into ', 'og in to ', 'ign into ', 'gin as ', 'nticate as ', 'g in as ', 'gn in as ', 'gin with ', 'g in with ', 'gn in with ', 'ccess ', 'ecte-toi avec ', 'ecter avec ', 'esión con ', 'elde dich mit ', 'elden mit ', 'ccede con ', 'ntra con ', 'ccedi con ', 'oggin met ', 'ойди под ', 'ойти под '], after: `%PAIR`, within: true, is: 'isNoPath' },
  { category: 'password', keywords: ['asło do ', 'aslo do ', 'ật khẩu', 'ata sandi', 'ozink', 'ωδικό', 'סיסמ', 'كلمة ', 'รหัสผ่าน', 'पासवर्ड', 'pass phrase', 'Pass phrase', 'pass-phrase', 'access code', 'Access code', 'ugangscode', 'code d\'accès', 'ódigo de acce', 'ódigo de ace', 'ódigo secreto', 'ecret code', 'ecret word', 'ecret phrase', 'toegangscode', 'odice di accesso', 'od dostępu', 'од доступа'], after: `[^\\n.]{0,50}?(?:[ :=]|：)[ ]?%VALUE`, within: true, is: 'isOfLogin' },
  { category: 'password', keywords: ['ocked with ', 'rotected with ', 'ncrypted with ', 'ecured with ', 'errouillé avec ', 'rotégé avec ', 'hiffré avec ', 'loqueado con ', 'rotegido con ', 'ifrado con ', 'rotetto con ', 'rotegido com ', 'loccato con '], after: `%VALUE%STOP`, before: `%FILE[^.\\n]{0,50}?[ ,'](?:password-)?[a-z]{1,3}`, is: 'isLockWord' },
  { category: 'password', keywords: ['nlock ', 'ecrypt ', 'ntsperr', 'éverrouille ', 'esbloquea '], after: `[^.\\n]{0,30}%FILE[^.\\n]{0,20}?[ ](?:with|using|mit|avec|con)[ ]%VALUE%STOP`, within: true, is: 'isLockWord' },
  { category: 'password', keywords: [' mit '], after: `%VALUE(?=["'\`]?[ ](?:gesperrt|verschlüsselt|geschützt|gesichert))`, before: `%FILE[^.\\n]{0,50}`, is: 'isLockWord' },
  { category: 'password', keywords: [' typed ', ' entered ', ' type ', ' enter '], after: `(?:in[ ])?%VALUE%STOP`, before: `\\w{0,14}(?:enied|uthentication fail|y again|assword|psql -|mysql -|redentials)[^\\n]{0,60}`, is: 'isNoName' },
  { category: 'password', keywords: [' typed ', ' entered '], after: `%VALUE(?=["'\`]?[ ][^\\n]{0,80}(?:denied|uthentication fail|y again|assword|redentials))`, is: 'isNoName', within: true },
  { category: 'password', keywords: ['storePassword ', 'keyPassword '], after: `["']([^"'\\s]{4,100})(?=["'])`, is: 'chosen' },
  { category: 'password', keywords: [' key 0 ', ' key 7 ', ' secret 0 ', ' password 0 ', ' password 7 '], after: `([^\\s"']{6,100})(?=\\s{0,9}(?:\\n|$))`, within: true, is: 'isOfLogin' },
  { category: 'credential', keywords: ['master.key', 'master key', 'dentials/'], after: `(?:[\\w-]{1,20}\\.key)?(?:[^\\n]{0,60}?(?:is|prints|shows|says|[:=])[ ]["'\`]?|(?<!(?:sum|md5|sha\\d{1,3})[^\\n]{0,60})[^\\w\\n]{0,9}\\n(?:\`{3}\\w{0,10}\\n)?[ ]{0,8}(?=%H{32}%E))(%H{32,64})%E`, within: true, is: 'real' },
  { category: 'credential', keywords: ['master.key'], before: `(%H{32})["']?[ ]{1,2}>{1,2}[ ]?[\\w./-]{0,40}`, is: 'real' },
  { category: 'password', keywords: ['auth', 'Auth', 'ogin', 'og_in', 'ign_in', 'ignIn'], after: `%SIGN`, within: true, is: 'isPassword' },
  { category: 'password', keywords: ['WiFi.begin', 'mysqli', 'new PDO', 'mysql_connect', 'lient.connect', 'ftp_login', 'auth_password', 'imap_open', 'redential', 'asicAuth', 'setAuth'], after: `\\w{0,10}[ ]?\\([ ]?(?:["'][^"'\\n]{0,90}["'],[ ]?){1,2}["']([^"'\\n]{6,100})(?=["'])`, within: true, is: 'isPassword' },
  { category: 'credential', keywords: ['jwt.sign(', 'jwt.verify(', 'reateHmac(', 'jwt.encode(', 'jwt.decode(', 'encrypt(', 'decrypt(', 'hmac.new(', 'ookieParser(', 'hash_hmac(', 'md5(', 'MD5(', 'SHA1(', 'SHA2(', 'crypt.hash', 'password_hash(', 'make_password(', 'hash_password('], after: `[^"'\\n]{0,60}(?:["'][\\w-]{1,12}["'],[ ]?)?b?["']([^"'\\s]{8,200})(?=["'])`, within: true, is: 'isOfLogin' },
  { category: 'password', keywords: ['sudo asks', 'sudo prompts', 'sudo fragt'], after: `%TYPED`, within: true, is: 'isChoice' },
  { category: 'recovery phrase', keywords: ['nemonic', 'NEMONIC', 'phrase', 'PHRASE', 'hrase', '12 words', '24 words', '12 Wörter', '24 Wörter', 'seed words', 'allet', '助记词', 'фраза', 'frase se', 'ニーモニック'], after: `(?:[^\\n:=]{0,30}?[:=(]|是)?%NAMED%PHRASE`, within: true, is: 'isPhrase' },
  { category: 'recovery key', keywords: ['ecovery key', 'ecovery Key', 'iederherstellungss', 'récupération', 'recuperación', 'recuperação', 'восстановления', '恢复密钥', '回復キー'], after: `(?:[^\\s\\d]{0,8}%NAMED|[^\\n]{0,70}?(?:[:=]| is| ist| est| es)[ ]?)(%LONGCODE)`, within: true, is: 'code' },
  { category: 'recovery code', keywords: ['ackup code', 'ackup-Code', 'ecovery code', 'ecovery-code', 'cratch code', 'iederherstellungsc', 'ode de secours', 'ódigo de ', 'di recupero', 'резервный код', 'код восстановления', '恢复码', '备用码', 'バックアップコード', 'リカバリーコード'], after: `(?:(?:[^\\s\\d]{1,12})?s?%NAMED|[^\\n]{0,70}?(?:[:=]| is| are| left| one| use)[ ]?\\s{0,4}["'\`]?|[^\\n]{0,60}\\r?\\n{1,2}[ *•-]{0,4}(?=%CODE(?:[ -]%CODE)?[ ]{0,2}\\r?\\n[ *•-]{0,4}%CODE(?:[ -]%CODE)?[ ]{0,2}(?:\\r?\\n|$)))(%CODE(?:[ ,\\n"'\`]{1,5}%CODE){0,15})`, within: true, is: 'code' },
  { category: 'password', keywords: ['assword', 'ASSWORD', 'PASS', '_pass', 'asswort', 'contraseña', 'mot de passe', 'senha', 'пароль'], after: `[^\\n:=]{0,50}?(?:\\b(?:is|ist|es|est)|é|[:=])[ ]?["'\`(]{0,2}([a-z0-9]{4}(?:[ -][a-z0-9]{4}){3})(?![\\w-])`, within: true, is: 'groups' },
  { category: 'connection string', keywords: ['@tcp(', '@unix('], before: `[\\w.-]{1,40}:[^\\s"'@:/]{4,100}` },
  { category: 'password', keywords: ['getConnection(', 'createConnection('], after: `[^\\n]{1,200}?["'][^"'\\n]{1,60}["'],[ ]{0,2}["']([^"'\\n]{4,100})(?=["'][ ]?\\))`, within: true, is: 'real' },
  { category: 'PIN', keywords: ['PIN', 'PUK', ' puk', ' pin', 'in code', 'in-Code', 'IN-Code', 'incode', 'пин-код', 'ПИН'], after: `(?=[ :=.,;])(?:(?<! pin)|(?<=(?:lock|bank|card|host|phone|[iI][mM]) pin)|(?= (?:for|of|to|d[eaou]|del|is(?= \\d)) ))(?:[^\\n]{0,60}?(?:[.:;!?,] (?:[Ii]t's|[Oo]urs|[Mm]ine|[Uu]se|[Tt]ry|[Ee]nter|[Tt]ype)| %STAYS)[ ](?:is )?|[^\\n?]{0,40}\\?\\s(?:\\w{1,12}: )?(?:[Ii]t(?:'s| is) )?|[ :=](?:(?:(?:for|of|to|on|für|von|der|des|du|de|da|do|del|della|от|для|code|кода?) |(?=[а-яё]))(?:[\\w-]{1,20} |[а-яё]{3,20} ){0,5}?)?(?:%STAYS|was|used to be|war|era|=|:)?[ ]?)(\\d{4,8}[#*]?)(?![\\w:/-]|\\.\\d|[ ]?(?:[a-z]{1,9}s|[mkMµ]?[VAH]z?|[mc]m|baud|rpm)\\b)`, within: true, is: 'pin' },
  { category: 'PIN', keywords: ['phone', 'watch', 'ablet', 'iPad', 'laptop', 'screen', 'andy', 'portable', 'móvil', 'léfono', 'lefono', 'celular', 'oor', 'gate', 'Gate', 'arage', 'larm', 'llarme', 'safe', 'Safe', 'vault', 'eypad', 'lock', 'ür', 'Tor ', 'resor', 'ließfach', 'omofon', 'sejf', 'Sejf', 'bram', 'furtk', 'ortail', 'offre', 'igicode', 'immeuble', 'uerta', 'ortal', 'fuerte', 'candado', 'ortão', 'ofre', 'ancello', 'assaforte', 'ortone', 'itofono', 'kluis', 'двер', 'ворот', 'сейф', 'игнализ', 'омофон', 'одъезд'], shape: 'lockCodes' },
  { category: 'PIN', keywords: ['afe code', 'oor code', 'ate code', 'larm code', 'nlock code', 'ode PIN', 'cess code', 'rity code', 'ard code', 'itscode', 'ürcode', 'rmcode', 'ngscode', 'rrcode', 'code for the ', 'asscode', 'creen code', 'hone code', 'ode du coffre', 'сейфа', '暗証番号', '현관 비밀번호', '解锁密码', 'ode de l', 'ódigo de la ', 'домофона'], after: `(?<!code for the (?!gate|door|garage|alarm|safe))(?: (?:for|of|der|des|vom|zum|del?|du) (?:[\\w-]{1,20} ){0,4}?[\\w-]{1,20})?[^\\n\\d:=]{0,12}?[ ]?(?:is |ist |est |[是为は는][ ]?|:[ ]?|=[ ]?)?(\\d{4,8}[#*]?)(?![\\d.:/-])`, within: true, is: 'pin' },
  { category: 'password', keywords: ['wifi', 'Wifi', 'WiFi', 'i-Fi', 'WLAN', 'SSID', 'wlan', 'ssid', 'otspot', 'вайфа', 'WPA'], after: `[^\\n]{0,60}?(?:%WIFIKEY[^\\s\\d:=;(){}"]{0,8}(?:[ ](?:for|für|fürs|im|in|pour|para|per)[ ][^\\n:=]{1,40}(?=:))?%NAMED(?=[^\\s"'\`,;()]{8})%FIGURED|(?:[ ]["'\`]?[A-Z][\\w -]{1,30}["'\`]?,?[ ](?:(?:and|y|und|et|e|i|и|with|mit|con)[ ])?(?:(?:the|la|der|das|a|il|le)[ ])?(?![kK]ey|[cC]ode|Pass(?!wort))%WIFIKEY|%WIFIKEY(?::|[ ](?:is|ist|est|es|é|è|c'est|to)))[ ]["'\`]?%CHOSEN)([^\\s"'\`,;()]{7,63})`, within: true, is: 'isNetworkKey' },
  { category: 'password', keywords: ['ifi', 'i-Fi', 'iFi', 'WLAN', 'wlan'], before: `%WIFIKEY[ ](?:du |de |do |del |della |da |for |for the |от |für |fürs )?\\w?`, after: `(?:[ ](?:de[lr]?|du|da|do|of|at|in|im|für|for)[ ][^\\n:=.]{1,30}?)?(?:[ ]?[:=]|[ ](?:is|ist|est|es|é|è))[ ]["'\`]?(?:(?=[^\\s"'\`,;]{8})%FIGURED|%CHOSEN)([^\\s"'\`,;]{7,63})`, is: 'isNetworkKey', within: true },
  { category: 'password', keywords: ['ifi key', 'iFi key', 'LAN key', 'LAN-', 'WPA-', 'ifi password', 'iFi password', 'LAN password'], after: `(?:Schlüssel|Key|Passwort)?(?:[ ](?:for|für|fürs|im|in)[ ][^\\n:=]{1,60}(?=:))?%NAMED(\\d{4}(?:[ -]?\\d{4}){1,6})`, within: true, is: 'any' },
  { category: 'password', keywords: ['mc alias set ', 'mcli alias set ', 'mc config host add '], after: `\\S{1,40}[ ]["']?\\S{1,200}[ ]["']?[^\\s"']{1,100}["']?[ ]["']?([^\\s"']{6,200})`, is: 'chosen' },
  // options that mean a password with one command only
  { category: 'password', keywords: ['openssl'], option: `\\s-pass(?:in|out)?\\s{1,3}["']?pass:([^\\s"']{3,200})` },
  { category: 'password', keywords: ['ssh-keygen'], option: `\\s-[NP]\\s{0,3}%OPTION` },
  { category: 'password', keywords: ['pdf'], option: `\\s-[uo]pw\\s{1,3}%OPTION`, part: 'pw ' },
  { category: 'password', keywords: ['rclone obscure', 'openssl passwd', 'mkpasswd', 'vncpasswd'], option: `^(?:\\w+[ ](?:obscure|passwd)|mkpasswd|vncpasswd)(?:[ ]-[\\w-]{1,12}(?:[ ]sha-?\\d{3})?){0,3}[ ](?![-<|]|sha-?\\d)%OPTION` },
  { category: 'password', keywords: ['impacket', 'secretsdump', 'psexec.py', 'wmiexec'], option: `\\s["']?(?:[\\w.-]{1,40}/)?[\\w.-]{1,40}:([^\\s"'@]{3,200})(?=@)` },
  { category: 'password', keywords: ['assword', 'assphrase'], after: `[^\\n]{0,24}?[ {;][ ]?\\s{0,9}send(?: --)?[ ]"([^"\\\\$]{4,60})(?=\\\\)`, within: true, is: 'chosen', part: 'send' },
  { category: 'password', keywords: ['put-parameter'], option: `^(?=[^\\n]{0,400}(?:SecureString|pass|secret|token|key))[^\\n]{1,400}?\\s--value[ =]%OPTION` },
  { category: 'password', keywords: ['secretsmanager', 'keyvault secret'], option: `\\s--(?:secret-string|value)[ =]%OPTION` },
  { category: 'password', keywords: ['bundle config'], option: `^bundle config (?:set )?(?:--\\w+ )?\\S+\\s[\\w.-]{1,40}:(?!//)([^\\s"']{3,200})` },
  { category: 'password', keywords: ['nmcli'], option: `\\s(?:password|wifi-sec\\.psk)\\s{1,3}["']?([^\\s"']{8,63})` },
  { category: 'password', keywords: ['curl'], option: `\\s(?:-\\w{0,5}[uU]|--(?:proxy-)?user)[ =]?["']?(?:[^\\s:"']{1,100}:(?=[^\\s"']{3})|(?=[\\w-]{20,200}:?(?:["'\\s]|$)))([^\\s"']{3,200})` },
  { category: 'password', keywords: [' -u '], after: `[^\\n|;&]{1,80}?[ ]-p[ =]?["']?(?!-)([^\\s"'|;&]{6,100})`, within: true, is: 'isNoPath' },
  { category: 'password', keywords: ['mysql', 'mariadb'], option: `[\\s"'](?:-p["']?|password\\s{1,3}["']?)([^\\s"']{3,200})` },
  { category: 'password', keywords: ['zip', 'sqlcmd', 'bcp', 'tsql', 'ipmitool', 'mosquitto_', 'isql', 'osql', 'security import'], option: `\\s-P\\s{0,3}["']?([^\\s"']{3,200})`, part: ' -P' },
  { category: 'password', keywords: ['IDENTIFIED'], option: `\\sBY\\s{1,3}(?:PASSWORD\\s{1,3})?["']?([^\\s"';]{4,200})` },
  { category: 'password', keywords: ['crypt('], option: `^crypt\\('([^'\\n]{4,100})(?=',\\s?gen_salt)` },
  { category: 'password', keywords: ['dentified by'], after: `[ ]'([^'\n]{3,200})(?=')`, before: `(?:create|alter|grant)[ ][^\n;]{1,60}`, is: 'chosen' },
  { category: 'password', keywords: ['mongo'], option: `\\s-p\\s{0,3}["']?((?![\\d.:]{1,30}(?:\\s|$))[^\\s"']{3,200})` },
  { category: 'password', keywords: ['ldap', 'kadmin'], option: `\\s-w(?:\\s{1,3}["']?|["'])([^\\s"']{3,200})` },
  { category: 'password', keywords: ['smbclient', 'rpcclient', 'smbget', 'winexe'], option: `\\s-U\\s{0,3}["']?[^\\s"'%]{1,60}%([^\\s"']{3,200})` },
  { category: 'password', keywords: ['7z', 'rar '], option: `\\s-h?p["']?([^\\s"']{3,200})` },
  { category: 'password', keywords: ['net use'], option: `\\s/[uU][sS][eE][rR]:\\S{1,60}\\s{1,3}["']?([^\\s"'/]{3,200})` },
  { category: 'password', keywords: ['sqlplus', 'impdp ', 'expdp '], option: `\\s[\\w.]{1,60}/([^\\s@"'/]{3,200})` },
  { category: 'password', keywords: ['net user '], after: `[\\w.-]{1,40}[ ]["']?([^\\s"'/*]{4,100})(?=["']?[ ]/)`, is: 'chosen' },
  { category: 'password', keywords: ['wpa_passphrase'], option: `\\s\\S{1,60}\\s{1,3}["']?([^\\s"']{8,63})` },
  { category: 'password', keywords: ['requirepass'], option: `^\\w{11}\\s{1,3}["']?([^\\s"']{3,200})` },
  { category: 'password', keywords: ['snmp'], option: `[\\s_](?:community|-[AXc])["']?[\\s:=]{1,3}["']?(?!public|private)([^\\s"']{3,200})` },
  { category: 'password', keywords: ['sp_addlogin', 'sp_password', 'sp_addlinkedsrvlogin'], option: `^\\w+\\s{1,3}[^\\n;]{1,100}?,[ ]?N?'([^'\\n]{3,200})` },
  { category: 'password', keywords: ['redis-cli'], option: `\\s(?:-a|--pass|AUTH)\\s{1,3}["']?([^\\s"']{3,200})` },
  { category: 'password', keywords: ['sshpass', 'supabase', 'login', 'twine', 'beeline', 'cqlsh', 'cypher-shell', 'rabbitmq', 'couchbase-cli', 'elasticsearch-users', 'ncftp', 'psexec', 'PsExec', 'rdesktop', 'racadm', 'altool', 'keychain', 'certutil', 'useradd', 'usermod', 'steghide', 'crackmapexec', 'evil-winrm', 'nxc ', 'smbmap', 'hydra'], option: `\\s-p=?\\s{0,3}["']?([^\\s"']{3,200})`, part: ' -p' },
  { category: 'password', keywords: ['openssl enc', 'openssl aes', 'openssl des', 'crypt '], option: `\\s-[kK]\\s{1,3}["']?([^\\s"']{3,200})` },
  { category: 'password', keywords: ['plink', 'pscp', 'psftp', 'putty'], option: `\\s-pw\\s{1,3}["']?([^\\s"']{3,200})`, part: ' -pw' },
  { category: 'password', keywords: ['xfreerdp', 'mstsc', 'signtool', 'cmdkey', 'schtasks'], option: `\\s/(?:p|pass|rp)[ :]["']?([^\\s"']{3,200})`, part: ' /' },
  { category: 'password', keywords: ['http'], option: `^https? (?:-a|--auth)[ =]["']?[^\\s:"']{1,100}:([^\\s"']{3,200})` },
  { category: 'password', keywords: ['lftp'], option: `\\s-u\\s{0,3}["']?[^\\s,"']{1,60},([^\\s"']{3,200})` },
  { category: 'password', keywords: ['htpasswd -', 'mosquitto_passwd'], option: `\\s-\\w{0,5}b\\w{0,5}\\s[^\\n]{1,200}?\\s["']?([^\\s"']{3,200})(?=["']?\\s{0,9}$)` },
  { category: 'password', keywords: ['add_user ', 'change_password ', 'encrypt_string ', 'bw login ', 'bw unlock '], option: `^(?:(?:add_user|change_password|bw login)\\s[^\\s'",]{1,60}|encrypt_string|bw unlock)\\s{1,3}["']?((?!-)[^\\s"']{4,200})` },
  { category: 'password', keywords: ['net use'], option: `\\s\\\\\\\\\\S{1,100}\\s{1,3}["']?([^\\s"'/]{3,200})(?=["']?\\s{1,3}/[uU][sS][eE][rR])` },
  { category: 'password', keywords: ['http-basic.'], option: `^\\S{1,90}\\s\\S{1,60}\\s{1,3}["']?([^\\s"']{3,200})` },
  { category: 'password', keywords: ['user-secrets set'], option: `\\sset\\s{1,3}["']?[^\\s"']{1,80}["']?\\s{1,3}["']?([^\\s"']{3,200})` },
  { category: 'password', keywords: ['ConvertTo-SecureString'], option: `^\\S+(?:\\s-String)?\\s{1,3}["']([^"'\\n]{3,200})` },
  { category: 'token', keywords: ['codecov', 'coveralls', 'sentry-cli', 'snyk'], option: `\\s(?:-t|--token|--auth-token)[ =]["']?([\\w-]{20,64})` },
  { category: 'password', keywords: ['masterauth', 'rootpw', 'bindpw', 'wpa-psk', 'pre-shared-key', 'set-initial-password'], option: `^\\S+\\s{1,3}["']?([^\\s"']{3,200})(?=["']?\\s{0,9}$)` },
  { category: 'password', keywords: ['enable secret', 'enable password', 'AUTH default'], option: `^\\S+\\s\\S+(?:\\s\\d)?\\s{1,3}((?=\\S{0,60}\\d)[^\\s"']{6,200})(?=\\s{0,9}$|\\s(?:then|and|to|in|on)\\s)` },
  { category: 'password', keywords: [' pass:'], after: `([^\\s"']{3,200})`, before: '-pass(?:in|out)?|pass', is: 'chosen' },
  // a token behind the command of a tool, or in a call of its library
  { category: 'token', keywords: ['login ', 'auth ', 'uth:token ', 'uthtoken ', 'pypi-token.', '-oauth.', 'apikey ', 'ingeben: ', 'API key: '], after: `(?:[a-z][\\w.-]{0,40}[ ])?(?:--?[a-z][\\w-]{0,20}[ =]){0,2}["']?([A-Za-z0-9_.-]{20,200})`, within: true, is: 'loginToken' },
  { category: 'token', keywords: ['search(', 'wilio(', 'Client(', 'connect('], after: `[ ]?["'][^"'\n]{4,60}["'],[ ]{0,2}["']([A-Za-z0-9_-]{20,80})(?=["'])`, within: true, is: 'random16' },
  { category: 'token', keywords: ['.login(', '.run(', '.auth(', 'Client(', 'client(', 'Api(', 'API(', '.configure('], after: `(?:\\w{1,10}=)?["']([\\w.-]{30,100})(?=["'])`, within: true, is: 'random12' },
  { category: 'token', keywords: ['neycomb-team', 'neycomb-Team'], after: `["']?[ ]?[:=][ ]?["']?(%A{20,70})`, within: true, is: 'random12' },
]

/** What a sentence says behind the name of a password, or before it: the pattern begins right behind the name. */
// biome-ignore format: one rule a line
export const SAID: readonly Rule[] = [
  // "changed the root password to X yesterday", "the password is X.", "user ana and password X"
  { category: 'password', keywords: [''], after: `(?:[ ][^.,\\n]{0,24}?)?[ ](?:to|auf|en|para|a|на)[ ]["'\`]?([A-Z]?[a-z]{7,30})%LAST`, before: `(?:set|chang|reset|updat|rotat|änder|cambi|mud)\\w{0,4}[ ][^.,\\n]{0,40}`, is: 'isWord' },
  { category: 'password', keywords: [''], after: `[ ][^.,\\n]{0,40}?(?:re)?set to[ ]["'\`]?([A-Z]?[a-z]{7,30})%LAST`, is: 'isWord', part: 'et to ' },
  { category: 'password', keywords: [''], after: `(?:[ ][^\\n.,:;]{1,40}?)?(?:[ ](?:is|ist)(?: now| simply| just| jetzt)?|(?<=(?:sudo|luks|LUKS)[ ]\\w{2,10}|[kK]ennwort)[ ]?[:=])[ ]["'\`]?%CHOSEN([A-Za-z]{7,31})`, before: `(?:(?:[Tt]he|[Mm]y|[Oo]ur|new|[Dd]as|root|admin)[ ][^.\\n]{0,40}|(?:sudo|key|luks|LUKS)[ ]\\w{2,10}|[Pp]w|PW|[Kk]ennwort)`, is: 'isWord' },
  { category: 'password', keywords: [''], after: `[ ]["'\`]?([A-Z]?[a-z]{7,30})["'\`]?(?=[.,;!)]?[ ]{0,2}(?:$|\\n|\\())`, before: `(?:user(?:name)?|login|as|[Bb]enutzer(?:name)?|[Nn]utzer|[Ii]dentifiant|[Uu]tilisateur|[Uu]su[aá]rio|[Uu]tente|użytkownik|gebruiker|[Лл]огин|ользователь|账号|用户名)[ ][\\w.@-]{1,40}(?:,| and| with|, and| und| mit| y| et| e| i| и)[ ]?(?:the )?[^\\s,;:]{2,12}(?: de passe)?`, is: 'isWord' },
  { category: 'passphrase', keywords: [''], after: `[^\\n.:=]{0,40}?(?:(?: is| lautet| ist|=|:)[ ]?["'\`]?(?=(?:[a-z]{3,10}[ -]){3})|[ ]?(?:->|→|[:=] ?"|is ")[ ]?)((?:[a-z]{3,10}[ -]){2,7}[a-z]{3,10})(?=["'\`.,;!)]{0,2}\\s{0,9}(?:$|\\n|[,;.]))`, before: '\\w{0,30}pass-?phrase', is: 'isPhrase', part: 'hrase' },
  { category: 'password', keywords: [''], before: `(?:type|enter|use)[ ]["'\`]?(?=[^\\s"'\`]{0,40}\\d)[^\\s"'\`]{6,63}["'\`]?[ ](?:when|if)[ ][^\\n]{0,20}(?:prompt|ask)(?:ed|s) for [^\\n]{0,20}`, part: ' for ' },
  // `ALTER ROLE app WITH LOGIN PASSWORD '…'`
  { category: 'password', keywords: [''], after: `[ ]?(?:=[ ]?)?\\(?N?'([^'\\n]{3,200})(?=')`, before: `(?:CREATE|ALTER|SET|create|alter|set)[ ][^\\n;]{1,60}`, is: 'chosen', part: "'" },
]
