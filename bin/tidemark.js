#!/usr/bin/env node
// Runs on any Node, also one too old for Tidemark: then it starts again with the Node 24 that a clone brings, or says
// in one line what to install. Kept to old syntax for that reason.
const QUICK =
  'act activity back brief claim claims conflicts discover events explain forget goal handoff history list next off on pause questions recall redo release remember resume review scan session share show status task tree undo'.split(
    ' ',
  )
const version = process.versions.node.split('.').map(Number)
// the SQLite of older ones, and of all 23, has no FTS5
const isNewEnough = version[0] > 23 || (version[0] === 22 && version[1] >= 16)

/**
 * What a repository carries is never loaded or started (T29). A place that is no whole path is looked for wherever this runs:
 * packages that are not installed would come from there by NODE_PATH, git by PATH, and on Windows every program.
 */
function leaveRepositoryOut() {
  const { env, platform } = process
  const { delimiter, isAbsolute } = process.getBuiltinModule('node:path')
  const isChanged = (name) => {
    const all = (env[name] || '').split(delimiter)
    const whole = all.filter((path) => isAbsolute(path))
    if (whole.length === all.length) return false
    if (whole.length > 0) env[name] = whole.join(delimiter)
    else delete env[name] // an empty one means the present directory
    return true
  }
  isChanged('PATH')
  if (isChanged('NODE_PATH')) process.getBuiltinModule('node:module')._initPaths()
  if (platform === 'win32') env.NoDefaultCurrentDirectoryInExePath = '1'
}

/**
 * Compiled code is run as it lies there. The usual directory for temporary files belongs to everybody: what another user
 * made in it, or may write to, could hold anything. Then it is a directory beside it, or none. Node has its way where
 * somebody named one, and on Windows, where each user has such a directory.
 */
function enableCompileCache() {
  const { enableCompileCache } = process.getBuiltinModule('node:module')
  const { env, getuid } = process
  if (env.NODE_COMPILE_CACHE || !getuid) return enableCompileCache()
  const fs = process.getBuiltinModule('node:fs')
  const usual = process.getBuiltinModule('node:os').tmpdir() + '/node-compile-cache'
  for (const directory of [usual, usual + '-' + getuid()]) {
    try {
      // not `recursive`, which never ends where a system says that there is no such place, as /proc does
      if (!fs.existsSync(directory)) fs.mkdirSync(directory, 0o700)
      const stat = fs.lstatSync(directory)
      const isOurs = stat.isDirectory() && stat.uid === getuid() && (stat.mode & 0o002) === 0
      if (isOurs) return enableCompileCache(directory)
    } catch {} // it cannot be made, or is no directory
  }
}

/**
 * Runs `dist/NAME.js`, one function, with the code that V8 made for earlier runs. Node's own compile cache holds what is
 * compiled when a file is loaded; most functions are compiled when they are first called, which took a quarter of a hook's
 * time. So the code is kept as it is at the end of a run, in the same directory, and again when a run did what none of
 * the earlier ones did (src/surfaces/code-cache.ts). Each event of a client and each command has a file of its own: what it does
 * not run would cost it 4 to 13 ms to read. Whatever fails here only costs time.
 */
