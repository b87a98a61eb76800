import type { Db } from '../store/db.ts'
import type { Ingested } from './ingest.ts'
import type { Fault } from './integrity.ts'

/** What restoring and adopting need of an open store; `Memory` is one. */
export interface StoreHandle {
  readonly db: Db
  readonly projectId: string
  faults(): Fault[]
  rebuild(): unknown
  applyUpdates(lines: Uint8Array): Ingested
  close(): void
}
