import { add } from './add.ts'
import { json } from './json.ts'
import { markdown } from './markdown.ts'
import type { Exporter } from './types.ts'
import { yjs } from './yjs.ts'

export const EXPORTERS: readonly Exporter[] = [markdown, json, yjs, add]
