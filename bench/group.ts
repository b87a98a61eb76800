import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Starts workers, lets them go at the same moment when all are ready, and returns what each said at the end. */
export async function runTogether<T>(argLists: readonly (readonly string[])[]): Promise<T[]> {
  const worker = join(import.meta.dirname, 'worker.ts')
  const running = argLists.map((args) => {
    const child = spawn(process.execPath, [worker, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines: unknown[] = []
    const ready = Promise.withResolvers<ChildProcess>()
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(JSON.parse(line))
      ready.resolve(child)
    })
    const done = new Promise<T>((resolve, reject) =>
      child.on('close', (code) =>
        code === 0 ? resolve(lines.at(-1) as T) : reject(new Error(`worker ${args.join(' ')} ended with ${code}`)),
      ),
    )
    return { ready: ready.promise, done }
  })
  const children = await Promise.all(running.map((r) => r.ready))
  for (const child of children) child.stdin!.write('go\n')
  return Promise.all(running.map((r) => r.done))
}
