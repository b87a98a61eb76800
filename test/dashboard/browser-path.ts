import { existsSync } from 'node:fs'

const PLACES = [process.env.CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
export const executablePath = PLACES.find((file) => file !== '' && existsSync(file))

/** Every page with its heading. */

export const PAGES = [
  ['/', 'Now'],
  ['/briefing', 'Briefing'],
  ['/knowledge', 'Knowledge'],
  ['/knowledge?q=voucher', 'Knowledge'],
  ['/entity?id=decision%3Apartition-orders-by-month', 'partition-orders-by-month'],
  ['/review', 'Review'],
  ['/evolution', 'Evolution'],
  ['/graph', 'Graph'],
  ['/graph?id=decision%3Apartition-orders-by-month', 'Graph'],
  ['/signals', 'Patterns noticed'],
] as const
