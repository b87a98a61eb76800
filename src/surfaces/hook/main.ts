import { hook } from './hook.ts'

// what `tidemark hook CLIENT EVENT` starts: past everything else that the command line does
await hook(process.argv.slice(3))
