/** A text as one word of a POSIX shell, whatever stands in it. Everything that we print for a shell goes through here. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
