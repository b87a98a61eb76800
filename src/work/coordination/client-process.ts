import { type ProcessRef, processRef, processStat, thisHost } from '../../base/env.ts'

/** What may stand between a client and what it starts: shells and launchers, which end before it does. */
const BETWEEN =
  /^(sh|bash|zsh|dash|fish|ksh|ash|busybox|env|timeout|setsid|nohup|xargs|npm|npx|npm exec.*|pnpm|yarn|tidemark.*|time|script)$/

const DEEPEST = 12

/** The processes above this one, nearest first, as far as the system tells. */
function ancestors(): { pid: number; name: string; born: string }[] {
  const out: { pid: number; name: string; born: string }[] = []
  let pid = processStat(process.pid)?.parent ?? 0
  while (pid > 1 && out.length < DEEPEST) {
    const stat = processStat(pid)
    if (!stat) break
    out.push({ pid, name: stat.name, born: stat.born })
    pid = stat.parent
  }
  return out
}

export const sameProcess = (a: ProcessRef, b: ProcessRef): boolean =>
  a.pid === b.pid && a.born === b.born && a.host === b.host

/** The alias by which a process stands for its session. */
export const processAlias = (p: Pick<ProcessRef, 'pid' | 'born' | 'host'>): string =>
  `process:${p.host}:${p.pid}:${p.born}`

export const ancestorRefs = (): ProcessRef[] => ancestors().map(({ pid, born }) => ({ pid, born, host: thisHost() }))

/** The nearest process above that is no shell and no launcher. */
export function nearestAbove(): ProcessRef | undefined {
  // the launcher on an old Node starts this one again and says who it is
  const found = ancestors().find((p) => !BETWEEN.test(p.name) && process.env.TIDEMARK_LAUNCHER !== String(p.pid))
  return found && processRef(found.pid)
}

/** The process of the client that started this one. Where the system does not tell, the parent. */
export function clientProcess(): ProcessRef | undefined {
  const named = Number(process.env.CLAUDE_PID)
  if (Number.isInteger(named) && named > 1) return processRef(named)
  const found = nearestAbove()
  if (found) return found
  return process.ppid > 1 && processStat(process.pid) === undefined ? processRef(process.ppid) : undefined
}
