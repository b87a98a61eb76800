/** What leads to a rule and is no part of it: "please remember that …", "from now on, …". */
const LEADS = [
  /^(?:please|note(?: that)?|remember(?! to\b| the\b)|btw|by the way|also|and|but|so|oh|ok(?:ay)?|fyi|important|heads up|reminder|rules?|thanks|great|nice|yes|haha|lol|hey|well|anyway|actually|i(?:['’]d| would) like you to|i (?:want|need) you to)\b[,:!]?\s+/i,
  /^(?:from (?:now|here) on|going forward|in (?:the )?future|in general|as always|for all future \w+|(?:for|in) this (?:repo(?:sitory)?|project|code ?base),?(?= (?:prefer|always|never|use)\b)|as a rule|by convention|new rule|(?:the|our|my|one|house|general) rule(?: here)?(?: is)?(?=:)|you (?:keep|always) (?:forget|ignor|miss)\w*(?: this| that| it)?(?=:)|(?:as )?i(?:['’]ve| have)? (?:said|told you)(?: (?:earlier|before|already))?(?=[:,])|it['’]s important that|i(?:['’]d| would) rather you|(?:remember|keep in mind)(?: that\b|(?=[:,])))[,:]?\s+/i,
  /^(?:bitte|und|aber|auch|außerdem|übrigens|ok|also|danke|wichtig)[,:!]?\s+/i,
  /^(?:ab (?:jetzt|sofort)|künftig|in zukunft|(?:denk dar?an|denk dran|merke? dir|nicht vergessen)(?=[:,]))[,:]?\s+/i,
  /^(?:por favor|y|pero|también|además|ok|vale|gracias|importante|recuerda(?: que)?)[,:!]?\s+/i,
  /^(?:a partir de ahora|de ahora en adelante|en adelante|(?:recuerda|ten en cuenta)(?: que\b|(?=[:,])))[,:]?\s+/i,
  /^(?:s['’]il (?:te|vous) pla[iî]t|stp|et|mais|aussi|ok|merci|important)[,:!]?\s+/i,
  /^(?:désormais|dorénavant|à partir de maintenant|(?:rappelle-toi|souviens-toi|retiens)(?: que\b|(?=\s?[:,])))\s?[,:]?\s+/i,
  /^(?:请|另外|还有|顺便说一下|好的|谢谢|而且|并且|但是?)[，,：:]?\s*/,
  /^(?:从现在开始|从今以后|以后|今后|(?:请)?记住)[，,：:]?\s*/,
  /^(?:no+|nope|nah|wait|wrong|incorrect|nein|nee|non|不对|错了|(?:that|this|it)(?:['’]s|\s(?:is|was))\s(?:wrong|incorrect|not (?:right|true|correct)))[,.:;—–，。-]{1,9}\s*(?=\S)/i,
]

/** A clause without what only leads to it: "Please remember: …". */
export function withoutLead(clause: string): string {
  let bare = clause
  for (let before = ''; before !== bare; ) {
    before = bare
    for (const lead of LEADS) bare = bare.replace(lead, '')
    bare = bare.replace(/^[:,，：]\s*/, '')
  }
  return bare
}
