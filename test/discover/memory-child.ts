import { createInterpreter } from '../../src/scheme/interpreter.ts'

/** Runs programs from the parent one after another; tells what each gave and the most memory that the process ever had. */
process.on('message', (program: string) => {
  const from = performance.now()
  const printed = createInterpreter({ now: () => performance.now() }).run(program)
  process.send!({
    printed: printed.join(' ').slice(0, 200),
    ms: performance.now() - from,
    peak: process.resourceUsage().maxRSS * 1024,
  })
})
createInterpreter({}).run('(map (lambda (x) (* x x)) (iota 1000))')
process.send!({ printed: '', ms: 0, peak: process.resourceUsage().maxRSS * 1024 })
