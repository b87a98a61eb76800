// Builds dist/: a bundle for hooks, one for quick commands and one for all the rest, then the types. Node looks for each file by itself: one file starts sooner.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { build as buildPages } from 'vite'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Functions that may be looked up when called: their modules are large, and readers rarely need them. */
const LATE = {
  'node:crypto': new Set(['createHash', 'hash', 'randomBytes', 'randomFillSync', 'randomUUID', 'timingSafeEqual']),
  'node:child_process': new Set(['spawn', 'spawnSync']), // not execFile: promisify looks at what it carries,
}

/**
 * Takes node's own modules directly. An `import` of one makes a facade that reads every export, lazy ones included:
 * `import … from 'node:fs'` loads all of Node's streams. Measured: `discover` had its store open after 17 ms instead of
 * 25. An import written any other way than the bundler does now stays as it is, and works.
 */
function withoutFacades(code) {
  const head = []
  const body = code.replace(
    /(?<=^|[;\n}])import(\{[^}]*\}|\*as [\w$]+ |[\w$]+ )from"(node:[\w/]+)";/g,
    (_, names, module) => {
      const got = `globalThis.process.getBuiltinModule("${module}")`
      const pairs = names.startsWith('{') ? names.slice(1, -1).split(',') : []
      const late = (pair) => LATE[module]?.has(pair.split(' as ')[0]) === true
      for (const pair of pairs.filter(late)) {
        const [name, local = name] = pair.split(' as ')
        head.push(`const ${local}=(...a)=>${got}.${name}(...a);`)
      }
      const now = pairs.filter((pair) => !late(pair))
      if (pairs.length === 0) head.push(`const ${names.replace('*as ', '')}=${got};`)
      else if (now.length > 0) head.push(`const{${now.join(',').replaceAll(' as ', ':')}}=${got};`)
      return ''
    },
  )
  return head.join('') + body
}

const options = {
  absWorkingDir: root,
  outdir: 'dist',
  write: false,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' }, // its other form asks for its parts with a require of its own
  external: Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((d) => [d, `${d}/*`]),
  minify: true,
  metafile: true,
  logLevel: 'warning',
  // a bundled package that is CommonJS may ask for node's own modules; a real require has to be made for every chunk
  banner: { js: 'const require=(id)=>globalThis.process.getBuiltinModule(id);' },
}
const library = await build({ ...options, entryPoints: { index: 'src/index.ts' } })
const names = Object.values(library.metafile.outputs).flatMap((output) => output.exports)

/** The command line and the library in one file, as they share nearly all: the library is evaluated when it is asked for. */
const whole = {
  name: 'whole',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^whole$/ }, ({ path }) => ({ path, namespace: 'whole' }))
    onLoad({ filter: /./, namespace: 'whole' }, () => ({
      resolveDir: root,
      contents: `export { run } from './src/surfaces/cli/cli.ts'\nexport const library = () => require('./src/index.ts')`,
    }))
  },
}

/** In one file every import of a package would run at each start: what few commands need is loaded with them. */
const lateServers = {
  name: 'late-servers',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:hono|ws|@hono\/node-server)(?:\/|$)/ }, ({ path }) => ({ path, namespace: 'late' }))
    onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({
      contents: `module.exports = $package(${JSON.stringify(path)})`, // as CommonJS, which runs when it is first asked for
    }))
  },
}
const nodeModule = 'globalThis.process.getBuiltinModule("node:module")'
const result = await build({
  ...options,
  banner: { js: `${options.banner.js}const $package=(id)=>${nodeModule}.createRequire(import.meta.url)(id);` },
  plugins: [lateServers, whole],
  entryPoints: { all: 'whole', 'hub-claims': 'src/travel/sync/hub-claims.ts' },
})

/** What is one script that bin/tidemark.js runs: it gets its place as arguments, since only modules have `import.meta`. */
const scriptOptions = {
  ...options,
  charset: 'ascii',
  define: { 'import.meta.url': '$url', 'import.meta.dirname': '$dirname' },
}

/**
 * One function, behind a line with its hash: see runScript in bin/tidemark.js. All ASCII, which V8 reads at once: the
 * bundler escapes other characters everywhere but in regular expressions.
 */
