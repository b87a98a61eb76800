// Builds dist/: small bundles, one chunk per command, so that a command loads only what it needs; then the types.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
rmSync(join(root, 'dist'), { recursive: true, force: true })
const result = await build({
  absWorkingDir: root,
  entryPoints: { main: 'src/surfaces/main.ts', index: 'src/index.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  external: Object.keys(dependencies).flatMap((d) => [d, `${d}/*`]),
  minifySyntax: true,
  minifyWhitespace: true,
  keepNames: true,
  metafile: true,
  logLevel: 'warning',
  // some bundled packages are CommonJS and call require for node's own modules
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
})

/** What is bundled comes with its licence. */
const bundled = new Set()
for (const file of Object.keys(result.metafile.inputs)) {
  const m = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)
  if (m) bundled.add(m[1])
}
const notices = ['# Third-party notices', '', 'The bundles in `dist/` hold code of these packages.', '']
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
  const types = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.types.json'], { cwd: root, stdio: 'inherit' })
  if (types.status !== 0) process.exit(types.status ?? 1)
}
