/** A step that only a person's yes to exactly what is shown takes: the server asks, the page shows it, the yes goes back. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Asks, call } from './api.ts'
import { Button, useAttempt } from './parts.tsx'

export function Approve(props: {
  label: string
  isMain?: boolean
  tool: string
  args: object
  done: (text: string) => void
}) {
  const [asked, setAsked] = useState<Asks>()
  const { attempt, trouble } = useAttempt()
  const run = (agreed?: string) =>
    attempt(async () => {
      setAsked(undefined)
      const answer = await call(props.tool, props.args, agreed).catch((e) => {
        if (!(e instanceof Asks)) throw e
        setAsked(e)
      })
      if (answer) props.done(answer.text)
    })
  return (
    <>
      <Button label={props.label} class={props.isMain ? 'main' : ''} onClick={() => run()} />
      {asked && (
        <Question
          label={props.label}
          text={asked.question}
          yes={() => run(asked.agree)}
          no={() => setAsked(undefined)}
        />
      )}
      {trouble}
    </>
  )
}

function Question(props: { label: string; text: string; yes: () => void; no: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} onClose={props.no} aria-label={props.label}>
      <Diff text={props.text} />
      <div class="actions">
        <Button label="No, leave it" onClick={() => dialog.current?.close()} />
        <Button label={`Yes, ${props.label.toLowerCase()}`} class="main" onClick={props.yes} />
      </div>
    </dialog>
  )
}

const LINES: Readonly<Record<string, string>> = { '+': 'good', '-': 'bad', '@': 'muted' }

export const Diff = ({ text }: { text: string }) => (
  <pre class="diff">
    {text
      .trimEnd()
      .split('\n')
      .map((line, i) => (
        <span key={i} class={LINES[line.charAt(0)] ?? ''}>
          {line}
          {'\n'}
        </span>
      ))}
  </pre>
)
