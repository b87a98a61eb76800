import type { Category } from '../../formats/import/classify.ts'
import { isNorm } from './norms.ts'

/** The beginnings of clauses by which one language states rules. */
interface Cues {
  /** Stripped: it only leads to what is said. */
  readonly lead: RegExp
  /** Stripped: whatever follows is meant to last. */
  readonly lasting: RegExp
  /** A clause that tells how it goes, or asks; no rule whatever else it holds. */
  readonly tells: RegExp
  /** Without a category, the words of the rule decide on it (English alone). */
  readonly rules: readonly (readonly [shape: RegExp, category?: Category])[]
}

interface Language {
  /** Without a match, nothing else of the language is made and tried: that costs a hook some 10 ms. */
  readonly hint: RegExp
  readonly cues: Cues
}

function language(hint: RegExp, make: () => Cues): Language {
  let made: Cues | undefined
  return {
    hint,
    get cues() {
      made ??= make()
      return made
    },
  }
}

const english = language(
  /\b(?:always|never|ever|dont|doesn['’]t|shouldn['’]t|mustn['’]t|(?:don['’]t|i|you to) like|want|instead|max|use of|got rid|favou?r|treat|before|unless|forbidden|allowed|off|starts?|stays?|needs?|requires?|for|names?|don['’]t|do not|stop|avoid|must|should|may|can['’]?n?o?t|ha(?:ve|s) to|circumstances|make sure|ensure|when|whenever|before|after|once|if|every|each|all|our|we|no|nothing|nobody|only|prefer|keep|are|is|go(?:es)?|belongs?|pattern|convention|remember|from (?:now|here) on|going forward|in future|rather|this (?:repo|project|code))\b/i,
  () => ({
    lead: /^(?:please|note(?: that)?|remember(?! to\b| the\b)|btw|by the way|also|and|but|so|oh|ok(?:ay)?|fyi|important|heads up|reminder|rules?|thanks|great|nice|yes|haha|lol|hey|well|anyway|actually|i(?:['’]d| would) like you to|i (?:want|need) you to)\b[,:!]?\s+/i,
    lasting:
      /^(?:from (?:now|here) on|going forward|in (?:the )?future|in general|as always|for all future \w+|(?:for|in) this (?:repo(?:sitory)?|project|code ?base),?(?= (?:prefer|always|never|use)\b)|as a rule|by convention|new rule|(?:the|our|my|one|house|general) rule(?: here)?(?: is)?(?=:)|you (?:keep|always) (?:forget|ignor|miss)\w*(?: this| that| it)?(?=:)|(?:as )?i(?:['’]ve| have)? (?:said|told you)(?: (?:earlier|before|already))?(?=[:,])|it['’]s important that|i(?:['’]d| would) rather you|(?:remember|keep in mind)(?: that\b|(?=[:,])))[,:]?\s+/i,
    tells:
      /^(?:it|he|she|they|th(?:is|at)(?! is an? \S+ (?:repo|project|monorepo)\b)|these|those|there|i(?!(?:['’]d| would)? (?:(?:always|strongly|really|generally) )?(?:want|prefer|rather|expect|like|(?:don['’]t|do not) (?:want|like))\b)|my|your|who|why|what|how|where|which|can|could|would|should|is|are|do(?! not)|does|did|has|have|will|something|everything)\b(?!['’]t)|\bin the wrong\b|\bwhen(?:ever)? i (?!ask|say|tell)|,\s+(?:fix|why|but|make it|add|build|implement|extend)\b|\band the \w+ (?:is|are) (?:broken|wrong|missing|slow)/i,
    rules: [
      // "always use", "never commit"; not "never mind", "always the same", "never works", "always wanted"
      [
        /^(?:always|never(?: ever)?|under no circumstances)\s+(?!(?:mind|hesitate|get|gets|seen|saw|heard|had|got|been|happened|thought|knew|said|give up|touch a running|an?|the|same|my|on|in|at|so|that|this|these|your|again|too|happy|good|nice|(?!bring|ping)\w+ing|(?!need|feed|embed|seed|proceed|exceed)\w+ed|\w*[^\Ws]s)\b)\w/i,
      ],
      [/^(?:don['’]t|do not)\s+ever\s/i, 'constraint'],
      [
        /^stop (?:using|adding|writing|putting|creating|importing)\s+(?!(?:the|this|that|it|them|these)\b)/i,
        'constraint',
      ],
      [
        /^(?:you|agents?)\s+(?:should\s+(?:always|never)|must\s+(?:always|never|not)|may\s+(?:never|not)|(?:have|need) to\s+always|can(?:['’]t|not)\s+(?:use|import|call|add))\s/i,
      ],
      [/^(?:nothing|nobody|no one|no \w+)\s(?:(?!this\b)\S+\s){0,5}(?:may|should|must)\s(?!be\s\w+ing)/i, 'constraint'],
      // "ids are always UUIDs", "retries must be bounded"; not "the list must …", "builds always fail", "ids are always 0"
      [
        /^(?:(?!(?:the|an?|to|when|that|if|we|i|you|it|is|are|this|add|users|people|memory|tests)\b)[\w/-]+\s+){1,5}(?:(?:(?:is|are|must|should|may|can|will)\s+(?:always|never)|must(?:n['’]t| not)?|may not|ha(?:ve|s) to)\s+(?!have\b|be \w+ing|\d|null\b|empty\b|wrong\b|undefined\b)|(?:always|never)\s+(?!(?:fail|break|crash|hang|time|see|happen|work|come|get|stop|return|finish|end|show|pass|to|from|in|on|as|\w*[^\Ws]s)\b))\w(?!.{0,200}\b(?:twice|somewhere|in safari|on ci|in prod)\b)/i,
        'constraint',
      ],
      [
        /^(?:(?!(?:the|an?|this|that|your|my|these)\b)[\w/-]+\s+){1,3}(?:are|is|go|goes|live|lives)\s(?:(?:stored|written|named|kept|formatted|versioned|generated|saved)\s(?:as|in|by|with)|in(?:to)?\s[\w.]+\/)/i,
        'convention',
      ],
      // "don't use lodash"; not "don't delete the old file yet", "don't write tests for that one"
      [
        /^(?:don['’]t|do not)\s+(?!forget|worry|bother|stop|mind|panic|think|know|change|look|push\b)\w+\s+(?!(?:the|this|that|it|them|these|those|my|your|me|us|to|so|too|anything|yet|now|again)\b)(?!.{0,200}\b(?:yet|again|until|now|this time|for (?:it|that|this))\b)/i,
        'constraint',
      ],
      [/^avoid\s+(?!(?:\w+ing\s+)?(?:the|this|that|it|these|those|my|your|an?)\b)/i, 'constraint'],
      [
        /^(?:make sure|ensure)\s+(?:that\s+)?(?:all|every|each)\s+(?!.{0,80}\b(?:pass(?:es)?|green|works?|compiles?|rendered|shown|row|test still)\b)/i,
      ],
      // "before you push, run …", "when fixing a bug, …"; not "when I click save, nothing happens", "when clicking save, …"
      [
        /^(?:when(?:ever)?|if|before|after|once|every time)\s.{1,200}[,\s]\s*(?:please\s+)?(?:always|never|make sure)\s(?!(?:nice|good|\w*[^\Ws]s)\b)/i,
      ],
      [
        /^whenever\s+(?!(?:i|it|the)\b)[^,]{1,150},\s*(?!(?:the|it|i|this|that|nothing|there|can|could|is|he)\b)\w+\s+\w/i,
        'workflow',
      ],
      [
        /^(?:(?:when|if|before|after|once|every time)\s{1,4}(?:you\s{1,4}(?!are\b|have\b|start\b|continue|go on|can\b|get\b|finish|want\b|think\b|need\b|see\b|\w+ed\b)|you['’]re (?:unsure|not sure|in doubt)|(?:add|fix|writ|chang|edit|updat|creat|refactor|commit|push|merg|deploy|releas|renam|delet|review|implement|touch|migrat|modify|introduc)\w*ing\s?)(?![^,]{0,100}\b(?:this|that|it|the)\b)|(?:before|after|with|on)\s{1,4}(?:every|each)\s{1,4})[^,]{0,150}(?:,\s{0,4}|\s)(?!(?:the|it|i|this|that|nothing|everything|we|there|can|could|is|he|show|tell|explain|read)\b)\w+\s{1,4}(?!.{0,100}\bi (?:get|see|have)\b)\w/i,
        'workflow',
      ],
      [
        /^(?!(?:the|a|we|\w*[^\Ws]s)\b)\w+\s[^,]{1,150}\s(?:before|after|on)\s(?:every|each)\s(?!time\b|keystroke)/i,
        'workflow',
      ],
      // "we use pnpm", "we keep one component per file"; not "we use this twice"
      [
        /^(?:(?:for|in|on|with) [\w/ ]{1,30},?\s+)?we\s+(?:only\s+|always\s+|never\s+|don['’]t\s+|do not\s+)?(?:use|follow|keep|write|store|name|deploy|prefer|put|format|commit|release|mock|throw|import|squash|rebase|let|pin|log|spell out|run|ship|tag|version|type|document|review|lint|define|compile|target|work(?! on\b))\s+(?!.{0,60}\b(?:places|times)\b|(?:same|a lot|this|it|that|these|those|them|both|\w+ing)\b|the\s+(?!.{0,60}(?:pattern|architecture|convention|style|approach|database|factor app)))/i,
      ],
      [
        /^we(?:['’]ve| have)?\s+(?:just |recently )?(?:(?:switched|moved|migrated|changed)\s+(?:over\s+)?(?:from\s+(?!the\b)[^,]{1,40}\s)?to|standardi[sz]ed on|replaced\s[^,]{1,40}\swith)\s+(?!(?:the|an?|it|this|that)\b)(?!.{0,200}\bnow\b)/i,
        'tool',
      ],
      [
        /^we(?:['’]re| are)\s(?:on|using)\s(?!(?:the|an?|it|this|that|track|same|call|too|so|way|more|up|schedule)\b)[a-z]/i,
        'tool',
      ],
      [
        /^(?:the|our)\s+(?:[\w-]+\s+){0,2}(?:pattern|convention|rule|standard|policy|agreement)\s+(?:(?:around )?here\s|(?:for|in)\s[\w ]{1,40}\s)?is\s+(?!broken|wrong|not\b|in\b|missing|too\b|\w+ed\b)/i,
      ],
      [
        /^(?:all|every|each)\s+(?:(?!(?:i|the|tests?|are|is)\b)[\w-]+\s+){1,5}(?:needs?|(?:ha(?:s|ve)|gets?) (?:an?|its(?: own)?|their(?: own)?)|owns its|(?:go(?:es)?|lives?|belongs?) (?:through|in(?:to)?)|(?:is|are) (?:\w+(?:ed|en)|in))\s(?!.{0,200}(?:\bnow\b|n['’]t\b|\btwice\b|\bbroken\b|\bmissing\b))/i,
        'convention',
      ],
      [
        /^no\s+(?!more\b|need\b|changes\b)[\w.-]{3,40}(?:\s[\w.-]{1,40}){0,6},?\s+(?:please|ever|anywhere|allowed)$/i,
        'constraint',
      ],
      [/^(?:[\w.-]+\s){1,3}only(?:, no| via| through| in)\s/i, 'convention'],
      [
        /^(?:i\s+)?(?:strongly\s+)?prefer\s+(?!(?:the|this|that|it|your|my|not|to|if|whatever|whichever|option)\b)\S+\s\S/i,
        'convention',
      ],
      [/^i\s+always\s+want\s+you\b/i],
      [
        /^only\s+(?:ever\s+)?(?:use|import|write|commit|call)\s+(?!(?:this|that|it|the (?:first|last|second|new|old))\b)/i,
      ],
      [
        /^keep\s+(?!(?:the|this|that|it|them|these|those|your|my|an?)\b)(?:[\w-]+\s+){1,2}(?:under|below|short|small|thin|simple|pure|flat|sorted|private|minimal|out of|free of|next to|in sync)\b/i,
        'convention',
      ],
      [/^(?:use|write|put|store|name|call|return|log|import|commit)\s[^,]{1,80},\s*never\s/i],
      [
        /^(?:hands off|stay (?:away from|out of)|keep out of)\s(?!(?:it|this|that)\b)\S|^(?!the\b)\S.{1,80},\s*hands off$/i,
        'constraint',
      ],
      [
        /^(?!(?:the|an?|this|that|your|my|these)\b)[\w/.-]+\s(?:[\w/-]+\s){0,4}(?:is|are)\s(?:forbidden|not allowed|off[ -]limits|prohibited|banned|a no-go|taboo)\b/i,
        'constraint',
      ],
      [
        /^(?!(?:the|an?|this|that|your|my|these|it)\b)[\w/-]+\s(?:[\w/-]+\s){0,3}(?:needs?|requires?)\s(?:(?:my|our|an?|explicit)\s){0,2}(?:approval|review|sign-off|permission|ok)\b/i,
        'constraint',
      ],
      [
        /^(?!(?:the|an?|this|that|your|my|these|it)\b)[\w/-]+\s(?:[\w/-]+\s){0,3}(?:go(?:es)?|is|are|belongs?)\s[^,]{2,60}\s(?:only|and nowhere else|exclusively)$/i,
        'constraint',
      ],
      [
        /^(?!(?:the|an?|this|that|your|my|these|it)\b)[\w/-]+\s(?:[\w/-]+\s){0,3}(?:stay|remain)s?\s(?:under|below|within|at most|small|short|thin|pure|private|flat|sorted|in sync)\b/i,
        'constraint',
      ],
      // how things are written: "features are snake_case", "commits are in English", "branch names: team/topic"
      [
        /^(?!(?:the|an?|this|that|your|my|these|it)\b)[\w/-]+\s(?:[\w/-]+\s){0,3}(?:(?:is|are|stays?)\s(?:(?:written\s)?in\s)?(?:\w+_case|\w+-case|camelcase|pascalcase|lowercase|uppercase|english|german|french|spanish|imperative)\b|(?:starts?|ends?)\swith\s(?!an?\b|the\b))/i,
        'convention',
      ],
      [
        /^(?:commit messages?|commits|branches|(?:branch|file|class|function|variable|table|column|test|service|resource|component|folder|package) names?|pr titles?|naming|indentation|line length):\s+\S/i,
        'convention',
      ],
      [/^no\s[\w-]+(?:\s[\w-]+){0,3},\s(?:and\s)?no\s[\w-]+(?:\s[\w-]+){0,3}$/i, 'constraint'],
      [
        /^no\s(?!(?:errors?|outputs?|logs?|idea|luck|problems?|difference|changes?|response|data|results?|more|need|need|sign|trace)\b)[\w-]+(?:\s[\w-]+){0,2}\s(?:after|in|inside|outside|without)\s(?!(?:the|this|that|my|it)\b)\w[\w ]{2,40}$/i,
        'constraint',
      ],
      [/^for\s(?:all\s|any\s)?new\s[^,]{2,40}?,?\s(?:use|prefer|follow)\s(?!(?:the|an?|this|that|these)\b)\w/i],
      [/^ask (?:me )?(?:first )?(?:before|whenever|if) you (?!start|continue)\w+ (?!this|that|it|the)/i, 'workflow'],
      [/^this is an? \S+ (?:repo|project|monorepo)$/i, 'tool'],
      [
        /^in (?:this|our) (?:project|repo(?:sitory)?|code ?base|app|firmware|service|library|package|team)\b,?\s+(?!(?:there|i|it|the|fix|add|find|can|could|is|where|what|how)\b)/i,
      ],
      [
        /^(?:stick|use|keep|write|put|run|import|name|call|return|log)\s(?:[^,]{3,150}\salways|.{3,150}\s(?:in|for) (?:this|our) (?:project|repo(?:sitory)?|code ?base))$/i,
      ],
    ],
  }),
)

const german = language(
  /\b(?:immer|nie|niemals|stets|wir|keine?n?|bitte|jede[mrs]?|alle|bevor|nachdem|wenn|ab (?:jetzt|sofort)|stelle?|achte|bevorzuge|denk|merke?|nein|verboten|tabu|pflicht|braucht?|falls|sobald|nichts|uns|werden|müssen|dürfen|darf|gehör\w*|grundsätzlich|künftig|finger|auf (?:englisch|deutsch))\b/i,
  () => ({
    lead: /^(?:bitte|und|aber|auch|außerdem|übrigens|ok|also|danke|wichtig)[,:!]?\s+/i,
    lasting:
      /^(?:ab (?:jetzt|sofort)|künftig|in zukunft|(?:denk dar?an|denk dran|merke? dir|nicht vergessen)(?=[:,]))[,:]?\s+/i,
    tells:
      /^(?:das|es|ich|er|sie|der|die|dieser?s?|meine?|warum|wieso|was|wie|wo|können|kannst|wenn ich|mach das|mach es|immer (?:noch|wieder|mehr|wenn ich|(?:der|die|das) gleiche|der?selbe|dasselbe)|nie (?:gesehen|gehört|im leben))(?!\p{L})/iu,
    rules: [
      [
        /^(?:vor|nach) jede[mr]\s|^(?:bevor|nachdem|wenn|sobald) du (?!anfängst|fertig|kannst|willst|das|dies)[^,]{1,150},\s*(?!.{0,80}\b(?:nie|niemals)\s)(?:\p{L}+\s(?:auch\s|dann\s|bitte\s)?(?:immer|stets|zuerst)\s|(?:lass|führe?|prüfe?|frage?|starte?|aktualisiere?)\s)/iu,
        'workflow',
      ],
      [
        /^(?:wir (?:nutzen|verwenden|benutzen|setzen auf)|(?:für|in|im|bei) (?:\p{L}+ ){1,4}(?:nutzen|verwenden|benutzen) wir) (?!diese|die|das|den|es|keine?)/iu,
        'tool',
      ],
      [/^wir (?:haben|sind) von \S+(?: \S+)? (?:auf|zu) \S+(?: \S+)? (?:gewechselt|umgestiegen|migriert)/i, 'tool'],
      [
        /^(?:in diesem \p{L}+ )?(?:wir )?(?:nutzen|verwenden|benutzen) wir keine?\s|^(?:(?:füge|nutze|verwende|schreibe?|importiere) )?keine?n?\s(?!ahnung)(?!.{0,150}(?:bisher|jetzt|noch nicht)).{3,150}(?:\sin\s|\smehr$|\shinzu)/iu,
        'constraint',
      ],
      [
        /^(?:alle|jede[rs]?)\s(?:\p{L}+\s){1,4}(?:muss|müssen)\s|^\p{L}+ (?:müssen (?!noch)|dürfen (?:nicht|nie|niemals|keine) )/iu,
        'constraint',
      ],
      [
        /^jede[rs]?\s(?:\p{L}+\s){1,4}(?:braucht|bekommt|gehört|enthält|liegt|hat (?:einen?|sein|ihr)\p{L}*)\s(?!(?:ein(?:en)? )?(?:problem|fehler))/iu,
        'convention',
      ],
      [
        /^(?:wenn|falls|bevor|sobald) du (?!fertig|kannst|willst|magst|das |dies)[^,]{1,150},\s*(?:bitte )?(?!ist|sind|wird|kommt|geht|dann ist)\p{L}+\s(?:.{0,60}\s)?(?:vorher|zuerst|erst|immer|auch|mit|bescheid|danach)(?!\p{L})/iu,
        'workflow',
      ],
      [
        /^(?!(?:hier|da|dort)\s)(?:\p{L}+\s){1,5}(?:ist|sind) (?:bei uns )?(?:verboten|tabu|pflicht|nicht erlaubt|unerwünscht|untersagt)|(?:hat|haben) .{0,60}nichts (?:verloren|zu suchen)/iu,
        'constraint',
      ],
      [
        /^(?:\p{L}+\s){1,6}bei uns\s(?!(?:hängt|geht|läuft|knallt|klappt|kracht|fehlt)(?!\p{L}))\p{L}|^bei uns\s(?:ist|sind|heiß|werden|wird|gilt|komm|lieg|steh)/iu,
        'convention',
      ],
      [
        /^(?:mach|schreib|nutz|verwend|füg|leg|bau|änder|committ?e|push|importier)e? (?:bitte |mir )?keine?n?\s(?!(?:sorgen?|stress|panik|witze)(?!\p{L}))(?!.{0,100}(?:dafür|hier|jetzt|erst|noch|heute|diesmal))\p{L}/iu,
        'constraint',
      ],
      [
        /^(?!(?:das|die|der|den|hier|jetzt|da|dann|heute|morgen|leider|so|was|wie|wo|warum|bisher|momentan|gerade|können|sollen|müssen|haben|sind)\s)(?:\p{L}+\s){1,3}\p{L}+en wir (?:hier |bei uns )?(?:in|als|mit|über|nur|nicht|nie|nach|auf|per)\s(?!d(?:as|ie|er|en)\s|noch|weiter|mehr$)/iu,
        'convention',
      ],
      [/^kein\p{L}{0,2}\s[^,]{3,80}\sohne\s\p{L}/iu, 'constraint'],
      [
        /^(?!(?:ihr|sie|wir|die|das|der|nutzer|kunden)\s)\p{L}+\s(?:(?:an|in|für|aus|von|zu) \p{L}+\s)?(?:müssen (?!noch|jetzt)|dürfen (?:nicht|nie|niemals|keine|nur) |werden (?:nur|immer|nie|stets|als|mit|über) )/iu,
        'constraint',
      ],
      [/^(?:stelle? sicher|achte darauf), dass (?:alle|jede|keine)/i, 'convention'],
      [/^bevorzuge\s/i, 'convention'],
      [/^(?:\p{L}+\s){1,6}gehör(?:t|en) (?:in|nach|unter|zu|neben) (?!dies|das )/iu, 'convention'],
      [
        /^(?:(?!d(?:ie|as|en|er) )\p{L}+ ){1,3}(?:bitte )?(?:auf (?:englisch|deutsch)|im imperativ|in \w+(?:_|-)case)(?!\p{L})/iu,
        'convention',
      ],
      [/^(?:finger|hände) weg von (?!d[ae][sr] )/i, 'constraint'],
      [/^(?:in|im|für|aus) (?:\p{L}+\s){1,3}(?:darf|dürfen|muss|müssen) (?!ich |wir |das |noch )/iu, 'constraint'],
      [
        /^(?!wir (?:haben|bekommen|sehen|brauchen|kriegen) )(?:\S+\s){0,4}?(?:immer|stets|nie|niemals|grundsätzlich) (?!(?:gesehen|gehört|fehl|funktioniert|noch|wieder)\b)\S/iu,
        'constraint',
      ],
    ],
  }),
)

const spanish = language(
  /\b(?:siempre|nunca|jam.s|usamos|no (?:us|ut|a.ad|agr|esc|imp)|cada|todos|todas|ya no|prohibid|permit|no .{1,60}sin |no (?:deb|pued|se)|tienen que|nada de|ning.n|^si |antes de|despu.s de|cuando|evita|prefier[eo]|preferimos|recuerda|van en|se (?:escriben|guardan)|partir de|en adelante|cambiamos|migramos|pasamos|hemos|aseg.rate)/i,
  () => ({
    lead: /^(?:por favor|y|pero|también|además|ok|vale|gracias|importante|recuerda(?: que)?)[,:!]?\s+/i,
    lasting:
      /^(?:a partir de ahora|de ahora en adelante|en adelante|(?:recuerda|ten en cuenta)(?: que\b|(?=[:,])))[,:]?\s+/i,
    tells:
      /^(?:est[eoa]s?|es[oea]|el|la|(?:los|las)(?! (?:\p{L}+ ){1,5}(?:siempre(?! (?:fall|da|sal|tard|tien|est|ocurr|pasa))|nunca|van|tienen que|no (?:deben|pueden|se)|se (?:escriben|nombran)) )|yo|me|se|por qué|qué|cómo|puedes|siempre (?:que|me|te|nos|el|la|lo|los|se|es|está|falla|pasa|da|sale|ocurre)|nunca (?:me|te|lo|la|había|he|hemos|visto|funciona|mejor|pasa))(?!\p{L})/iu,
    rules: [
      [/^(?:antes|después) de (?:cada|hacer)\s|^(?:cuando|si|al)\s[^,]{1,150},\s*(?:\p{L}+\s)?siempre\s/iu, 'workflow'],
      [/^(?:(?:en|para) [\p{L} ]{2,30},? )?usamos (?!est|es[ea]|la |el |lo )/iu, 'tool'],
      [/^(?:hemos )?(?:cambia|migra|pasa)(?:mos|do) de \S+(?: \S+)? a \S/i, 'tool'],
      [
        /^(?:en este \p{L}+ )?no (?:usamos|uses|utilices|añadas|agregues|escribas|importes) (?!est|es[ea]|la |el |lo |nada)(?!.{0,150}(?:todavía|aún|ahora))/iu,
        'constraint',
      ],
      [/^(?:todos|todas|cada)\s(?:\p{L}+\s){1,5}(?:debe|deben|tiene que|tienen que)\s/iu, 'constraint'],
      [/^ya no (?:se )?(?:usa|utiliza|soporta|acepta)\p{L}*\s(?!est|es[ea]|la |el |lo )/iu, 'tool'],
      [/^(?:está|queda|están) prohibid[oa]s?\s|^(?:no se permiten?|no está permitido)\s/iu, 'constraint'],
      [
        /^l[oa]s (?!usuari|client|botones|pedidos)(?:\p{L}+ ){1,4}(?:no (?:deben|pueden|se)|nunca|tienen que|siempre(?! (?:fall|da|sal|tard|tien|est|ocurr|pasa))|son siempre|van siempre) /iu,
        'constraint',
      ],
      [
        /^(?:cuando|si|cada vez que|antes de que) (?!algo|esto|eso|el |la |se |me |no )(?:\p{L}+(?:as|es)) [^,]{2,100}, ?(?!no |me |se |el |la |sale|da )\p{L}+ /iu,
        'workflow',
      ],
      [
        /^cada (?:módulo|servicio|componente|función|clase|endpoint|archivo|migración|paquete|test|prueba|commit|pr|rama|tabla|controlador|repositorio) (?!tarda|falla|devuelve|da |sale|rompe|es |está|tiene (?:el|la|un error))\p{L}+ /iu,
        'convention',
      ],
      [/^no \p{L}+ [^,]{1,80} sin (?:preguntar|avisar|permiso|consultar|mi |tests?|pruebas)/iu, 'constraint'],
      [
        /^(?:nada de|ningún|ninguna) (?!momento|problema|error|est|es[eo] )[^,]{2,60} (?:en|sin|fuera) /iu,
        'constraint',
      ],
      [/^asegúrate de que (?:tod[oa]s|cada|ning)/i, 'convention'],
      [/^(?:prefier[eo]|preferimos)\s(?!(?:la|el|los|las|lo|que|no|est\p{L}+|es[eoa])\s)/iu, 'convention'],
      [/^(?:los|las)\s(?:\p{L}+ ){1,5}(?:van (?:en|con) (?!el |las? |los )|se (?:escriben|nombran) )/iu, 'convention'],
      [/^evita (?!est|es[ea]|la |el (?!estado))/i, 'constraint'],
      [/^(?:\S+\s){0,4}?(?:siempre|nunca|jamás)\s(?!(?:fallan?|funciona|visto)(?!\p{L}))\S/iu, 'constraint'],
    ],
  }),
)

const french = language(
  /\b(?:toujours|jamais|doivent|interdit|obligatoire|pas d|si tu|utilis|nous|on (?:utilise|n['’]|ne |est|préf)|d.sormais|dor.navant|tous|toutes|chaque|avant|apr.s|quand|assure-toi|veille|préf|faut|sont en|n['’]|ne |rappelle|souviens|retiens|partir de)|évite/i,
  () => ({
    lead: /^(?:s['’]il (?:te|vous) pla[iî]t|stp|et|mais|aussi|ok|merci|important)[,:!]?\s+/i,
    lasting:
      /^(?:désormais|dorénavant|à partir de maintenant|(?:rappelle-toi|souviens-toi|retiens)(?: que\b|(?=\s?[:,])))\s?[,:]?\s+/i,
    tells:
      /^(?:ça|ce|c['’]\p{L}+|ceci|cela|elle|ils|je\b|j['’]\p{L}+|le|la|les(?! \p{L}+ (?:\p{L}+ ){0,3}(?:ne (?:doivent|peuvent|sont|(?!(?:fonctionn|march|pass|charg))\p{L}+ jamais)|doivent|se (?:nomment|rangent|trouvent)|(?:sont|vont|restent) toujours(?! (?:vide|lent|cass))|sont en (?:français|anglais|\w+_case|camelcase|minuscules|centimes)(?!\p{L})))|mon|pourquoi|comment|peux|il (?!faut|ne faut)|il ne faut jamais dire|toujours (?:le|la|les|pas|pareil|en)|jamais (?:vu|de la vie))(?!\p{L})/iu,
    rules: [
      [
        /^(?:avant|après) (?:chaque|de)\s[^,]{1,150},|^(?:quand|si|lorsque) tu [^,]{1,150},.{1,80}\stoujours\s/i,
        'workflow',
      ],
      [
        /^(?:quand|lorsque|chaque fois que) tu (?!as |auras |es |seras |peux |veux |pense)[^,]{1,150},\s*(?:génère|lance|exécute|mets|ajoute|vérifie|demande|pense à|crée|écris)\s/i,
        'workflow',
      ],
      [/^il ne faut (?:pas|jamais) (?!l['’]|oublier|que )\p{L}+ /iu, 'constraint'],
      [/^les \p{L}+ (?:\p{L}+ ){0,2}sont (?:toujours )?en \p{L}/iu, 'convention'],
      [/^(?:on|nous) utilis(?:e|ons) (?!cet|ce|ces|la |le |les )/i, 'tool'],
      [/^(?:on est|nous sommes) passés? de \S+(?: \S+)? à \S/i, 'tool'],
      [
        /^(?:dans ce \p{L}+,? )?(?:on |nous )?(?:n['’]|ne )\p{L}+ (?:pas d(?:e |['’])|jamais )(?!.{0,150}(?:encore|pour l['’]instant))/iu,
        'constraint',
      ],
      [/^(?:tous|toutes|chaque)\s(?:\p{L}+\s){1,5}(?:doit|doivent)\s/iu, 'constraint'],
      [
        /^les (?!utilisateurs|clients|boutons|commandes)(?:\p{L}+ ){1,4}(?:ne (?:doivent|peuvent|sont) (?:pas|jamais)|(?:sont|vont|restent) toujours (?!en |vides?|lent|cass|les? )|doivent toujours) ?/iu,
        'constraint',
      ],
      [
        /^les (?:identifiants|noms|messages|dates|montants|prix|tests|commits|branches|fonctions|composants|erreurs|migrations|services|secrets|logs|fichiers|imports|types|réponses|routes|endpoints)\s(?:\p{L}+ ){0,3}(?:doivent|se (?:nomment|rangent|trouvent)) /iu,
        'convention',
      ],
      [
        /^chaque (?:module|service|composant|fonction|classe|endpoint|fichier|migration|paquet|test|commit|pr|branche|table|contrôleur) (?!prend|met|plante|échoue|renvoie|est |semble|a (?:le|la|une erreur))\p{L}+ /iu,
        'convention',
      ],
      [/^ne \p{L}+ (?:pas|jamais|rien) [^,]{1,80} sans (?:me |mon |demander|prévenir|tests?)/iu, 'constraint'],
      [/^les \p{L}+ ne \p{L}+ jamais (?!fonctionn|march|pass|charg)/iu, 'constraint'],
      [
        /^(?:tous|toutes|chaque)\s(?:\p{L}+\s){1,4}(?:a|ont|passent?|comporte|possède) (?:une?|son|sa|leur|par|au moins) (?!erreur|problème|bug)/iu,
        'convention',
      ],
      [
        /^(?:si|quand|lorsque|chaque fois que|dès que) tu (?!as |auras |es |seras |peux |veux |pense|vois )[^,]{1,150},\s*(?!ça|il|elle|le |la |je |c['’]|on )\S+ .{0,60}(?:avant|d['’]abord|toujours|aussi|après|ensuite)$/iu,
        'workflow',
      ],
      [
        /^pas (?:de |d['’])(?!problème|souci|panique|idée|changement)[^,]{2,60} (?:dans|sans|hors|en dehors) (?!ce|cette|la |le )/iu,
        'constraint',
      ],
      [
        /^(?:il est )?(?:strictement )?interdit (?:de |d['’])|^(?!ce|cette|le |la )[^,]{3,60} (?:est|sont) (?:interdit|obligatoire|proscrit)/iu,
        'constraint',
      ],
      [/^(?:on|nous) (?:n['’]|ne )\p{L}+ plus (?!rien|la |le |ce|du tout)/iu, 'convention'],
      [/^(?:assure-toi|veille à ce) que (?:tou[ts]|chaque|aucun)/i, 'convention'],
      [/^(?:(?:on|nous) )?préf(?:ère|érons)\s/i, 'convention'],
      [/^évite (?!cet|ce |la |le )/i, 'constraint'],
      [/^(?:\S+\s){0,4}?(?:toujours|jamais)\s(?!(?:vu|en|pareil)(?!\p{L}))\S/iu, 'constraint'],
    ],
  }),
)

const chinese = language(/[\u4e00-\u9fff]/, () => ({
  lead: /^(?:请|另外|还有|顺便说一下|好的|谢谢|而且|并且|但是?)[，,：:]?\s*/,
  lasting: /^(?:从现在开始|从今以后|以后|今后|(?:请)?记住)[，,：:]?\s*/,
  tells:
    /^(?:这|那|它|他|她|我(?!们)|为什么|怎么|先|(?:.{0,6})总是(?:失败|报错|同样|这样|出现|崩|重启|超时|卡|空白|很慢)|从来没|一直|以后再|.{0,12}(?:不出来|一遍$))/,
  rules: [
    [/^(?:每次)?.{1,40}(?:之前|之后|前|后|的时候|时)，?.{0,20}(?:一定要|都要|必须|务必|总是|始终)/, 'workflow'],
    [/^我们(?:都|只|统一)?(?:使用|采用|用)(?!这|那|同|它)/, 'tool'],
    [/^我们(?:已经)?从.{1,30}(?:换成|迁移到|切换到|换到|改用)了?/, 'tool'],
    [/^(?:在这个项目[中里])?我们(?:不|从不)(?:使用|用)/, 'constraint'],
    [
      /^(?:不要|别|不得|禁止|严禁|避免)(?:在.{1,20}[里中上])?(?!.{0,20}[这那它]个)(?:使用|用|打印|提交|直接|引入|写|记录|硬编码)/,
      'constraint',
    ],
    [/^[^，]{0,15}统一(?:用|使用|采用|放|命名|存|写|返回|走|为|由|按)(?!这|那|它)/, 'convention'],
    [/^(?!开始|动手|做).{2,20}(?:之前|前)，?(?:请|要|必须|都|记得)?先/, 'workflow'],
    [
      /^(?:每次)?(?:修改|更新|添加|新增|删除|改)(?!.{0,20}[这那它]).{1,20}后，?(?:都|请|一定)?(?:要|记得|必须)/,
      'workflow',
    ],
    [/^没有.{1,20}(?:不要|不得|禁止)/, 'constraint'],
    [
      /^(?!.{0,8}[这那它你我])[^，]{1,20}[里中内上]都?(?:不允许|不得|不准|禁止|不可以|不要)(?!.*(?:提示|报错|哪|吗|为什么))/,
      'constraint',
    ],
    [/^(?!把|将|请|帮)[^，]{2,12}(?:都|要)?用(?:英文|中文|英语)(?:写|命名|书写)?$/, 'convention'],
    [/^(?:避免|禁止|严禁|不得)(?!.{0,20}[这那它])/, 'constraint'],
    [/^优先|^我们更?(?:喜欢|倾向)/, 'convention'],
    [/^(?:所有|每个|任何).{1,30}(?:必须|都要(?!\s?[\d一二两三几])|应该|不能|不得)|^[^，]{2,10}必须/, 'constraint'],
    [/^[^，]{0,15}(?:始终|总是|永远|一律|务必|绝不|绝对不)(?!失败|报错|同样)/, 'constraint'],
  ],
}))

const LANGUAGES = [english, german, spanish, french, chinese]

const languagesOf = (clause: string) => LANGUAGES.filter(({ hint }) => hint.test(clause))

/** A clause without what leads to it, and whether that makes it last. */
function stripped(clause: string): { bare: string; lasts: boolean } {
  const languages = languagesOf(clause)
  let bare = clause
  let lasts = false
  for (let before = ''; before !== bare; ) {
    before = bare
    for (const { cues } of languages) {
      const { lead, lasting } = cues
      lasts ||= lasting.test(bare)
      bare = bare
        .replace(lasting, '')
        .replace(lead, '')
        .replace(/^[:,，：]\s*/, '')
    }
  }
  return { bare, lasts }
}

/** A clause without what only leads to it: "Please remember: …". */
export const withoutLead = (clause: string): string => stripped(clause).bare

/** What "remember:" may be followed by, though alone it would tell something. */
const ARTICLE = /^(?:el|la|los|las|le|les|der|die) /i

/** The rule that a clause states, with its category where the cue says it. */
export function statedIn(clause: string, meantToLast = false): { rule: string; category?: Category } | undefined {
  const { bare, ...led } = stripped(clause)
  const spelt = bare.replace(/\b(do|does|should|must|is|are|wo|ca)nt\b/gi, "$1n't")
  const lasts = meantToLast || led.lasts
  const languages = languagesOf(clause)
  if (languages.some(({ cues }) => cues.tells.test(spelt)) && !(lasts && ARTICLE.test(bare))) return undefined
  for (const { cues } of languages)
    for (const [shape, category] of cues.rules)
      if (shape.test(spelt)) return category ? { rule: bare, category } : { rule: bare }
  return lasts || (languages.includes(english) && isNorm(spelt)) ? { rule: bare } : undefined
}
