import { redact } from '../../../base/secrets/find.ts'
import { withoutPrivate } from '../../../base/secrets/screen.ts'
import { FENCE_BEGIN, FENCE_END } from '../../briefing/fence.ts'
import { excludedCommand, excludedPath, type HooksConfig } from '../config.ts'
import { withoutElements, withoutFenced } from '../typed-words.ts'

/** What our hooks tell or ask, from there to the end of the block. */
const OURS =
  /^(?:Stop hook feedback|Before you stop: this session recorded nothing in Tidemark|Tidemark(?: not(?:ed|iced in) what the user just said[^:\n]{0,20})?:).*(?:\n(?!\s*\n).*)*/gm
const NOT_OF_A_PATH = /[^\w@~.*/-]+/
/** No path has more parts or longer names: what looks like one and has costs more to judge than it can tell. */
const DEEPEST = 64
const ENDLESS = /[\w@~.*-]{500}/
/** A shorter word stands in too many texts that say nothing of what was private. */
const TELLING = 6

/** What stands between `<private>` and `</private>`, line by line: it is to be found nowhere else either. */
export function privateIn(text: string): string[] {
  const regions: string[] = []
  withoutPrivate(text, (region) => {
    regions.push(region)
    return ''
  })
  return regions.flatMap((region) =>
    region
      .split(/\n|<\/?private>/i)
      .map((l) => l.trim())
      .filter((l) => l.length >= TELLING),
  )
}

/** Makes texts fit to leave a session: without what is private, secret, excluded, code, or told by ourselves. */
export function cleaner(config: HooksConfig, unsaid: readonly string[]): (text: string) => string {
  const isExcluded = (line: string): boolean => {
    if (config.excludePaths.length > 0) {
      if (ENDLESS.test(line)) return true
      const paths = line
        .split(NOT_OF_A_PATH)
        .map((word) => word.replace(/(?<!\.)\.+$/, ''))
        .filter((word) => /[/.]/.test(word))
      const within = (parts: readonly string[]) => parts.some((_, i) => excludedPath(config, parts.slice(i).join('/')))
      if (paths.map((p) => p.split('/')).some((parts) => parts.length > DEEPEST || within(parts))) return true
    }
    if (config.excludeCommands.length === 0) return false
    const spans = [line, ...[...line.matchAll(/`([^`]+)`/g)].map((m) => m[1]!)]
    return spans.some((s) => excludedCommand(config, s.replace(/^\s*\$\s+/, '')))
  }
  return (text) => {
    let out = withoutPrivate(text, () => ' ')
    for (const one of unsaid) out = out.replaceAll(one, ' ')
    // what clients and hooks put into what is said: `<system-reminder>…`, `<hook_context>…`, `<environment_context>…`
    const begin = withoutElements(out.replace(/\r\n?/g, '\n'), false)
    const open = begin.indexOf(FENCE_BEGIN)
    out = withoutFenced((open < 0 ? begin : begin.slice(0, open)).replaceAll(FENCE_END, ' ')).replace(OURS, '')
    return redact(out)
      .split('\n')
      .filter((line) => !isExcluded(line))
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
      .toWellFormed()
  }
}
