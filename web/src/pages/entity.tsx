import { useState } from 'preact/hooks'
import { call, here, type Json, useTool } from '../api.ts'
import {
  Ago, Badge, Button, Empty, inWords, many, Note, Page, Panel, Ref, Told, useAttempt, Value, When,
} from '../parts.tsx' // biome-ignore format: a list
import { entityHref, go, place } from '../router.ts'
import { drawn, readVersion } from '../seen.ts'
import { type Entity, Marks } from './knowledge.tsx'

interface Shown extends Entity {
  links: { id: string; from: string; to: string; type: string }[]
  /** What others want to change of it. */
  waiting?: { by: string; wants: string }[]
  conflicts: { field: string }[]
}

interface Change {
  batch: string
  at: string
  field: string
  op: 'set' | 'clear' | 'add' | 'remove' | 'put' | 'drop'
  text: string
  author: { user?: string; agent?: string; session?: string }
}

const APART = new Set(['id', 'kind', 'name', 'recorded', 'updated', 'version', 'provenance', 'links', 'conflicts', 'stale', 'state', 'currentHash', 'waiting', 'composed']) // biome-ignore format: a list

export function EntityPage() {
  const shown = useTool<Shown>('show', { ref: place.use().params.get('id') ?? '' })
  const e = shown.json
  return (
    <Page
      title={e?.name ?? 'Something recorded'}
      lead={
        e && (
          <>
            <Badge>{e.kind}</Badge> recorded <Ago at={e.recorded} />
            {e.updated !== e.recorded && (
              <>
                , changed <Ago at={e.updated} />
              </>
            )}{' '}
            · version {e.version} <Marks of={e} />
          </>
        )
      }
    >
      <Told of={shown}>{(entity) => <Whole key={entity.id} entity={entity} />}</Told>
    </Page>
  )
}

function Whole({ entity: e }: { entity: Shown }) {
  const history = useTool<Change[]>('history', { ref: e.id })
  const changes = (history.json ?? []).filter((c) => c.batch !== undefined && c.op !== undefined)
  const batches = [...Map.groupBy(changes, (c) => c.batch)]
  return (
    <div class="columns uneven">
      <div>
        {e.stale && (
          <p class="banner warn">
            The code that this speaks of has changed: {e.stale}. Read it again; if it still holds, say so below.
          </p>
        )}
        {e.waiting?.map(({ by, wants }) => (
          <p key={`${by} ${wants}`} class="banner warn">
            <strong>{by}</strong>, unverified, {wants}. It stays as it is until you decide: <a href="/review">Review</a>
          </p>
        ))}
        <Fields entity={e} changes={changes} />
        <Actions entity={e} />
      </div>
      <div>
        <Panel title="History" count={batches.length}>
          <Told of={history} empty={<Empty title="No change is known" />}>
            {() => (
              <ol class="rows">
                {batches.toReversed().map(([id, batch]) => (
                  <li key={id}>
                    <div class="row-head">
                      <strong>{who(batch.at(-1)!)}</strong>
                      <When at={batch.at(-1)!.at} />
                    </div>
                    {inHistory(batch).map((said) => (
                      <Note key={said} text={said} />
                    ))}
                  </li>
                ))}
              </ol>
            )}
          </Told>
        </Panel>
        <Links entity={e} />
      </div>
    </div>
  )
}

const who = ({ author: a }: Change): string => a.user ?? a.agent ?? a.session ?? 'somebody'

/** What a batch did, each once; of the one that recorded it only that: what it says stands beside. */
const inHistory = (changes: readonly Change[]): string[] => {
  const said = changes.filter((c) => c.field !== 'provenance')
  const began = said.filter((c) => c.field === '$')
  return [...new Set((began.length > 0 ? began : said).map((c) => c.text))]
}

/** What says most comes first, labels and figures last. */
const FIRST = ['fact', 'description', 'summary', 'body', 'wrongBelief', 'rightBelief', 'rationale', 'outcome', 'lesson', 'context'] // biome-ignore format: a list
const LAST = ['impact', 'confidence', 'standing', 'source', 'topics', 'tags', 'attrs']
const rank = (field: string): number =>
  FIRST.includes(field) ? FIRST.indexOf(field) - FIRST.length : LAST.indexOf(field) + 1

function Fields({ entity: e, changes }: { entity: Shown; changes: readonly Change[] }) {
  const [editing, setEditing] = useState<string>()
  const fields = Object.entries(e).filter(
    (entry): entry is [string, Json] => !APART.has(entry[0]) && entry[1] !== e.name,
  )
  fields.sort(([a], [b]) => rank(a) - rank(b))
  return (
    <Panel title="What it says">
      {fields.length === 0 ? (
        <Empty title="Nothing but its name" />
      ) : (
        <dl class="fields">
          {fields.map(([field, value]) => {
            const last = changes.findLast((c) => c.field === field)
            const canEdit = typeof value === 'string' && !['standing', 'status'].includes(field)
            return (
              <div key={field}>
                <dt>
                  {inWords(field)}
                  {canEdit && editing !== field && (
                    <button type="button" class="quiet" onClick={() => setEditing(field)}>
                      Edit<span class="hidden"> {field}</span>
                    </button>
                  )}
                </dt>
                <dd>
                  {editing === field ? (
                    <Edit entity={e} field={field} value={String(value)} done={() => setEditing(undefined)} />
                  ) : Array.isArray(value) && value.some((v) => String(v).length > 24) ? (
                    <ul class="bullets">
                      {value.map((v, i) => (
                        <li key={i}>
                          <Value value={v} />
                        </li>
                      ))}
                    </ul>
                  ) : (
                    <Value value={value} />
                  )}
                  {last && last.batch !== changes[0]?.batch && (
                    <p class="blame muted">
                      {who(last)}, <Ago at={last.at} />
                    </p>
                  )}
                </dd>
              </div>
            )
          })}
        </dl>
      )}
    </Panel>
  )
}

