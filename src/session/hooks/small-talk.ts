const SMALL = new Set(
  (
    'a again ahead all and are commit continue do for go good great hello hey hi it just keep let me much next no now ok okay on one ' +
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
