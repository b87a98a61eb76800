import { chmodSync } from 'node:fs'
import { join, relative } from 'node:path'
import { UserError } from '../../../errors.ts'
import { createInside, readInside } from '../../../files.ts'
import { gitCommonDir, gitRoot } from '../../../git.ts'
import { shellWord } from '../../../model/shell.ts'
import { PROJECT_DIR } from '../../../store/project.ts'

const COMMENT = '# tidemark: what this machine recorded goes into the same commit'
const HOOK = 'hooks/pre-commit'

/** Has git write and add segments before each commit; a hook that is there is left to its author. */
export function installHook(root: string): string {
  const top = gitRoot(root)
  const common = top === undefined ? undefined : gitCommonDir(top)
  if (top === undefined || common === undefined)
    throw new UserError('no-git', `${root} is in no git repository`, 'make one with `git init` first')
  // git runs hooks at the top of the work tree that is committed
  const place = shellWord(relative(top, root) || '.')
  const lines = [
    COMMENT,
    '# `git commit FILE` takes what it names alone: git would forget at once that it knows what is added here',
    'if command -v tidemark >/dev/null 2>&1 && case "$GIT_INDEX_FILE" in *next-index-*) false ;; esac; then',
    `  tidemark sync --git --project ${place} >/dev/null`,
    `  git add -- ${place}/${PROJECT_DIR}/log ${place}/${PROJECT_DIR}/.gitattributes 2>/dev/null || true`,
    'fi',
  ]
  const path = join(common, HOOK)
  const config = `${readInside(common, 'config') ?? ''}`
  const elsewhere = /^[ \t]*hookspath[ \t]*=/im.test(config)
  if (!elsewhere && createInside(common, HOOK, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 })) {
    chmodSync(path, 0o755)
    return `  made    ${path}`
  }
  if (!elsewhere && `${readInside(common, HOOK) ?? ''}`.includes('tidemark sync ')) return `  there   ${path}`
  return [`  add     these lines to your pre-commit hook (${elsewhere ? 'core.hooksPath' : path}):`, ...lines].join(
    '\n',
  )
}
