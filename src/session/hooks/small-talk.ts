const SMALL = new Set(
  (
    'a again agreed ahead all and are commit continue cool do done evening fine for go good great hello hey hi is it just keep let me morning much next nice no now ok okay on one perfect right well with works ' +
    'please proceed push s so sure thank thanks that the them then this to us very with y yep yes you ' +
    'bitte danke ja nein weiter merci oui non gracias sí si sim não obrigado'
  ).split(' '),
)
const REFERENCE = /^[a-f][0-9a-f]{2,14}$/

export const isSmall = (text: string): boolean =>
  text.length < 40 &&
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .every((word) => word === '' || SMALL.has(word) || REFERENCE.test(word))
