import { createInterface } from 'node:readline/promises'

/** Whether a person sits at the other end, who can be asked. */
export const isTerminal = (): boolean => Boolean(process.stdin.isTTY && process.stdout.isTTY)

/** Asks at the terminal. `otherwise` is what an empty answer means; whatever else is not y or yes is a no. */
export async function ask(question: string, otherwise = false): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await reader.question(`${question} ${otherwise ? '[Y/n]' : '[y/N]'} `)
    return answer.trim() === '' ? otherwise : /^y(es)?$/i.test(answer.trim())
  } finally {
    reader.close()
  }
}
