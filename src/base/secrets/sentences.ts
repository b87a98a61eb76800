/** How people tell each other a password: in a sentence, or as `user / password`. */
import { type Given, isSecretValue } from './is-secret.ts'

/** Whether a pattern of a look behind, which is matched backwards from there, holds at a place. */
export const holds = (pattern: RegExp, text: string, at: number): boolean => {
  pattern.lastIndex = at
  return pattern.test(text)
}

const OF =
  "for|of|on|to|at|in|from|fürs?|von|vom|der|zum|zur|auf|bei|del?|della|d[aio]s?|du|des|para|por|per|pour|sur|en|em|na|no|od|do|dla|pro|k|от|для|к|на|из|у|в|till?|för|på|van|voor|om|na|pt|d'[a-zà-ü]{2,20}|that|which|they|we|i|you|die|das|wir|qu[e'][a-z]{0,4}|che"
/** "is now", "ist jetzt" */
const NOW = 'now|simply|just|currently|still|jetzt|ahora|maintenant|adesso|agora|ora|теперь|сейчас'
const IS =
  "(?:is|was) (?:left|set) (?:as|to|at)|ends up as|turned out to be|became|stays|remains|is|was|are|(?:must|should|has to) be(?: set to)?|ist|lautet|lauten|war|es|era|était|est|c'est|é|è|jest|je|är|er|on|este|adalah|это|такой"
/** After these another thing is told. */
const ELSE = 'and|or|but|if|when|because|und|oder|aber|y|o|pero|et|ou|mais|и|или|но'

const WORD = `[ \\t]{1,4}(?!(?:${ELSE})[ \\t])[^\\s:=,;!?"\`<>(){}]{0,29}[^\\s:=,;!?"'\`<>(){}.]`

/** Right behind the name: "token header", "clé API", "mdp root". */
const KIND =
  '(?:header|value|cookie|wert|valeur|valor|api|wi-?fi|wlan|root|admin|sudo|db|ssh|vpn|secr[eè]te|priv[ée]e|secret[ao]|segreta|privada|privata|maître|maestra)'

/** Between the name of a secret and its value: "for the staging box is", ": ", "ist", "是". */
const TOLD = new RegExp(
  // what it opens, if told: in Russian without a preposition
  `(?:[ \\t]{1,4}(?:(?:${OF}|api|secr[eè]te|secreta|segreta)(?:${WORD}){1,7}?|${KIND}|[а-яё]{3,30}(?:${WORD}){0,6}?))?(?: \\([^()\\n]{1,60}\\))?` +
    // and then it comes
    `(?:[ \\t]{0,4}(?:->|→|—|–)|(?<=[ ](?:от|для|к)[ ](?!пользоват|юзер|сервер|хост|верси|аккаунт)[а-яё]{3,20})[ ](?=[A-Za-z]\\S{0,40}\\d)|[ \\t]{0,4}(?:=>|[:=](?![:/=]))|[ \\t]{1,4}-(?=[ \\t])|,?[ \\t]{1,4}(?:${IS})(?! (?:changed|updated|reset) )(?: (?:${NOW}))?(?::|(?=[ \\t]))|,[ \\t](?:${NOW})(?:[ \\t](?:${IS}|it's))?:?(?=[ \\t])|[ \\t]{1,2}\\((?=[^()\\s]{6,64}\\))|[ \\t]{0,2}(?:(?:[はが]|는|은|이|가|就?是?)[ ]?(?:(?:これ|こちら|以下|次)(?:の通り|のとおり)?(?:です|になります)?|(?:这个|這個|在?这里|在?這裡|如下|以下)|(?:이것|다음|아래)(?:입니다|과 같습니다)?)[。：:、，,.]{0,2}\\s{0,3}|已?(?:改|设|設|换)[置成为為]{0,2}了?[成为為]?|是|为|為|は|が|を|는|은|이|가))[ \\t]{0,4}(?:(?<=:[ \\t]{0,4})\\r?\\n\\s{0,8})?`,
  'iy',
)

