import { add } from './add.ts'
import { json } from './json.ts'
import { markdown } from './markdown.ts'
import type { Exporter } from './types.ts'

/** Every format that knowledge goes out in. */
export const EXPORTERS: readonly Exporter[] = [markdown, json, add]
