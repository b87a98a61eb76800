const argv = process.argv.slice(2)
// a client waits for its hooks: they go past everything else that the command line does
const isHook = argv[0] === 'hook' && argv.length > 2 && !argv.includes('--help')
if (isHook) await (await import('./hooks/door.ts')).hook(argv.slice(1))
else process.exitCode = await (await import('./cli.ts')).run(argv)
