// Preloaded into a process under test (`node --import`): notes every path that it writes, makes, moves or removes in the
// file PROBE_LOG, one a line, and ends it with SIGKILL just before its PROBE_KILL-th such step.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync, StatementSync } from 'node:sqlite'

const { PROBE_LOG, PROBE_KILL } = process.env
const { openSync, writeSync } = fs
const log = PROBE_LOG ? openSync(PROBE_LOG, 'a') : undefined
const WRITES = {
  openSync: 0,
  writeFileSync: 0,
  appendFileSync: 0,
  mkdirSync: 0,
  renameSync: 1,
  linkSync: 1,
  copyFileSync: 1,
}
const OTHERS = { mkdtempSync: 0, rmSync: 0, unlinkSync: 0, rmdirSync: 0, chmodSync: 0, fsyncSync: 0, truncateSync: 0 }
let steps = 0

function step(name, path) {
  if (++steps === Number(PROBE_KILL)) process.kill(process.pid, 'SIGKILL')
  if (log !== undefined && typeof path === 'string') writeSync(log, `${name} ${path}\n`)
}

for (const [name, place] of Object.entries({ ...WRITES, ...OTHERS })) {
  const original = fs[name]
  fs[name] = function (...args) {
    if (name !== 'openSync' || /[wa+]/.test(String(args[1] ?? 'r')) || typeof args[1] === 'number')
      step(name, args[place])
    return original.apply(this, args)
  }
}
syncBuiltinESMExports()

const { exec } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function (sql) {
  if (/COMMIT|VACUUM|checkpoint/.test(sql)) step('exec')
  return exec.call(this, sql)
}
for (const name of ['run', 'get', 'all']) {
  const original = StatementSync.prototype[name]
  StatementSync.prototype[name] = function (...args) {
    if (/VACUUM|checkpoint/.test(this.sourceSQL)) step('openSync', args[0])
    return original.apply(this, args)
  }
}
