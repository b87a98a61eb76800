import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { UserError } from '../../../base/errors.ts'
import { below, createInside, packageFile, readInside } from '../../../base/files.ts'
import { gitRoot, workTreeOf } from '../../../base/git.ts'
import { runGit } from '../../../base/run-git.ts'
import { PROJECT_DIR } from '../../../engine/store/project.ts'
import { shellWord } from '../../../model/shell.ts'

const HOOKS = 'hooks'
const NAME = 'pre-commit'

/** The directory that git is told to look for hooks in, by whatever configuration holds here; nothing for its own. */
async function hooksElsewhere(top: string, common: string): Promise<string | undefined> {
  const said = await runGit(top, 'config', '--path', '-z', '--get-all', 'core.hooksPath')
  const given = said.split('\0').at(-3) // the last value is that of `runGit`
  const dir = given === undefined ? undefined : resolve(top, given)
  return dir === join(common, HOOKS) ? undefined : dir
}

/** Has git write and add segments before each commit; a hook that is there is left to its author. */
export async function installHook(root: string): Promise<string> {
  const { top, common } = workTreeOf(root) ?? {}
  if (top === undefined || common === undefined)
    throw new UserError('no-git', `${root} is in no git repository`, 'make one with `git init` first')
  // git runs hooks at the top of the work tree that is committed
  const place = shellWord(relative(top, root) || '.')
  const lines = [
    '# tidemark: what this machine recorded goes into the same commit',
    '# `git commit FILE` takes what it names alone: git would forget at once that it knows what is added here',
    `if [ -d ${place}/${PROJECT_DIR} ] && command -v tidemark >/dev/null 2>&1 && case "$GIT_INDEX_FILE" in *next-index-*) false ;; esac; then`,
    `  tidemark sync --git --project ${place} >/dev/null`,
    `  git add -- ${place}/${PROJECT_DIR}/log ${place}/${PROJECT_DIR}/.gitattributes 2>/dev/null || true`,
    'fi',
  ]
  const elsewhere = await hooksElsewhere(top, common)
  const dir = elsewhere ?? join(common, HOOKS)
  const path = join(dir, NAME)
  if (!elsewhere && createInside(common, `${HOOKS}/${NAME}`, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 })) {
    chmodSync(path, 0o755)
    return `  made    ${path}`
  }
  if (`${readInside(dir, NAME) ?? ''}`.includes('tidemark sync ')) return `  there   ${path}`
  const isShared = elsewhere !== undefined && below(top, dir) === undefined && below(common, dir) === undefined
  return [
    ...(isShared
      ? [
          `  note    git runs the hooks of ${dir} (core.hooksPath), which is outside this repository, and none of .git/hooks`,
          `          to have hooks of its own here: git config core.hooksPath ${shellWord(join(common, HOOKS))}, and this command again`,
        ]
      : []),
    `  add     these lines to ${existsSync(path) ? path : `${path}, a new file that begins with #!/bin/sh and may be run`}:`,
    ...lines,
  ].join('\n')
}

const WORKFLOW = '.github/workflows/tidemark.yml'

/** Writes the GitHub workflow that explains and checks pull requests; one that is there is left as it is. */
export function writeWorkflow(root: string): string {
  const top = gitRoot(root) ?? root
  const place = relative(top, root) || '.'
  const text = readFileSync(packageFile('assets/github-workflow.yml'), 'utf8').replace('PROJECT', JSON.stringify(place))
  if (createInside(top, WORKFLOW, text)) return `  made    ${join(top, WORKFLOW)}: commit it`
  const isOurs = `${readInside(top, WORKFLOW) ?? ''}` === text
  return `  there   ${join(top, WORKFLOW)}${isOurs ? '' : ', which is another one: remove it first to have ours'}`
}
