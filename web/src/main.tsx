import './style.css'
import { render } from 'preact'
import { enter } from './api.ts'
import { App } from './app.tsx'
import { follow } from './live.ts'
import { listen } from './router.ts'

listen()
await enter().catch(() => {}) // a server that does not answer is told of by what follows it
follow()
render(<App />, document.getElementById('app')!)
