/** What observations cost or saved, as far as it is said in numbers. */
export interface Amounts {
  minutes: number
  tokens: number
  /** By currency sign. */
  money: { [sign: string]: number }
}

/** A number with its unit behind or its currency before it. */
const AMOUNT =
  /([$€£])?(\d{1,12}(?:\.\d{1,6})?)\s{0,2}(k(?=[ t]))?\s{0,2}(hours?|hrs?|h|minutes?|mins?|min|days?|d|seconds?|secs?|s|tokens?|tok)?\b/gi

const MINUTES: Readonly<Record<string, number>> = { d: 480, h: 60, m: 1, s: 1 / 60 }

/** Adds the amounts of a text such as `cost: $147 API + 3hr`. A day of work has eight hours. */
export function addAmounts(sum: Amounts, text: string): Amounts {
  for (const [, sign, digits, thousand, unit = ''] of text.replace(/(\d),(?=\d{3})/g, '$1').matchAll(AMOUNT)) {
    const n = Number(digits) * (thousand ? 1000 : 1)
    const first = unit.charAt(0).toLowerCase()
    if (sign !== undefined) sum.money[sign] = (sum.money[sign] ?? 0) + n
    else if (first === 't') sum.tokens += n
    else if (first !== '') sum.minutes += n * MINUTES[first]!
  }
  return sum
}

export const noAmounts = (): Amounts => ({ minutes: 0, tokens: 0, money: {} })

const round = (n: number): number => Math.round(n * 10) / 10

/** `3.5 h, $147, 40000 tokens`; empty where nothing was said in numbers. */
export const amountsText = ({ minutes, tokens, money }: Amounts): string =>
  [
    ...(minutes === 0 ? [] : [minutes < 90 ? `${round(minutes)} min` : `${round(minutes / 60)} h`]),
    ...Object.entries(money).map(([sign, n]) => `${sign}${round(n)}`),
    ...(tokens === 0 ? [] : [`${tokens} tokens`]),
  ].join(', ')
