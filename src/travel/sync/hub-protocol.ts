/** What a hub and its clients say to each other: a header of JSON, then one opaque update a line. */

import { isObject, type JsonObject, jsonIn } from '../../model/object.ts'

/** The version of what is said. Each side ignores what it does not know, so that old and new ones go on together. */
export const PROTOCOL = 1
/** A larger frame ends the connection. */
export const MOST_FRAME = 16 * 1024 * 1024
/** So much is pushed and sent at a time, unless a single update is larger. */
export const PAGE_BYTES = 256 * 1024
export const PAGE_UPDATES = 500

export type Frame = { readonly head: JsonObject; readonly updates: readonly string[] }

export const printFrame = (head: object, updates: readonly string[] = []): string =>
  [JSON.stringify(head), ...updates].join('\n')

/** The lines of a text. Each is decoded by itself: one of ASCII takes half the memory and time, whatever the others hold. */
function linesIn(bytes: Buffer): string[] {
  const lines: string[] = []
  for (let from = 0, end = 0; end >= 0; from = end + 1) {
    end = bytes.indexOf(10, from)
    lines.push(bytes.toString('utf8', from, end < 0 ? bytes.length : end))
  }
  return lines
}

export function readFrame(bytes: Buffer): Frame | undefined {
  const [first = '', ...updates] = linesIn(bytes)
  const head = jsonIn(first)
  return isObject(head) ? { head, updates } : undefined
}

/** Compression small enough that a thousand connections fit: windows of 8 kB, and nothing kept between frames. */
export const COMPRESSION = {
  threshold: 32 * 1024, // what happens at the moment is sent to many, and each would be compressed anew
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  serverMaxWindowBits: 13,
  clientMaxWindowBits: 13,
  zlibDeflateOptions: { level: 3, memLevel: 5 },
  concurrencyLimit: 4,
}

/** Where an update was written and which one it is there; the hub keeps it beside the update. */
export const keyOf = (replica: string, seq: number | 'snapshot'): string => `${replica}:${seq}`
const KEY = /^([0-9a-z]{1,7}):[0-9a-z]{1,16}$/
export const replicaOfKey = (key: unknown): string | undefined =>
  typeof key === 'string' ? KEY.exec(key)?.[1] : undefined
