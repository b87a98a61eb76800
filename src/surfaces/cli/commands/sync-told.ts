import { shortBatch } from '../../../engine/store/keys.ts'
import { many } from '../../../session/briefing/format.ts'
import type { Dropped } from '../../../travel/sync/dropped.ts'
import type { Exchanged } from '../../../travel/sync/hub-exchange.ts'
import type { Held } from '../../../travel/sync/publish.ts'
import type { CommandCall } from '../command.ts'

const LISTED = 20

export const batches = (n: number) => many(n, 'batch', 'batches')

export function tellHeld(call: CommandCall, { batch, entity, category }: Held): void {
  call.out(`  held    ${batch}: ${entity ?? 'its header'} looks like a secret (${category})`)
  call.out(`          erase it with \`tidemark act '[["purge", …]]'\`, and change it wherever it is used`)
}

export function tellLines(call: CommandCall, summaries: readonly string[]): void {
  for (const summary of summaries.slice(0, LISTED)) call.out(`          ${summary}`)
  if (summaries.length > LISTED) call.out(`          and ${summaries.length - LISTED} more`)
}

const NAMED = 5
/** Others whom nobody can check who meets them first. */
export function keylessNote(replicas: readonly string[]): string {
  const rest = replicas.length > NAMED ? ` and ${replicas.length - NAMED} more` : ''
  const some = `${replicas.slice(0, NAMED).join(', ')}${rest}`
  return `${many(replicas.length, 'replica')} of version 0.1.0 (${some}): who wrote what they say cannot be checked here; ask a member who knew them`
}

/** What this branch once had of this machine, and somebody removed. */
export function tellDropped(call: CommandCall, { lines, unknown }: Dropped): void {
  if (lines.length > 0) {
    const some = lines.slice(0, LISTED).map((l) => shortBatch(`${l.replica}:${l.seq}`))
    const rest = lines.length > some.length ? ` and ${lines.length - some.length} more` : ''
    call.out(
      `  dropped ${batches(lines.length)} that this branch had and somebody removed; not written again: ${some.join(', ')}${rest}`,
    )
    call.out(`          they count here still; to let them count nowhere: \`tidemark sync --decline BATCH\``)
  }
  if (unknown > 0)
    call.out(
      `  shallow this clone is shallow, so nobody can tell whether ${batches(unknown)} had been removed from this branch; \`git fetch --unshallow\` brings its history`,
    )
}

const REFUSED: Readonly<Record<string, string>> = {
  'not-yours':
    'another member of the hub has written under this machine’s identity; ask for a token of the same member as before',
  'bad-update': 'it is no line of Tidemark',
  'member-full': 'the hub keeps no more of this member; who runs it gives more space (`tidemark hub --member-mb`)',
  'project-full': 'the hub keeps no more of this project; who runs it gives more space (`tidemark hub --project-mb`)',
  'too-fast': 'the hub takes no more of this member within the hour; the rest follows with a later sync',
  dropped: 'who runs the hub has taken out what this machine pushed; ask them. Here it stays',
  'read-only': 'the token may only read; what you record reaches the others through git',
}

export function tellHub(call: CommandCall, exchanged: Exchanged): void {
  const { applied, back, gaps, odd, pushed, held, refused, ahead } = exchanged
  if (back > 0) call.out(`  back    ${batches(back)} of this machine that its store had lost`)
  if (applied > back) call.out(`  hub     ${batches(applied - back)} of others; unverified until confirmed here`)
  else if (back === 0) call.out('  hub     nothing new there')
  if (gaps > 0) call.out(`  miss    ${batches(gaps)} that others name and nobody here has`)
  if (ahead !== undefined)
    call.out(
      `  clock   the clock of this machine is ${many(Math.round(Math.abs(ahead) / 60_000), 'minute')} ${ahead > 0 ? 'ahead of' : 'behind'} the hub's: set it`,
    )
  for (const { n, why } of odd) call.out(`  leave   update ${n} of the hub: ${why}`)
  if (pushed.length > 0) call.out(`  push    ${batches(pushed.length)} to the hub`)
  tellLines(call, pushed)
  if (held) tellHeld(call, held)
  if (refused !== undefined) call.out(`  refused by the hub: ${REFUSED[refused] ?? refused}`)
}
