// The main job, from a fresh clone: build what needs building, open the store of this repository, serve it on loopback
// and say how to connect a client.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const newest = (dir) =>
  Math.max(
    0,
    ...readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((f) => f.isFile())
      .map((f) => statSync(join(f.parentPath, f.name)).mtimeMs),
  )

const built = join(root, 'dist', 'main.js')
if (!existsSync(built) || newest(join(root, 'src')) > statSync(built).mtimeMs) {
  console.error('building …')
  const build = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs'), '--no-types'], {
    stdio: 'inherit',
    cwd: root,
  })
  if (build.status !== 0) process.exit(build.status ?? 1)
}
const server = spawn(
  process.execPath,
  [join(root, 'bin', 'tidemark.js'), 'serve', '--project', root, ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal))
// npm ends without a word to us where it is killed
const parent = process.ppid
setInterval(() => process.ppid !== parent && server.kill('SIGTERM'), 1_000).unref()
server.on('exit', (code) => process.exit(code ?? 0))
