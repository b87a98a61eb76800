#!/usr/bin/env node
// Runs on any Node, also one too old for Tidemark: then it starts again with the Node 24 that a clone brings, or says
// in one line what to install. Kept to old syntax for that reason.
const QUICK =
  'act activity back brief claim claims conflicts discover events forget goal handoff history list next pause questions recall release remember resume review session share show status task tree undo'.split(
    ' ',
  )
const version = process.versions.node.split('.').map(Number)
const isNewEnough = version[0] > 22 || (version[0] === 22 && version[1] >= 13)

if (isNewEnough) {
  // no `import` of node's own modules here: see withoutFacades in scripts/build.mjs
  if (!process.getBuiltinModule('node:fs').existsSync(new URL('../dist/main.js', import.meta.url))) {
    console.error('tidemark: this clone is not built yet; run `npm run build` in it')
    process.exit(1)
  }
  // Node 22 warns of node:sqlite at every start; every other warning stays
  const warn = process.emitWarning
  process.emitWarning = (warning, ...rest) => {
    if (!/SQLite is an experimental feature/.test(String(warning))) warn.call(process, warning, ...rest)
  }
  process.getBuiltinModule('node:module').enableCompileCache()
  // a client waits for its hooks, and agents for what they ask: these have bundles of their own, in one file each
  const [command, ...rest] = process.argv.slice(2)
  const isHook = command === 'hook' && rest.length > 1 && rest.indexOf('--help') < 0
  const isQuick = QUICK.indexOf(command) >= 0
  await import(isHook ? '../dist/hook.js' : isQuick ? '../dist/quick.js' : '../dist/main.js')
} else {
  const { existsSync } = await import('node:fs')
  const { fileURLToPath } = await import('node:url')
  const node = process.platform === 'win32' ? 'node.exe' : 'node'
  const brought = fileURLToPath(new URL('../node_modules/node/bin/' + node, import.meta.url))
  if (existsSync(brought)) {
    const { spawn } = await import('node:child_process')
    const child = spawn(brought, [fileURLToPath(import.meta.url)].concat(process.argv.slice(2)), { stdio: 'inherit' })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
    child.on('exit', (code, signal) => process.exit(code === null ? 128 + (signal === 'SIGKILL' ? 9 : 15) : code))
  } else {
    console.error(
      'tidemark: needs Node 22.13 or newer (24 recommended); this is ' +
        process.versions.node +
        '. Install it from nodejs.org.',
    )
    process.exit(1)
  }
}
