import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ClientContext } from '../src/session/clients/common/types.ts'
import { applyUnwiring, applyWiring, planUnwiring, planWiring } from '../src/session/clients/wiring.ts'

/** A project and a home of its own, with `tidemark` on the PATH or not. */
export function machine(files: Record<string, string> = {}, onPath = true) {
  const top = mkdtempSync(join(tmpdir(), 'tidemark-wire-'))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  const root = join(top, 'project')
  const home = join(top, 'home')
  for (const dir of [root, home, join(top, 'bin'), join(top, 'lib')]) mkdirSync(dir)
  const script = join(top, 'lib', 'tidemark.js')
  writeFileSync(script, '')
  if (onPath) writeFileSync(join(top, 'bin', 'tidemark'), '#!/bin/sh\n', { mode: 0o755 })
  const ctx: ClientContext = {
    root,
    home,
    launcher: { onPath, node: process.execPath, script },
    env: { PATH: join(top, 'bin') },
  }
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(top, path)), { recursive: true })
    writeFileSync(join(top, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  const read = (path: string) => readFileSync(join(top, path), 'utf8')
  const wire = (names?: string[]) => {
    const changes = planWiring(ctx, names)
    applyWiring(ctx, changes)
    return changes
  }
  const unwire = () => {
    const changes = planUnwiring(ctx)
    applyUnwiring(ctx, changes)
    return changes
  }
  /** Every file and folder, with its bytes and mode; our own folder apart. */
  const tree = () => {
    const all: Record<string, string> = {}
    const walk = (dir: string) => {
      for (const entry of readdirSync(join(top, dir), { withFileTypes: true })) {
        const path = join(dir, entry.name)
        if (entry.name === '.tidemark') continue
        const mode = (lstatSync(join(top, path)).mode & 0o777).toString(8)
        if (entry.isDirectory()) all[`${path}/`] = mode
        else if (entry.isSymbolicLink()) all[path] = `-> ${readlinkSync(join(top, path))}`
        else all[path] = `${mode} ${readFileSync(join(top, path), 'latin1')}`
        if (entry.isDirectory()) walk(path)
      }
    }
    walk('.')
    return all
  }
  return { top, ctx, write, read, wire, unwire, tree, path: (p: string) => join(top, p) }
}
