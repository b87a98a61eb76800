import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Tests that start the real command line need dist/: built here when a source is newer. */
export default function buildOnce(): void {
  const built = join(root, 'dist', 'main.js')
  const newest = Math.max(
    ...['src', 'web'].flatMap((dir) =>
      readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
        .filter((f) => /\.(?:tsx?|css|html)$/.test(f) && !f.endsWith('.test.ts'))
        .map((f) => statSync(join(root, dir, f)).mtimeMs),
    ),
  )
  if (existsSync(built) && statSync(built).mtimeMs >= newest) return
  const done = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs'), '--no-types'], {
    stdio: 'inherit',
    cwd: root,
  })
  if (done.status !== 0) throw new Error('the build failed')
}