/** "which password …? it's X", and the answer in the next line */
const ANSWERED =
  /(?:[ \t][^\n?.:=;]{0,70})?\?["')]{0,2}(?:\s{1,4}(?:>[ ]|[aA]:[ ]|- )?(?:(?:it|that|they|should|must|ça|das|es|sie|eso|lo)[ ])?(?:(?:it's|that's|is|was|should be|must be|use|try|probably|maybe|still|its|try|perhaps|I (?:believe|think|guess)(?: it's| it is| it was)?|ist|war|müsste|sollte|wohl|immer noch|nimm|c'est|était|devrait être|toujours|essaie|es|era|debería ser|prueba|è|é|deve ser|dovrebbe essere|это|попробуй)(?:[ ](?:now|still|just|probably|again|jetzt|noch|sein))?:?[ ])|[ ]?\r?\n(?:>[ ]?)?(?:(?:\[[\d:. ]{4,12}\] )?[A-Za-z]\w{0,12}: )?(?=["'`]|\S{6,40}[ ]{0,3}(?:\r?\n|$)))/iy

/** "changed the password to …" */
const TO = /(?:[ \t]{1,4}[^.,:;=\n]{1,40}?)?[ \t]{1,4}(?:to|auf|en|a|para|на):?[ \t]{1,4}/iy
const TO_WORDS = [' to', ' auf ', ' en ', ' a ', ' para ', ' на ']
const CHANGES =
  /(?<=(?:\b(?:set|chang|reset|updat|rotat|cambi|mud|modific|änder|setz)|смени|поменя|установи)[^\s.]{0,5}[ \t][^.\n]{0,40})/iy
const CHANGED =
  /^(?:[ \t]{1,4}(?:on|of|for) [^.,\n]{1,40}?)?[ \t]{1,4}(?:(?:was|is|has been) )?(?:changed|updated|reset|set|geändert|gesetzt)\b|^[^.\n]{1,60} (?:geändert|gesetzt)\b/i

// Patterns are compiled when they are first used, and these take 3 ms: most texts that hold a name spare them.
/** One of these stands in all that `TOLD` finds. */
const TELLS = new RegExp(`[-:=→—–(а-я\\u2e80-\\uffef]|[ \\t](?:${IS}|${NOW})[ \\t:]`, 'i')
/** No longer is what stands between a name and its value. */
const TOLD_MAX = 500

export function told(text: string, start: number, end: number): number | undefined {
  if (!/[\s=:?,(-]|[^\0-\x7f]/.test(text[end] ?? '.')) return undefined
  TOLD.lastIndex = TO.lastIndex = ANSWERED.lastIndex = end
  const near = text.slice(end, end + 80)
  if (/\?["')]{0,2}\s/.test(near) && ANSWERED.test(text)) return ANSWERED.lastIndex - end
  if (TELLS.test(text.slice(end, end + TOLD_MAX)) && TOLD.test(text)) return TOLD.lastIndex - end
  if (!TO_WORDS.some((word) => near.includes(word)) || !TO.test(text)) return undefined
  return holds(CHANGES, text, start) || CHANGED.test(text.slice(end, end + 90)) ? TO.lastIndex - end : undefined
}

/** Filler between a value and the name of it: "X is the new root password". */
const FILLER_MAX = 4

/** Where a value stands before its name: "X is the password", "set the password to X" has it behind. */
export function toldBefore(text: string, start: number, end: number): [number, number] | undefined {
  if (
    !/^(?:[ \t]*(?:$|[.,;:!?)\n])|[ \t]+(?:for|of|on|to|at|in|für|an|when|once|if|wenn|cuando|quand)\b)/.test(
      text.slice(end, end + 8),
    )
  )
    return undefined
  const from = Math.max(0, start - 110)
  const words = [...text.slice(from, start).matchAll(/\S+/g)]
  for (let i = words.length - 1; i > 0 && words.length - i <= FILLER_MAX; i--) {
    const word = words[i]![0]
    if (/^(?:is|as|ist|als|es|como|est|comme|come|jako)$/i.test(word)) {
      const { 0: told, index } = words[i - 1]!
      const lead = /^["'`(]*/.exec(told)![0].length
      const tail = /["'`),.]{0,9}$/.exec(told)![0].length
      return (from > 0 && index === 0) || told.length - lead - tail < 6
        ? undefined
        : [from + index + lead, from + index + told.length - tail]
    }
    if (!/^[A-Za-z-]+$/.test(word)) return undefined
  }
  return undefined
}

/** What a connection string has beside the password. */
const KEYS =
  '(?:server|host(?:name|addr)?|data source|address|user(?: ?id|name)?|uid|database|initial catalog|dbname|port|driver|dsn|endpoint|sslmode|ssl mode|encrypt)'
const PAIRS = new RegExp(`(?:^|[;"'\\s])${KEYS}[ \\t]{0,2}=`, 'i')
const PAIR_BEFORE = new RegExp(`(?<=(?:^|[\\s"'])${KEYS}=[^\\s;]{1,80}[ \\t])`, 'iy')
const PAIR_BEHIND = new RegExp(`[^\\s;"'\`]{1,100};[ \\t]{0,4}${KEYS}[ \\t]{0,2}=`, 'iy')
const SEPARATED = /(?<=;[ \t]{0,4})/y
const LINE_MAX = 200

/** Whether a name and a value are one of the pairs of a connection string: whatever stands there is the password. */
export function isRecord(text: string, start: number, value: number): boolean {
  if (holds(SEPARATED, text, start)) {
    const before = text.slice(Math.max(0, start - LINE_MAX), start)
    return PAIRS.test(before.slice(before.lastIndexOf('\n') + 1))
  }
  return holds(PAIR_BEFORE, text, start) || holds(PAIR_BEHIND, text, value)
}

/** A `.netrc`, and "user ana password …". */
const MACHINE = /(?<=(?:\bmachine\s{1,9}[^\s:,]{1,100}|\bdefault)\s{1,20}login\s{1,20}[^\s:,]{1,100}\s{1,20})/y
const LOGIN =
  '(?:login|host(?:name)?|ssid|user(?:[ _]?(?:name|id))?|usr|uid|email|benutzer(?:name)?|usu[aá]rio|utilisateur|identifiant|utente)'
const WHO = '["\'`]?(?!(?:and|or)\\b)[^\\s"\'`,;]{1,60}["\'`]?'
const USER = new RegExp(
  `(?<=(?:\\b(?:${LOGIN}|account)|логин|пользователь)[ \\t:=]{1,4}${WHO}[ \\t]{0,2}[,;/]?\\s{1,4}(?:(?:and|with|und|mit|y|et|e|the|a|mot de)[ \\t]{1,2}){0,2})`,
  'iy',
)
/** In a line of its own or beside it, but not in an object of a program: there the value is a name. */
const USER_GIVEN = new RegExp(
  `(?<=(?<![{(]\\s{0,8}["']?)(?:(?:\\b|_)(?:${LOGIN}|name)["']?[ \\t]{0,2}[:=]|-${LOGIN}[ =])[ \\t]{0,4}${WHO}(?:[ \\t]{0,2}[,;/]?[ \\t]{1,4}(?:mot de )?|\\r?\\n[ \\t+>|-]{0,20}))`,
  'iy',
)
const SECTION = /^[ \t]*\[[\w.:" -]{1,60}\][ \t]*$/m
const ENV = /(?<=(?:^|\n)[ \t]{0,20}(?:ENV|setx|SetEnv|set -gx|#define)[ \t]{1,4})/y

export const isPaired = (text: string, start: number, given: Given): boolean =>
  holds(USER_GIVEN, text, start) && (given !== 'equals' || SECTION.test(text.slice(Math.max(0, start - 300), start)))

/** Without one before it nobody's name stands there. */
const ACCOUNTS = new RegExp(`${LOGIN}|account|логин|пользователь`, 'i')

export function givenBeside(text: string, start: number): Given {
  const isWithName = ACCOUNTS.test(text.slice(Math.max(0, start - 500), start))
  if (isWithName && holds(MACHINE, text, start)) return 'record'
  if (holds(ENV, text, start)) return 'tight'
  return isWithName && holds(USER, text, start) ? 'said' : 'beside'
}

const ACCOUNT =
  '(?:[Aa]dmin(?:istrator)?|[Rr]oot|sa|postgres|elastic|neo4j|kibana|grafana|jenkins|minio|mongo|oracle|sys|system|superuser|webmaster|wordpress|ec2-user|pi|ops|dev|qa|bot|user|demo|test(?:er|user)?|[Gg]uest|deploy|service|support|operator|ubuntu|[\\w.+-]{1,40}@[\\w-]{1,40}\\.[\\w.]{2,20})\\d{0,3}["\'`]?'
const VALUE = '["\'`]?([^\\s"\'`,;<>()/|\\u2e80-\\uffef]{5,63}[^\\s"\'`,;<>()/|.:?\\u2e80-\\uffef])(?![/\\w])'

/** `admin / …` behind a word that says so. */
export const PAIR = `[^\\n/|]{0,40}?(?<![\\w./@-])(?:\\((?=[^()\\n]{0,120}[@!#$%^*&+~=])[\\w.+@-]{2,60}(?:,|:|[ ]?[/|])[ ]?|${ACCOUNT}[ ]?[/|:][ ]?|[\\w.+-]{1,40}@[\\w.-]{3,40} (?:(?:and|und|y|et|и|then|with)(?: then| the)?(?: password| pw| Passwort| contraseña)? |\\()|(?<=\\b(?:are|with|using|sind|mit|sont|avec|son|con|são|com|sono) )[A-Za-z][\\w.-]{1,40} (?:and|und|y|et|e) |(?<=\\bas )[\\w.-]{2,40} with (?:password )?|[A-Za-z][\\w.-]{1,40}["'\`]?[ ]?[/|][ ]?)${VALUE}`
/** Around ` / ` where nothing says so. */
export const SPACED = [ACCOUNT, VALUE] as const
/** `("ana", "…")` */
export const SIGN_IN = `\\w{0,20}[ ]?=?[ ]?\\([ ]?["'\`][^"'\`\\n]{1,60}["'\`],[ ]{0,2}["'\`]([^"'\`\\n]{6,100})(?=["'\`])`

export const isPassword = (value: string): boolean => isSecretValue(value, 'password', 'prose', true)
/** And no word, as `admin / editor` is. */
export const isOfLogin = (value: string): boolean =>
  /[\d!#$%^*@&+~=]/.test(value) && isSecretValue(value, 'password', 'prose', false)
/** `gr4fana-rocks`, and no `log4j-core` */
const LEET = /^(?!.*(?:log4|neo4|slf4|i18n|l10n|a11y|s3[a-qs-z]|x509|oauth))(?=.*-)[a-z]+[013457][a-z]{2}/
/** Nor the end of a path. */
export const isNoPath = (value: string): boolean =>
  LEET.test(value) || (/[^\w.-]|^(?=.*\d).*[A-Z]/.test(value) && isOfLogin(value))