function runScript(name, what) {
  const fs = process.getBuiltinModule('node:fs')
  const vm = process.getBuiltinModule('node:vm')
  const url = new URL('../dist/' + name + '.js', import.meta.url)
  const filename = process.getBuiltinModule('node:url').fileURLToPath(url)
  const source = fs.readFileSync(filename, 'latin1') // it is ASCII: scripts/build.mjs
  // V8 knows a source by its length only: the name holds its hash, the directory Node's version, flags and the user
  const directory = process.getBuiltinModule('node:module').getCompileCacheDir()
  const file =
    directory && directory + '/tidemark-' + what.replace(/[^a-z-]/gi, '').slice(0, 60) + '-' + source.slice(2, 18)
  const HEAD = 4096
  let known = new Set()
  let cachedData
  try {
    const fd = fs.openSync(file, 'r')
    // the directory is in that for temporary files: code is taken from nobody else
    const isOurs = !process.getuid || fs.fstatSync(fd).uid === process.getuid()
    const bytes = isOurs ? fs.readFileSync(fd) : Buffer.alloc(0)
    fs.closeSync(fd)
    // V8 runs damaged code as it is, for ever if need be. It stands there twice: to compare is quicker than any checksum
    const half = (bytes.length - HEAD) / 2
    if (half > 0 && bytes.subarray(HEAD, HEAD + half).equals(bytes.subarray(HEAD + half))) {
      known = new Set(bytes.toString('latin1', 0, HEAD).trim().split('\n'))
      cachedData = bytes.subarray(HEAD, HEAD + half)
    }
  } catch {} // not yet, or no directory for it
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  const script = new vm.Script(source, { filename, cachedData, importModuleDynamically })
  if (script.cachedDataRejected) known = new Set()
  const ran = (globalThis[Symbol.for('tidemark.ran')] = new Set())
  // the first that makes something runs other code than those that add to it
  for (const turn of ['once', 'twice', 'thrice'])
    if (!known.has(turn)) {
      ran.add(turn)
      break
    }
  process.on('exit', () => {
    if (!file || [...ran].every((what) => known.has(what))) return
    const head = [...new Set([...known, ...ran])].join('\n').padEnd(HEAD)
    if (head.length > HEAD) return
    const fresh = file + '.' + process.pid
    try {
      const fd = fs.openSync(fresh, 'wx', 0o600)
      const code = script.createCachedData()
      fs.writeFileSync(fd, Buffer.concat([Buffer.from(head, 'latin1'), code, code]))
      fs.fsyncSync(fd)
      fs.closeSync(fd)
      fs.renameSync(fresh, file)
      // what other versions left and nobody has needed for a month
      for (const other of fs.readdirSync(directory).filter((o) => o.indexOf('tidemark-') === 0)) {
        const path = directory + '/' + other
        if (Date.now() - fs.statSync(path).mtimeMs > 30 * 86400e3) fs.rmSync(path, { force: true })
      }
    } catch {
      fs.rmSync(fresh, { force: true })
    }
  })
  return script.runInThisContext()(url.href, process.getBuiltinModule('node:path').dirname(filename))
}

/**
 * Ends a process that could not start, in one line. A hook fails no client (M4): it ends well, and its person is told as a
 * session begins, where the client shows what is told.
 */
function giveUp(why) {
  const [command, client, event] = process.argv.slice(2)
  console.error('tidemark: ' + why)
  if (command !== 'hook') process.exit(1)
  const tells = /^(claude|codex|gemini)$/.test(client) && /^session-?start$/i.test(event)
  console.log(JSON.stringify(tells ? { systemMessage: 'Tidemark could not start: ' + why } : {}))
  process.exit(0)
}

if (isNewEnough) {
  leaveRepositoryOut()
  // no `import` of node's own modules here: see withoutFacades in scripts/build.mjs
  if (!process.getBuiltinModule('node:fs').existsSync(new URL('../dist/main.js', import.meta.url))) {
    giveUp('this clone is not built yet; run `npm run build` in it')
  }
  // Node 22 warns of node:sqlite at every start, and each of the way in which runScript loads; every other warning stays
  const warn = process.emitWarning
  process.emitWarning = (warning, ...rest) => {
    if (!/(?:SQLite|vm\.USE_MAIN_CONTEXT_DEFAULT_LOADER) is an experimental feature/.test(String(warning)))
      warn.call(process, warning, ...rest)
  }
  enableCompileCache()
  // a client waits for its hooks, and agents for what they ask: these have bundles of their own, in one script each
  const [command, ...rest] = process.argv.slice(2)
  if (command === 'hook' && rest.length > 1 && rest.indexOf('--help') < 0)
    try {
      await runScript('hook', 'hook-' + rest[0] + '-' + rest[1])
    } catch (error) {
      giveUp(error.message)
    }
  else if (QUICK.indexOf(command) >= 0) await runScript('quick', command)
  else await import('../dist/main.js')
} else {
  const { existsSync } = await import('node:fs')
  const { fileURLToPath } = await import('node:url')
  const node = process.platform === 'win32' ? 'node.exe' : 'node'
  const brought = fileURLToPath(new URL('../node_modules/node/bin/' + node, import.meta.url))
  if (existsSync(brought)) {
    const { spawn } = await import('node:child_process')
    // so that it is not taken for the client that a session lives by: src/work/coordination/client-process.ts
    const env = Object.assign({}, process.env, { TIDEMARK_LAUNCHER: String(process.pid) })
    const args = [fileURLToPath(import.meta.url)].concat(process.argv.slice(2))
    const child = spawn(brought, args, { stdio: 'inherit', env })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
    child.on('exit', (code, signal) => process.exit(code === null ? 128 + (signal === 'SIGKILL' ? 9 : 15) : code))
  } else {
    giveUp('needs Node 24, or 22.16 or newer of 22; this is ' + process.versions.node + '. Install it from nodejs.org.')
  }
}
