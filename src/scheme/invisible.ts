/**
 * Characters that are removed before a model or a person reads a text: invisible ones, those that change the direction of
 * writing or control a terminal, and marks that end the block around the text.
 */

/** Format characters that do show: the number signs of Arabic, Syriac and Kaithi. */
const SHOWN = '\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u{110bd}\\u{110cd}'
const CLASS = `[[\\p{Default_Ignorable_Code_Point}\\p{Cc}\\p{Cf}\\u2028\\u2029]--[${SHOWN}]]`
/** Letters that a joiner shapes; in other scripts it only hides the word from whoever looks for it. */
const SHAPED =
  '[[\\p{L}\\p{M}]--[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Han}\\p{Script=Common}\\p{Default_Ignorable_Code_Point}]]'
const PICTURE = '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\ufe0f?'
/** One joiner between letters or pictures, and what says in which form a picture is drawn. */
const JOINING = [
  `(?<=${SHAPED})[\\u200c\\u200d](?=${SHAPED})`,
  `(?<=${PICTURE})\\u200d(?=\\p{Extended_Pictographic})`,
  '(?<=\\p{Emoji})[\\ufe0e\\ufe0f]',
].join('|')

/** For `late`: one character that goes unseen. */
export const UNSEEN = `(?!${JOINING})${CLASS}`

/** What begins the mark of a fence: ours, or one in which clients wrap what they tell their model. In any width. */
export const FENCE_MARK = '[<\\uff1c\\ufe64](?=\\s*(?:\\/\\s*)?(?:tidemark-data|system-reminder|untrusted_context))'

const PLAIN = /^[\x20-\x3b\x3d-\x7e]*$/

/** A regular expression with the flag `v`, made when it is first used: these take milliseconds, and a hook has few. */
export function late(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined
  return () => {
    made ??= new RegExp(source, `${flags}v`)
    return made
  }
}

/** The same of several lines. */
const PLAIN_LINES = /^[\t\n\x20-\x3b\x3d-\x7e]*$/

const any = late(`${UNSEEN}|${FENCE_MARK}`, 'i')
const hidden = late(`(?![\\n\\t])${UNSEEN}`, 'g')
const mark = late(FENCE_MARK, 'gi')

/** Does the text hold anything of that? Line ends and tabs count. */
export const hides = (text: string): boolean => !PLAIN.test(text) && any().test(text)

/** Without what goes unseen; line ends and tabs stay. */
export const unhidden = (text: string): string => (PLAIN_LINES.test(text) ? text : text.replace(hidden(), ''))

/** With what goes unseen written out, as `\u{200b}`; line ends and tabs stay. */
export const escaped = (text: string): string =>
  PLAIN_LINES.test(text) ? text : text.replace(hidden(), (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)

const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g

/** Without the sequences that steer a terminal, which are more than their first character. */
export const unsteered = (text: string): string => (PLAIN_LINES.test(text) ? text : text.replace(ANSI, ''))

/** A text of several lines as a terminal, or whoever reads its output, may have it: it shows what it says and moves no cursor. */
export const visible = (text: string): string => unhidden(unsteered(text))

/** The same for what no fence of ours stands in: nothing in it opens or closes one. */
export const shown = (text: string): string => unfenced(visible(text))

export const unfenced = (text: string): string => (PLAIN_LINES.test(text) ? text : text.replace(mark(), '‹'))