/** One batch of actions through `act`, so that the same rules hold as everywhere; tells what came of it. */
function useAct() {
  const { attempt, trouble } = useAttempt()
  const [done, setDone] = useState<{ batch: string | null; said: string }>()
  const act = (actions: Json[], said: string) =>
    attempt(async () => {
      const { json } = await call<{ batch: string | null; results: { standing?: string }[]; notes: string[] }>('act', {
        actions,
      })
      const proposed = json.results.some((r) => r.standing === 'proposed') && !here.get()?.person
      setDone({ batch: json.batch, said: proposed ? `${said}: proposed, a person has to agree` : said })
    })
  const merge = (from: string, into: string) =>
    attempt(async () => {
      await call('merge', { from, into })
      go(entityHref(into.includes(':') ? into : from))
    })
  const undo = async () => {
    if (done?.batch && (await act([['undo', { batch: done.batch }]], 'Taken back'))) setDone(undefined)
  }
  const Outcome = () => (
    <>
      {trouble}
      {done && (
        <p class="done" role="status">
          {done.said} {done.batch && <Button label="Undo" onClick={undo} />}
        </p>
      )}
    </>
  )
  return { act, merge, Outcome }
}

function Edit(props: { entity: Shown; field: string; value: string; done: () => void }) {
  const { entity: e, field } = props
  const [text, setText] = useState(props.value)
  const { act, Outcome } = useAct()
  const save = async (event: Event) => {
    event.preventDefault()
    const change = { ref: e.id, expectedVersion: e.version, [field]: text }
    if (text === props.value || (await act([[`record-${e.kind}`, change]], 'Saved'))) props.done()
  }
  return (
    <form onSubmit={save} class="edit">
      <textarea aria-label={field} value={text} rows={3} onInput={(event) => setText(event.currentTarget.value)} />
      <Button label="Save" type="submit" class="main" />
      <Button label="Cancel" onClick={props.done} />
      <Outcome />
    </form>
  )
}

const WORDS = {
  retire: ['Retire', 'It no longer holds: out of lists and recall, still there.', 'Why does it no longer hold?'],
  restore: ['Restore', 'Back into lists and recall.', 'Why does it hold again?'],
  supersede: ['Supersede', 'Something newer takes its place.', 'What takes its place? A name or an id'],
  merge: ['Merge', 'It says the same as another one; this one goes into that.', 'Into which one? A name or an id'],
} as const
type Act = keyof typeof WORDS

function Actions({ entity: e }: { entity: Shown }) {
  const [open, setOpen] = useState<Act>()
  const [said, setSaid] = useState('')
  const { act, merge, Outcome } = useAct()
  drawn(e)
  const offered: Act[] = e.retired !== undefined ? ['restore'] : ['retire', 'supersede', 'merge']
  const send = async (event: Event) => {
    event.preventDefault()
    const actions: { [K in Exclude<Act, 'merge'>]: Json } = {
      retire: ['retire', { ref: e.id, reason: said }],
      restore: ['restore', { ref: e.id, ...(said && { reason: said }) }],
      supersede: ['supersede', { old: e.id, new: said }],
    }
    if (!open) return
    if (await (open === 'merge' ? merge(e.id, said) : act([actions[open]], `${WORDS[open][0]}: done`))) {
      setOpen(undefined)
      setSaid('')
    }
  }
  return (
    <Panel title="Change it">
      <div class="actions">
        {e.standing === 'proposed' && (
          <>
            <Button
              label="Confirm"
              class="main"
              onClick={() => act([['confirm', { ref: e.id, expectedVersion: readVersion(e) }]], 'Confirmed')}
            />
            <Button
              label="Reject"
              onClick={() => act([['reject', { ref: e.id, expectedVersion: e.version }]], 'Rejected')}
            />
          </>
        )}
        {e.stale && (
          <Button label="It still holds" onClick={() => act([['re-anchor', { ref: e.id }]], 'It still holds')} />
        )}
        {offered.map((name) => (
          <Button
            key={name}
            label={WORDS[name][0]}
            aria-expanded={open === name}
            onClick={() => setOpen(open === name ? undefined : name)}
          />
        ))}
      </div>
      {open && (
        <form class="edit" onSubmit={send}>
          <p class="muted">{WORDS[open][1]}</p>
          <label class="field">
            {WORDS[open][2]}
            <input value={said} required={open !== 'restore'} onInput={(event) => setSaid(event.currentTarget.value)} />
          </label>
          <Button label={WORDS[open][0]} type="submit" class="main" />
        </form>
      )}
      <Outcome />
    </Panel>
  )
}

const Links = ({ entity: e }: { entity: Shown }) => (
  <Panel title="Links" count={e.links.length}>
    {e.links.length === 0 ? (
      <Empty title="Nothing is linked to it">
        Agents link what they record; <code>tidemark relate</code> proposes links between decisions.
      </Empty>
    ) : (
      <ul class="rows">
        {e.links.map((l) => (
          <li key={l.id} class="row-head">
            <span class="muted">{l.from === e.id ? `${l.type} →` : `← ${l.type}`}</span>
            <Ref id={l.from === e.id ? l.to : l.from} />
          </li>
        ))}
      </ul>
    )}
    {e.conflicts.length > 0 && (
      <p class="banner warn">{many(e.conflicts.length, 'field')} in conflict: write it again to settle it.</p>
    )}
  </Panel>
)
