import { encode } from 'gpt-tokenizer/encoding/o200k_base'

/** How many tokens a text has in o200k_base, exactly; one that looks like a special token is counted as the text it is. */
export const countTokens = (text: string): number => encode(text, { disallowedSpecial: new Set() }).length
