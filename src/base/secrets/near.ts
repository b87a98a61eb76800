/** A secret that a sentence tells in whatever words: by its looks, near what names a credential, or a lock. */
import { isNamed, isRandom, isSecretValue, type Span } from './is-secret.ts'

/** In one text so many are looked for so: more of them is no sentence. */
const MOST_FOUND = 200
const BEFORE_MAX = 80
const BEHIND_MAX = 120
/** A figure, or words with hyphens. */
const mayHold = (text: string): boolean => /\d|[a-z]-[a-z]{4,10}-[a-z]/.test(text)
/** What a program has, and a sentence has not. */
const isOfCode = (text: string): boolean => /[=<>;|\\[\]{}]|\w\(|\(\)|^x ~ [%$#] /.test(text)
/** All kinds of letters, and a mark of a name. */
const isNameMarked = (text: string): boolean => /^(?=.*[A-Z])(?=.*[a-z]).*[A-Za-z\d][-_.][A-Za-z\d]/.test(text)
/** Right before a value: what says that it is one. */
const isToldBy = (text: string): boolean =>
  /(?:[:=]|->|→|—|(?<![\wà-ü])(?:is|its|it's|be|was|to|use|using|try|typed?|tried|used|now|still|with|ist|war|lautet|auf|jetzt|noch|mit|nimm|es|est|c'est|ahora|maintenant|adesso|agora|teraz|сейчас|теперь|è|é|jest|är|er|это)(?: (?!(?:in|on|at|from|with|for|via|by|as|user)[ ])[a-zà-üа-я]{2,12})?)[ ]["'`(]?$/i.test(
    text,
  )
/** And where the clause ends behind it. */
const breaks = (text: string): boolean => /(?:[,?—–-][ ]|\(|[。、，])["'`]?$/.test(text)
const endsClause = (text: string): boolean =>
  /^["'`]?(?:[!.,;)]|[ ]*(?:\n|$)|[ ](?:if|I think|iirc)[ ]|[ ]?[\u2e80-\uffef])/.test(text)
/** Of a login the other half. */
const isBehindUser = (text: string): boolean =>
  /(?:(?:user(?:name)?|account|as|login|als|como|comme|con|mit|with)[ :=]{1,2}|(?=[\w.+-]{1,40}@))[\w.@+-]{2,60}(?:,| ?\/|,? (?:and|then|and then|und|et|y|e|i|и))[ ]["'`]?$|(?:^|[ :\n])[a-z][\w.-]{1,30} \/ ["'`]?$/i.test(
    text,
  )
/** Right before what is no secret. */
const isOther = (text: string): boolean =>
  /(?<![a-zà-ü])(?:users?(?:name)?|logins?|accounts?|usuario|benutzer|nutzer|utilisateur|utente|użytkownik|пользовател[а-я]{1,2}|юзер|as|named|called|host|server|table|version|ticket|branch|column|channel|order|id)[:=]?[ ]["'`(]?$/i.test(
    text,
  )
/** What a lock is opened with. */
const isOpenedWith = (text: string): boolean => /(?<![\wà-ü])(?:with|using|mit|con|avec)[ ]["'`]?$/i.test(text)
const isLongWord = (text: string): boolean => /^[a-z]{8,}\d{3,4}$/.test(text)
/** Behind a name: then it is told of that. */
const isOfThing = (text: string): boolean =>
  /^[ -](?:columns?|fields?|hash(?:es|ing)?|polic|prompts?|reset|table|form|manager|length|type|feld|spalte|name|page|button|flow|screen|token)/i.test(
    text,
  )

/** As chance makes it, and neither a user's name nor a product's. */
const isDrawn = (value: string): boolean =>
  /[A-Z]/.test(value) &&
  /[a-z]/.test(value) &&
  value.replace(/\D/g, '').length <= value.length / 2 &&
  isRandom(value, 10)

/** Looks for it around a name; one that is not sure is of what is told of without a secret too, as a login. */
export function near(text: string, start: number, end: number, isSure: boolean, found: Span[]): void {
  if (found.length > MOST_FOUND) return
  const from = Math.max(0, start - BEFORE_MAX)
  const whole = text.slice(from, end + BEHIND_MAX)
  if (!mayHold(whole) || isOfThing(text.slice(end, end + 10))) return
  // its sentence and what follows that, as far as the next line goes
  const before = whole.slice(0, start - from)
  const first = from + Math.max(0, before.lastIndexOf('\n\n'), before.lastIndexOf('. '))
  const last = end + (/\n[ \t]*\n|(?<=\n[^\n]*)\n/.exec(whole.slice(end - from))?.index ?? BEHIND_MAX)
  for (const m of whole.matchAll(/[^\s"'`,;<>()[\]{}|\\\u2e80-\uffef]{8,60}/g)) {
    const value = m[0].replace(/[.:]{1,3}$|(?<=[A-Za-z])[!?]$/, '')
    const isWords = /^[a-z]{4,10}(?:-[a-z]{4,10}){2,7}$/.test(value)
    if (!isWords && (!/\d/.test(value) || !/[A-Za-z]/.test(value) || isNamed(value))) continue
    const at = from + m.index
    const next = at + m[0].length
    if ((at < end && next > start) || (at === from && /[^\s"'`(,;]/.test(text[at - 1] ?? ' '))) continue
    if (/[^\s"'`,;)\u2e80-\uffef]/.test(text[next] ?? ' ')) continue
    const lead = text
      .slice(Math.max(text.lastIndexOf('\n', at) + 1, at - BEFORE_MAX), at)
      .replace(/^\[[\d:. /APMapm-]{4,20}\]/, '') // when it was said
    const behind = text.slice(next, next + BEHIND_MAX).split('\n', 1)[0]!
    if (isOfCode(`${lead}x${behind}`) || isOther(lead)) continue
    const isBehind = at > end
    // letters, figures and a mark within, or behind figures at the end
    const isMarked = /[A-Za-z\d][!#$%^*&+~=?@][A-Za-z\d]|\d[!*$#%&^~+?]$|[A-Za-z][$#%&*!]$/.test(value)
    const is = (given: 'beside' | 'prose' | 'said') => isSecretValue(value, 'password', given, false)
    const isSecret =
      at < first || at > last
        ? isMarked && lead.trim() + behind.trim() === '' && is('beside')
        : isWords
          ? isSure &&
            isBehind &&
            /(?:[:=]|(?<![\wà-ü])(?:is|its|it's|ist|es|est|c'est|è|é|jest))[ ]["'`(]?$/.test(lead) &&
            is('prose')
          : isMarked || isNameMarked(value)
            ? (isSure || !/ (?:is|ist|es|est)[ ]$/.test(lead)) && is('beside')
            : isBehindUser(lead)
              ? is('said')
              : !isSure
                ? isOpenedWith(lead) && isLongWord(value) && is('prose')
                : isBehind && (isToldBy(lead) || (breaks(lead) && endsClause(text.slice(next, next + 9))))
                  ? is('prose')
                  : isDrawn(value) && is('beside')
    if (isSecret) found.push({ category: 'password', start: at, end: at + value.length })
  }
}

/** What has a keypad. */
const isLock = (text: string): boolean =>
  /(?<![\wà-ü])(?:unlock\w{0,3}|entsperr\w{1,3}|déverrouill\w{1,4}|desbloque\w{1,4}|(?:front|back|side|garage|car|house)?door|gates?|garage|alarm(?:e|a)?|safe|vault room|keypad|lockbox|key ?safe|padlock|locker|(?:[Hh]aus|[Kk]eller|[Ee]ingangs)?[Tt]ür|Tor|Tresor|Garage|Alarmanlage|Schließfach|domofonu?|sejfu?|bram[aęyk]\w*|furtk[aię]|portail|coffre|digicode|interphone|immeuble|puerta|portal|caja fuerte|alarma|candado|portão|cofre|cancello|cassaforte|portone|citofono|allarme|kluis|poort|voordeur)(?![\wà-ü])|двер|ворот|сейф|игнализаци|домофон|подъезд/i.test(
    text,
  )
/** Right before the number: what one does with it, or what it is called. */
const isCoded = (text: string): boolean =>
  /(?:(?<!(?:error|exit|status|zip|post(?:al)?|country|return|response|source|product|http|fehler|area|bar|qr)[ -]?)(?<![\wà-ü])(?:code|kode?|c[oó]digo|codice|combinaci[oó]n|combinazione|combination|kombination|szyfr|\w{3,12}code)|код|(?<!\w)(?:enter|press|type|punch in|key in|dial|opens? with|unlocks? with|disarm\w* with|entsperrt man mit|déverrouille avec|desbloquea con|wpisz|tippe|eingeben|tape[rz]?|marcar?|digit[ae]))(?:[ ][^\s\d.;=(){}]{1,15}){0,5}[ ]?[:=]?[ ]?["'`]?$/i.test(
    text,
  )

export function lockCodes(text: string, found: Span[]): void {
  // a number alone, or parts of one, as a keypad or a dial takes it
  for (const { 0: number, index } of text.matchAll(
    /(?<=[ :="'`])(?:\d{4,8}[#*]?|\d{1,2}(?:-\d{1,2}){2,3})(?![\w:/-]|[.,]\d| to |[ ]?(?:[a-z]{1,9}s\b(?! (?:then|and))|%|€|\$|[kMmc]m?\b))/g,
  )) {
    if (new Set(number).size < 3 || /^(?:19|20)\d\d$/.test(number)) continue
    const before = text
      .slice(Math.max(0, index - BEFORE_MAX), index)
      .split(/\n|[.;!?] /)
      .at(-1)!
    if (!isCoded(before) && !(number.includes('-') && /:[ ]$/.test(before))) continue
    if (isLock(before) || isLock(text.slice(index + number.length, index + number.length + 40).split(/\n|[.;!?] /)[0]!))
      found.push({ category: 'PIN', start: index, end: index + number.length })
  }
}
