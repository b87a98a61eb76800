import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { git, scratch, tidemark } from '../cli/run.ts'
import { testUnless } from '../needs.ts'

/** A small disk of its own, where the system lets one be mounted. */
function mounted(): { dir: string } | { missing: string } {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m,nr_inodes=2000', 'tmpfs', dir], { stdio: 'pipe' })
    return { dir }
  } catch {
    rmSync(dir, { recursive: true })
    return { missing: 'nothing can be mounted here' }
  }
}

const disk = mounted()
const dir = 'dir' in disk ? disk.dir : undefined
afterAll(() => {
  if (dir === undefined) return
  execFileSync('umount', [dir])
  rmSync(dir, { recursive: true })
})

testUnless('missing' in disk && disk.missing)(
  '[T15] a disk that is read-only or has no inodes is said as such: no bug, no damaged store',
  async () => {
    const { env } = scratch()
    const at = { dir: join(dir!, 'project'), env }
    mkdirSync(at.dir)
    git(at.dir, 'init', '-q', '-b', 'main')
    const run = async (...args: string[]) => {
      const { out, err, code } = await tidemark(at, args)
      return { text: out + err, code }
    }
    await run('init', '--client', 'none', '--yes')
    await run('act', '[["record-decision", {"name": "known", "rationale": "r"}]]')
    const remount = (how: string) => execFileSync('mount', ['-o', `remount,${how}`, dir!])
    const judge = async (why: RegExp) => {
      const synced = await run('sync')
      expect(synced.code).toBe(1)
      expect(synced.text).toMatch(why)
      expect(synced.text).not.toContain('bug')
      const doctor = await run('doctor')
      expect(doctor.text).not.toMatch(/damaged|bug|another process/)
      expect(doctor.text).toContain('store is sound')
      expect(doctor.text).toContain('the store cannot be written here')
      expect((await run('brief')).text).toContain('known')
    }
    remount('ro')
    try {
      await judge(/cannot be written: the disk is mounted read-only/)
    } finally {
      remount('rw')
    }
    const fillers: string[] = []
    try {
      for (let i = 0; i < 2_000; i++) {
        const path = join(dir!, `f${i}`)
        writeFileSync(path, '')
        fillers.push(path)
      }
    } catch {} // that was the last one
    expect(fillers.length).toBeLessThan(2_000)
    await judge(/cannot be written: no space or no inodes are left/)
    for (const path of fillers) rmSync(path)
    expect((await run('sync')).text).toContain('recorded decision "known"')
  },
)