function asScript(code) {
  const text = withoutFacades(code).replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const odd = /(?<=^|[;\n}])(?:import[\s{*"']|export[\s{*]).{0,60}|import\.meta.{0,60}/.exec(text)
  if (odd) throw new Error(`a script cannot import or export: ${odd[0]}`)
  const whole = `(async function($url,$dirname){"use strict";${text}\n})`
  return `//${createHash('sha256').update(whole).digest('hex').slice(0, 16)}\n${whole}`
}

/** Hooks take the dialects from the list of clients, and nothing of their wiring. */
const dialectsOnly = {
  name: 'dialects-only',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/\w+\/wiring\.ts$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      sideEffects: false,
    }))
  },
}

/** A client waits for its hooks. In one file, what is loaded late is still evaluated late: a prompt took 2.3 × an empty process instead of 3.0. */
const hooks = await build({
  ...scriptOptions,
  plugins: [dialectsOnly],
  entryPoints: { hook: 'src/surfaces/hook/main.ts' },
})

/**
 * Tools are asked for all day: one file for them, without the commands that set up and serve, and without what speaks with
 * a hub. bin/tidemark.js has their names.
 */
const toolsOnly = {
  name: 'tools-only',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\// }, ({ importer }) =>
      /[\\/]cli[\\/]commands[\\/]index\.ts$/.test(importer) ? { path: './main.js', external: true } : undefined,
    )
    onResolve({ filter: /[\\/]hub-claims\.ts$/ }, () => ({ path: './hub-claims.js', external: true }))
  },
}
const quick = await build({
  ...scriptOptions,
  plugins: [toolsOnly],
  entryPoints: { quick: 'src/surfaces/cli/main.ts' },
})

const files = [
  ...result.outputFiles.map(({ path, text }) => [basename(path), withoutFacades(text)]),
  ['main.js', "import{run}from'./all.js';process.exitCode=await run(process.argv.slice(2))\n"],
  ['index.js', `import{library}from'./all.js';export const{${names.join(',')}}=library()\n`],
  ...[...hooks.outputFiles, ...quick.outputFiles].map(({ path, text }) => [basename(path), asScript(text)]),
]
const dist = join(root, 'dist')
const fresh = join(root, `.dist-${process.pid}`)
mkdirSync(fresh)
for (const [name, text] of files) writeFileSync(join(fresh, name), text)

/** The dashboard, for browsers. */
const pages = await buildPages({
  configFile: join(root, 'web/vite.config.ts'),
  build: { outDir: join(fresh, 'web') },
})
const inPages = pages.output.flatMap((chunk) => chunk.moduleIds ?? [])

/** What is bundled comes with its licence, and what is loaded where it is installed. */
const bundled = new Set(Object.keys(optionalDependencies).filter((d) => existsSync(join(root, 'node_modules', d))))
for (const file of [...Object.keys(result.metafile.inputs), ...inPages]) {
  const m = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)
  if (m) bundled.add(m[1])
}
const notices = [
  '# Third-party notices',
  '',
  'The bundles in `dist/` hold code of these packages, or load it where it is installed.',
  '',
]
for (const name of [...bundled].sort()) {
  const dir = join(root, 'node_modules', name)
  const manifest = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  const file = ['LICENSE', 'LICENSE.md', 'LICENCE', 'license', 'LICENSE.txt']
    .map((f) => join(dir, f))
    .find((f) => existsSync(f))
  notices.push(
    `## ${name} ${manifest.version} (${manifest.license})`,
    '',
    file ? readFileSync(file, 'utf8').trim() : 'No licence file in the package.',
    '',
  )
}
writeFileSync(join(root, 'THIRD_PARTY_NOTICES.md'), notices.join('\n'))

if (!process.argv.includes('--no-types')) {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  const types = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.types.json', '--outDir', join(fresh, 'types')], {
    cwd: root,
    stdio: 'inherit',
  })
  if (types.status !== 0) {
    rmSync(fresh, { recursive: true, force: true })
    process.exit(types.status ?? 1)
  }
  dropUnreached(join(fresh, 'types'))
}

/** Keeps of the types what the library's own reach. */
function dropUnreached(folder) {
  const reached = new Set()
  const open = [join(folder, 'index.d.ts')]
  for (let file = open.pop(); file; file = open.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g))
      open.push(join(dirname(file), `${path}.d.ts`))
  }
  for (const file of globSync(`${folder}/**/*.d.ts`)) if (!reached.has(file)) rmSync(file)
}

// what runs meanwhile sees the old bundles or the new ones, never half of them
rmSync(dist, { recursive: true, force: true })
renameSync(fresh, dist)
