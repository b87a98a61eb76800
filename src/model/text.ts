/** At most so many characters, with a mark where something is left out; no character is cut in two. */
export const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text

/** A text on one line of at most so many characters. */
export const oneLine = (text: string, most = Number.POSITIVE_INFINITY): string =>
  cut(text.replace(/\s+/g, ' ').trim(), most)
