import { lstatSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { keptIn } from '../../base/lookup.ts'

/** Where a file lies: beside the store, in a work tree's `.tidemark/`, or in a directory of the user or the machine. */
export type Place = 'store' | 'tree' | 'state' | 'models' | 'compiled' | 'temporary' | 'client'

interface FileKind {
  readonly place: Place
  /** The path below the place; TOKENS has what stands in braces. */
  readonly path: string
  readonly about: string
  /** May hold what somebody recorded: purge erases it there, or removes the file. */
  readonly knowledge: boolean
  /** When it goes: with every uninstall, with the knowledge (--delete-knowledge), or never by uninstall. */
  readonly removed: 'always' | 'knowledge' | 'never'
  readonly by: string
}

const TOKENS: Readonly<Record<string, string>> = {
  sqlite: '(?:-wal|-shm|-journal)?', // the files that SQLite keeps beside a database
  n: '\\d+',
  hex: '[0-9a-f]+',
  month: '\\d{4}-\\d{2}',
  day: '\\d{4}-\\d{2}-\\d{2}(?:-\\d+)?',
  time: '\\d{8}-\\d{6}(?:-\\d+)?',
  view: '(?:handoff|swarm-state|decisions|observations|mutations)',
  id: '[a-z0-9-]+',
  name: '[^/]+',
  dirs: '(?:[^/]+/)*',
  tree: '.+', // any path: such files are known by their directory, and never walked
}

/** A file on its way to its place, wherever that is: what a killed process leaves. */
const UNFINISHED = ['{dirs}.tidemark-{n}-{hex}.tmp', true, 'base/files.ts', 'a file until it is complete'] as const

const kinds = (
  place: Place,
  removed: FileKind['removed'],
  rows: readonly (readonly [path: string, knowledge: boolean, by: string, about: string])[],
): FileKind[] => rows.map(([path, knowledge, by, about]) => ({ place, path, about, knowledge, removed, by }))

/** Every file that Tidemark writes, except exports and clients' own files. Purge, uninstall and doctor use it (test/cli/layout.test.ts). */
export const LAYOUT: readonly FileKind[] = [
  ...kinds('store', 'always', [
    ['prompts.db{sqlite}', true, 'engine/store/prompts.ts', 'what was typed in sessions here, for 90 days'],
    ['prompts.db.damaged', true, 'engine/store/prompts.ts', 'the same, where it was damaged'],
  ]),
  ...kinds('store', 'knowledge', [
    ['{store}{sqlite}', true, 'engine/store/db.ts', 'the store: log, documents, rows, text index, vectors'],
    ['{store}.bell', false, 'engine/store/db.ts', 'the doorbell: which batch was written last; rung at each commit'],
    ['{store}.owner', false, 'engine/store/owner.ts', 'the marks of the machines whose user made or adopted the store'],
    ['{store}.foreign-{n}-{name}', true, 'engine/replication/adopt.ts', 'a file of an adopted store'],
    ['.adopting-{name}/{tree}', true, 'engine/replication/adopt.ts', 'a store that is being adopted'],
    ['.gitignore', false, 'engine/store/db.ts', 'keeps the store out of git, where it lies in a work tree'],
    ['.new-{hex}.db{sqlite}', false, 'engine/store/open-db.ts', 'a new store until it is complete'],
    ['{store}.damaged-{n}{sqlite}', true, 'engine/store/rescue.ts', 'a damaged store that a restore put aside'],
    ['{store}.restoring-{n}.bell', false, 'engine/store/db.ts', 'the doorbell of a store that a restore builds'],
    ['{store}.restoring-{n}.owner', false, 'engine/store/owner.ts', 'the mark of a store that a restore builds'],
    ['{store}.restoring-{n}{sqlite}', true, 'engine/replication/restore.ts', 'a store that a restore builds'],
    ['backups/store-{n}.db{sqlite}', true, 'engine/store/backup.ts', 'a snapshot'],
    ['backups/store-{n}.db.{n}.partial{sqlite}', true, 'engine/store/backup.ts', 'a snapshot until it is complete'],
    ['archive/events-{month}.jsonl', true, 'engine/store/archive.ts', 'events that are older than 30 days'],
    ['archive/events-{month}.jsonl.partial', true, 'engine/store/archive.ts', 'the same while it is written anew'],
    ['hooks.log', true, 'session/hooks/log.ts', 'hook calls: time, session, what went wrong'],
    ['hooks.log.1', true, 'session/hooks/log.ts', 'older hook calls'],
    ['hooks.missed', true, 'session/hooks/backlog.ts', 'what waits to be noted: edited paths'],
    ['extract.log', true, 'session/hooks/log.ts', 'a log of 0.1.0'],
    ['extract.log.1', true, 'session/hooks/log.ts', 'the same, older'],
    ['{store}.partial{sqlite}', true, 'engine/store/deletion.ts', 'a last snapshot on its way back'],
    ['.adopting-{name}/{name}', true, 'engine/replication/adopt.ts', 'a store that takes over another one'],
    ['token', false, 'surfaces/http/guard.ts', 'the bearer token of `serve`'],
    UNFINISHED,
  ]),
  ...kinds('tree', 'always', [
    ['config.json', false, 'engine/store/project.ts', "the project's id and settings; committed"],
    ['.config-{hex}', false, 'engine/store/project.ts', 'the configuration until it is complete'],
    ['.gitignore', false, 'engine/store/project.ts', 'keeps the files of this machine out of git'],
    ['.gitattributes', false, 'engine/store/project.ts', 'keeps git from changing the line ends of the log'],
    ['{view}.md', true, 'work/handoff/views/copies.ts', 'a view: what is known, to read and to edit'],
    ['local/views/{view}.md', true, 'work/handoff/views/copies.ts', 'the view as it was written last'],
    ['local/views/state.json', true, 'work/handoff/views/copies.ts', 'which hand edits could not be read, and why'],
    ['local/views/new-{hex}', true, 'work/handoff/views/copies.ts', 'a view until it is complete'],
    ['local/views/old-{hex}', true, 'work/handoff/views/copies.ts', 'a view that is being replaced'],
    ['local/mutations/{id}.md', false, 'work/evolution/change.ts', 'a skill as it was before a mutation changed it'],
    ['archive/observations-{month}.md', true, 'work/evolution/archive.ts', 'observations that led to nothing'],
    ['cache/{hex}.sexpr', false, 'find/code/cache.ts', 'the symbols and calls of a content of a file'],
    ['cache/manifest.sexpr', false, 'find/code/cache.ts', 'which files have which content'],
    ['local/wiring.json', false, 'session/clients/common/journal.ts', 'the way back from wiring'],
    ['local/.wiring.json.tidemark-{hex}', false, 'session/clients/common/files.ts', 'the same until it is complete'],
    UNFINISHED,
  ]),
  ...kinds('tree', 'never', [
    ['log/{name}/{n}-{n}-{hex}.jsonl', true, 'travel/sync/segments.ts', 'batches of one replica, for git'],
    ['retro/{day}.md', true, 'work/evolution/report.ts', 'the report of a retro; who read it may have added to it'],
    ['{view}.edited-{time}.md', true, 'work/handoff/views/copies.ts', 'a hand edit that could not be read'],
    ['rules/{name}.md', false, 'surfaces/tools/rules.ts', 'a rule of the way of working'],
  ]),
  ...kinds('state', 'never', [
    ['projects/{hex}.json', false, 'engine/store/project-list.ts', 'one project of this user: its root and its store'],
    ['stores/{id}', false, 'engine/store/owner.ts', 'the secret by which this user knows the stores of a project'],
    ['stores/{id}.json', false, 'engine/store/user-state.ts', 'where the user chose to have the stores of a project'],
    ['keys/{id}', false, 'engine/store/keys.ts', 'the key by which this user signs what leaves a project'],
    ['wiring/{hex}', false, 'session/clients/common/journal.ts', 'the hash of an own wiring journal'],
    ['uninstalled/{id}-{n}.db{sqlite}', true, 'engine/store/deletion.ts', 'the last snapshot of a deleted store'],
    ['uninstalled/{id}-{n}.db.partial{sqlite}', true, 'engine/store/deletion.ts', 'the same until it is complete'],
    ['library/{tree}', false, 'project/tiers/library.ts', 'the library, a store of its own'],
    ['extraction.db{sqlite}', true, 'engine/store/user-state.ts', 'what 0.1.0 kept of an extraction'],
    UNFINISHED,
  ]),
  ...kinds('models', 'never', [
    ['minilm/{tree}', false, 'find/recall/embedders/models.ts', 'the model MiniLM'],
    ['runtime/{tree}', false, 'find/recall/embedders/models.ts', 'the runtime that models need'],
    ['.minilm-{name}/{tree}', false, 'find/recall/embedders/models.ts', 'the model until it is complete'],
    ['.runtime-{name}/{tree}', false, 'find/recall/embedders/models.ts', 'the runtime until it is complete'],
    ['http-{hex}.json', false, 'find/recall/embedders/http.ts', 'what was found out about an endpoint'],
    ['http-{hex}.json.{n}', false, 'find/recall/embedders/http.ts', 'the same until it is complete'],
  ]),
  ...kinds('compiled', 'never', [
    ['{tree}', false, 'bin/tidemark.js', "compiled code, in the directory of Node's compile cache"],
  ]),
  ...kinds('temporary', 'never', [
    ['tidemark-demo-{name}/{tree}', false, 'surfaces/cli/commands/demo.ts', 'the project of `demo`, until it ends'],
    ['tidemark-bench-{name}/{tree}', true, 'bench/evaluate/measure.ts', 'the stores of `bench recall`, until it ends'],
    ['tidemark-adopt-{name}/{tree}', true, 'engine/replication/adopt.ts', 'a store before it is adopted'],
    ['tidemark-read-{name}/{tree}', true, 'engine/store/db.ts', 'a copy of a store that is read'],
    ['tidemark-edit-{name}/{name}.json', true, 'surfaces/cli/commands/edit.ts', 'an entity while it is in an editor'],
    ['tidemark-foresee-{name}/{tree}', false, 'find/code/foresee.ts', 'work trees as git objects, to merge them'],
    ['tidemark-minilm-{name}/{tree}', false, 'find/recall/embedders/minilm.ts', 'packages of a model'],
  ]),
  ...kinds('client', 'never', [
    ['.{name}.tidemark-{hex}', false, 'session/clients/common/files.ts', "a client's file until it is complete"],
    UNFINISHED,
  ]),
]

const patterns = new Map<string, RegExp>()

const isOfKind = ({ path }: FileKind, file: string, store: string): boolean =>
  keptIn(patterns, `${store}/${path}`, () => {
    const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const source = path.split(/\{(\w+)\}/).map((part, n) => {
      if (n % 2 === 0) return escaped(part)
      return part === 'store' ? escaped(store) : TOKENS[part]!
    })
    return new RegExp(`^${source.join('')}$`)
  }).test(file)

export const kindOfFile = (place: Place, file: string, store = 'store.db'): FileKind | undefined =>
  LAYOUT.find((k) => k.place === place && isOfKind(k, file, store))

export type OwnFile = Readonly<{ path: string; size: number; kind: FileKind }>

const isDirectory = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

export const directoriesOf = (place: Place): string[] =>
  [...new Set(LAYOUT.flatMap((k) => (k.place === place && !k.path.includes('{tree}') ? above(k.path) : [])))].sort(
    (a, b) => b.split('/').length - a.split('/').length,
  )

function above(path: string): string[] {
  const dir = dirname(path)
  return dir === '.' ? [] : [dir, ...above(dir)]
}

/** Our files in a place, by their names: regular files only. No link below the place is followed. */
export function ownFiles(place: Place, directory: string, store?: string): OwnFile[] {
  if (!isDirectory(directory)) return []
  const below = (dir: string) =>
    isDirectory(join(directory, dir))
      ? readdirSync(join(directory, dir), { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? [e.name] : []))
      : []
  const named = directoriesOf(place).flatMap((dir) => {
    if (!dir.includes('{')) return [dir]
    const names = below(dirname(dir)).map((name) => join(dirname(dir), name))
    return names.filter((name) => name.startsWith(dir.slice(0, dir.indexOf('{')))) // a directory with a random name
  })
  return ['', ...named]
    .filter((dir) => dir.split('/').every((_, n, parts) => isDirectory(join(directory, ...parts.slice(0, n + 1)))))
    .flatMap((dir) =>
      readdirSync(join(directory, dir), { withFileTypes: true }).flatMap((entry) => {
        const kind = entry.isFile() && kindOfFile(place, dir === '' ? entry.name : `${dir}/${entry.name}`, store)
        const path = join(directory, dir, entry.name)
        const size = kind ? lstatSync(path, { throwIfNoEntry: false })?.size : undefined
        return kind && size !== undefined ? [{ path, size, kind }] : []
      }),
    )
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}
