import { cosine } from './unit-vector.ts'

/** Sentences that have nothing to do with each other, as they stand in projects' memories. */
export const UNRELATED = [
  'The payment service retries a failed charge three times and then gives up.',
  'Every component keeps its styles in a module beside it.',
  'Berlin has had no snow this winter.',
  'Passwords are hashed with argon2 before they reach the table.',
  'The nightly backup runs at two and is copied to another region.',
  'Use tabs in makefiles, spaces everywhere else.',
  'My sister is learning to play the cello.',
  'Images are resized by a worker that reads a queue.',
  'The parser gives up after a nesting depth of five hundred.',
  'Customers complained that the invoice shows the wrong tax rate.',
  'Feature flags are read once, when the process starts.',
  'The bakery on the corner closes at six.',
  'We chose Postgres because the reports need window functions.',
  'A log line without a request id is of no use to anyone.',
  'The mobile app crashes when the keyboard opens on a small screen.',
  'Tests must not depend on the order in which they run.',
  'Her flight to Lisbon leaves on Thursday morning.',
  'Translations live in one file for each language.',
  'The search index is rebuilt whenever the mapping changes.',
  'Keep the public interface small and the comments honest.',
  'Websocket clients reconnect with an exponential delay.',
  'The garden needs water twice a week in summer.',
  'Certificates are renewed by a job thirty days before they expire.',
  'Memory grew because listeners were never removed.',
  'The designer wants rounder corners on the buttons.',
  'A release is tagged only after the pipeline is green.',
  'He is afraid of speaking before a large audience.',
  'Dates are stored in UTC and shown in the zone of the reader.',
  'The linter forbids default exports.',
  'Upload limits were raised to twenty megabytes for paying users.',
  'The old monolith still serves the admin pages.',
  'Our dog eats everything that falls on the kitchen floor.',
] as const

/** The same thing said twice, in other words. */
export const SAME: readonly (readonly [string, string])[] = [
  ['We use Postgres as the database', 'PostgreSQL was chosen for storing the data'],
  ['Run the tests before every commit', 'Always execute the test suite before you commit'],
  ['The server ran out of memory under load', 'Heavy traffic made the server exhaust its memory'],
  ['How do we log in users?', 'User authentication and sign-in'],
  ['Redis caches the session tokens', 'Session tokens are kept in a Redis cache'],
  ['The build is slow because of type checking', 'Type checking makes builds take long'],
  ['Do not edit generated files by hand', 'Generated files must never be changed manually'],
  ['Deploy to production on Tuesdays', 'Production deployments happen every Tuesday'],
  ['The API returns an error for invalid dates', 'Invalid dates make the API answer with an error'],
  ['She moved to Spain two years ago', 'Two years ago she relocated to Spain'],
  ['Dark mode settings are stored in the browser', 'The browser stores the preference for the dark theme'],
  ['The queue loses messages when a worker crashes', 'Messages in the queue vanish if a worker dies'],
  ['Rate limiting protects the public endpoints', 'Public endpoints have request rate limits'],
  ['Fix the memory leak in the event listeners', 'Event listeners leak memory and that has to be fixed'],
  ['The user prefers short answers', 'Short replies are what the user likes'],
  ['Migrations run automatically at startup', 'On start-up, the schema migrations are applied automatically'],
]

const at = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)]!

/** Where a model's cosines begin to mean something (95 % of unrelated pairs lie below), and where two texts say the same. */
export function calibrate(
  unrelated: readonly Float32Array[],
  same: readonly (readonly [Float32Array, Float32Array])[],
): { floor: number; ceiling: number } {
  const apart = unrelated.flatMap((a, i) => unrelated.slice(i + 1).map((b) => cosine(a, b))).sort((a, b) => a - b)
  const similar = same.map(([a, b]) => cosine(a, b)).sort((a, b) => a - b)
  const floor = at(apart, 0.95)
  // a model that cannot tell the two apart still gets a scale that rises
  return { floor, ceiling: Math.max(at(similar, 0.5), floor + 0.05) }
}
