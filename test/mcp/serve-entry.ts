import { serve } from '../../src/surfaces/http/serve.ts'

const running = await serve({ project: process.cwd(), log: (line) => console.log(line) })
await running.ended
