import { runStdio } from '../../src/surfaces/mcp/stdio.ts'

await runStdio(process.argv[2] ? { project: process.argv[2] } : {})
