import type { DatabaseSync } from 'node:sqlite'
import { NAME_KEY_MAX, nameKey } from '../../model/entity.ts'

/** Append-only: a released migration is never edited. One that old code can live with leaves `OLDEST_WRITER` alone. */
export const MIGRATIONS: readonly ((db: DatabaseSync) => void)[] = [
  m001_log_rows_and_index,
  m002_current_work,
  m003_recall,
  m004_vector_pages,
  m005_coordination,
  m006_arrivals,
  m007_code,
  m008_long_names,
  m009_moments,
  m010_no_wishes,
  m011_events_in_runs,
  m012_vector_signs,
  m013_documents_by_age,
  m014_packed_lines,
  m015_changed_entities,
  m016_lines_alone,
  m017_surviving_events,
  m018_held,
]

/** The oldest schema version whose code may still read and write a store of the current one. Older code than 16 reads no new lines. */
export const OLDEST_WRITER = 16

export const SCHEMA_VERSION = MIGRATIONS.length

function m001_log_rows_and_index(db: DatabaseSync): void {
  db.exec(`
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

    -- The truth: one line per batch (K10). n is the order of arrival here; it is what cursors count.
    CREATE TABLE log (
      n INTEGER PRIMARY KEY AUTOINCREMENT,
      replica TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL,
      at INTEGER NOT NULL, received INTEGER NOT NULL,
      line TEXT NOT NULL,
      UNIQUE (replica, seq)
    );
    -- Lines that wait for an earlier line of their replica.
    CREATE TABLE parked (
      replica TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, received INTEGER NOT NULL, line TEXT NOT NULL,
      PRIMARY KEY (replica, seq, hash)
    ) WITHOUT ROWID;
    -- Up to which line of each replica a compaction has folded the log away (K14).
    CREATE TABLE covered (replica TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL, ctr INTEGER NOT NULL) WITHOUT ROWID;
    -- Lines whose content was erased (K15): emptied if anybody sends them again. parts: which writes, all when null.
    CREATE TABLE purged (replica TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, entity TEXT NOT NULL, parts TEXT,
      PRIMARY KEY (replica, seq, hash, entity)) WITHOUT ROWID;
    -- deep: and all that they overwrote.
    CREATE TABLE purged_writes (replica TEXT NOT NULL, ctr INTEGER NOT NULL, deep INTEGER NOT NULL, PRIMARY KEY (replica, ctr)) WITHOUT ROWID;
    CREATE INDEX purged_entities ON purged (entity);

    -- Identities that two stores wrote under (K12): from which line on they count no longer, and under which line of
    -- its branch's own identity each of their lines stands now.
    CREATE TABLE forked (replica TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE branched (hash TEXT PRIMARY KEY, replica TEXT NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;

    -- Documents at the last compaction; counts: how many of the lines folded away touched the entity, by replica.
    CREATE TABLE base (entity TEXT PRIMARY KEY, state BLOB NOT NULL, updated INTEGER NOT NULL, counts TEXT NOT NULL) WITHOUT ROWID;
    -- Everything below is an index: dropped and built again from the log with the same result.
    CREATE TABLE docs (entity TEXT PRIMARY KEY, state BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE events (
      replica TEXT NOT NULL, seq INTEGER NOT NULL, i INTEGER NOT NULL,
      entity TEXT NOT NULL, ms INTEGER NOT NULL, ctr INTEGER NOT NULL, body TEXT NOT NULL, base INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (replica, seq, i)
    ) WITHOUT ROWID;
    CREATE INDEX events_of_entity ON events (entity);
    CREATE TABLE entities (
      rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
      name TEXT NOT NULL, name_key TEXT NOT NULL, live INTEGER NOT NULL,
      standing TEXT NOT NULL, retired INTEGER NOT NULL,
      created INTEGER NOT NULL, updated INTEGER NOT NULL, version INTEGER NOT NULL,
      body TEXT NOT NULL, conflicts TEXT
    );
    CREATE INDEX entities_by_kind ON entities (kind, live, created DESC, id);
    CREATE INDEX entities_by_name ON entities (name_key);
    CREATE INDEX entities_in_conflict ON entities (id) WHERE conflicts IS NOT NULL;
    CREATE TABLE links (id TEXT PRIMARY KEY, src TEXT NOT NULL, rel TEXT NOT NULL, dst TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX links_from ON links (src, rel);
    CREATE INDEX links_to ON links (dst, rel);
    CREATE VIRTUAL TABLE text_index USING fts5 (
      title, body, extra, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'
    );

    -- What discover sessions have defined: not knowledge, never in the log.
    CREATE TABLE defines (session TEXT NOT NULL, name TEXT NOT NULL, form TEXT NOT NULL, source TEXT NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (session, name)) WITHOUT ROWID;
    -- What doctor should tell: forks, damaged lines, clocks that are far off.
    CREATE TABLE findings (key TEXT PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
  `)
}

function m002_current_work(db: DatabaseSync): void {
  db.exec(`
    -- Where in the work tree each session stands, as ids from the goal down: not knowledge, never in the log.
    CREATE TABLE current_work (session TEXT PRIMARY KEY, path TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  `)
}

function m003_recall(db: DatabaseSync): void {
  db.exec(`
    -- What recall compares, by the row of the entity; an index like the others. terms: see store/texts.ts. source: what
    -- it stands in a row with (a conversation, a task), place: where in it. wish: memory/wish.ts.
    CREATE TABLE texts (rowid INTEGER PRIMARY KEY, source TEXT, place REAL, speaker TEXT,
      wish INTEGER NOT NULL, words INTEGER NOT NULL, terms BLOB NOT NULL);
    CREATE INDEX texts_in_a_row ON texts (source, place) WHERE source IS NOT NULL;
    CREATE INDEX texts_with_a_wish ON texts (rowid DESC) WHERE wish>0;
    CREATE VIRTUAL TABLE text_words USING fts5vocab (text_index, 'row');
    -- Vectors of the current model; change: a number that grows, so that readers find what is new.
    CREATE TABLE vectors (rowid INTEGER PRIMARY KEY, change INTEGER NOT NULL, data BLOB NOT NULL);
    CREATE INDEX vectors_by_change ON vectors (change);
    -- Entities whose vector is still to be made.
    CREATE TABLE vectors_due (rowid INTEGER PRIMARY KEY);
  `)
}

function m004_vector_pages(db: DatabaseSync): void {
  db.exec(`
    -- The vectors as a process holds them, mixed and side by side: read in one go by the next one. An index of an index.
    CREATE TABLE vector_pages (part INTEGER PRIMARY KEY, data BLOB NOT NULL);
  `)
}

function m005_coordination(db: DatabaseSync): void {
  db.exec(`
    -- Presence and claims are no knowledge: they are never in the log, and none of this is ever sent to another replica.
    CREATE TABLE sessions (id TEXT PRIMARY KEY, seen INTEGER NOT NULL, ended INTEGER, body TEXT NOT NULL) WITHOUT ROWID;
    -- By what else a session is known: a process, a call, the id it had before.
    CREATE TABLE doors (door TEXT PRIMARY KEY, session TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
    -- n is the fencing number: it grows with every grant, and no two grants share one.
    CREATE TABLE claims (n INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, until INTEGER NOT NULL, ended INTEGER, body TEXT NOT NULL);
    CREATE INDEX claims_held ON claims (session) WHERE ended IS NULL;
    -- What happened with them, in one row of numbers with the lines of the log.
    CREATE TABLE presence_events (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, session TEXT NOT NULL, type TEXT NOT NULL, body TEXT NOT NULL);
    -- What was put before which session, and what it cost.
    CREATE TABLE told (n INTEGER PRIMARY KEY, session TEXT NOT NULL, at INTEGER NOT NULL, door TEXT NOT NULL,
      ids TEXT NOT NULL, tokens INTEGER NOT NULL, chars INTEGER NOT NULL, ms REAL);
    CREATE INDEX told_to ON told (session);
  `)
}

function m006_arrivals(db: DatabaseSync): void {
  db.exec(`
    -- When somebody here last stood by an entity, and when others last spoke of it, in the order of arrival, as far as the lines
    -- that say so were folded away. Known here alone, never sent. entity: a digest, so that nothing of an erased name is in it.
    CREATE TABLE arrivals (entity TEXT PRIMARY KEY, own INTEGER NOT NULL, others INTEGER NOT NULL) WITHOUT ROWID;
  `)
}

function m007_code(db: DatabaseSync): void {
  db.exec(`
    -- The code of a work tree as it was seen last, and what the locations of entities stand for in it. Known here alone, never sent.
    CREATE TABLE code_files (root TEXT NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL, mtime REAL NOT NULL, hash TEXT NOT NULL,
      PRIMARY KEY (root, path)) WITHOUT ROWID;
    CREATE INDEX code_files_by_content ON code_files (root, hash);
    CREATE TABLE anchors (root TEXT NOT NULL, entity TEXT NOT NULL, location TEXT NOT NULL,
      path TEXT NOT NULL, symbol TEXT NOT NULL, line INTEGER NOT NULL, hash TEXT NOT NULL, stale TEXT, since INTEGER,
      PRIMARY KEY (root, entity, location)) WITHOUT ROWID;
    CREATE INDEX anchors_by_path ON anchors (root, path);
    CREATE INDEX anchors_of_entity ON anchors (entity);
    CREATE INDEX anchors_stale ON anchors (root) WHERE stale IS NOT NULL;
    CREATE INDEX anchors_due ON anchors (root) WHERE hash='';
  `)
}

/** Names that are alike in their first 200 characters get keys of their own. Old code finds them by no name, and no worse. */
function m008_long_names(db: DatabaseSync): void {
  const rows = db.prepare('SELECT id, name FROM entities WHERE length(name_key) >= ?').all(NAME_KEY_MAX)
  const update = db.prepare('UPDATE entities SET name_key=? WHERE id=?')
  for (const { id, name } of rows) update.run(nameKey(String(name)), id as string)
}

function m009_moments(db: DatabaseSync): void {
  db.exec(`
    -- What was touched since a moment, and what had happened by then: reading as of a moment folds nothing else.
    CREATE INDEX entities_by_update ON entities (kind, updated, live, created, id, retired, standing);
    DROP INDEX events_of_entity;
    CREATE INDEX events_of_entity ON events (entity, ms);
    CREATE INDEX events_by_moment ON events (ms);
    CREATE INDEX events_for_lists ON events (entity, ms) WHERE
      instr(body, '"f":"$"') OR instr(body, '"f":"retired"') OR instr(body, '"f":"standing"');
  `)
}

/** No text is told apart as a wish of the user's any more. */
function m010_no_wishes(db: DatabaseSync): void {
  db.exec('DROP INDEX texts_with_a_wish; ALTER TABLE texts DROP COLUMN wish')
}

/** Events of one entity that follow each other in a line share a row, which says whose they are once. */
function m011_events_in_runs(db: DatabaseSync): void {
  db.exec(`
    ALTER TABLE events RENAME TO single_events;
    DROP INDEX events_of_entity;
    DROP INDEX events_by_moment;
    DROP INDEX events_for_lists;
    -- i: the place of the first. lists: whether one says that the entity is there, or that lists leave it out. body: the
    -- events without the id of the entity. base: kept of a folded line, each by itself. Not WITHOUT ROWID: of such a row
    -- what is longer than a kilobyte goes to a page of its own.
    CREATE TABLE events (
      replica TEXT NOT NULL, seq INTEGER NOT NULL, i INTEGER NOT NULL,
      entity TEXT NOT NULL, ms INTEGER NOT NULL, lists INTEGER NOT NULL, body TEXT NOT NULL, base INTEGER NOT NULL DEFAULT 0
    );
  `)
  const put = db.prepare('INSERT INTO events (replica, seq, i, entity, ms, lists, body, base) VALUES (?,?,?,?,?,?,?,?)')
  type Old = { replica: string; seq: number; i: number; entity: string; ms: number; body: string; base: number }
  let run: Old[] = []
  const flush = () => {
    const [first] = run
    if (!first) return
    const { replica, seq, i, entity, ms, base } = first
    const bodies = run.map((e) => withoutEntity(e.body, entity))
    const lists = bodies.some((b) => /^\{"f":"(?:\$|retired|standing)"/.test(b)) ? 1 : 0
    put.run(replica, seq, i, entity, ms, lists, `[${bodies.join()}]`, base)
  }
  const all = db.prepare('SELECT replica, seq, i, entity, ms, body, base FROM single_events ORDER BY replica, seq, i')
  for (const row of all.iterate() as Iterable<Old>) {
    const last = run.at(-1)
    const follows =
      last && row.base === 0 && row.entity === last.entity && row.seq === last.seq && row.replica === last.replica
    if (follows) run.push(row)
    else {
      flush()
      run = [row]
    }
  }
  flush()
  db.exec(`
    DROP TABLE single_events;
    CREATE UNIQUE INDEX events_of_line ON events (replica, seq, i);
    CREATE INDEX events_of_entity ON events (entity, ms, lists);
    CREATE INDEX events_by_moment ON events (ms);
  `)
}

/** The JSON of an event without the id of its entity, with which it begins. */
function withoutEntity(body: string, entity: string): string {
  const start = `{"e":${JSON.stringify(entity)},`
  return body.startsWith(start) ? `{${body.slice(start.length)}` : body
}

function m012_vector_signs(db: DatabaseSync): void {
  db.exec(`
    -- The signs of vectors, 64 rows side by side: all that a process holds of vectors in memory. change: a number that grows, so
    -- that readers find what is new. mixed: a vector with those beside it in its row; null where it stands in none.
    CREATE TABLE vector_signs (block INTEGER PRIMARY KEY, change INTEGER NOT NULL, data BLOB NOT NULL);
    CREATE INDEX vector_signs_by_change ON vector_signs (change);
    DROP INDEX vectors_by_change;
    ALTER TABLE vectors DROP COLUMN change;
    ALTER TABLE vectors ADD COLUMN mixed BLOB;
    INSERT OR IGNORE INTO vectors_due (rowid) SELECT rowid FROM vectors;
    DROP TABLE vector_pages;
    DELETE FROM meta WHERE key IN ('vector_pages', 'vector_save');
    UPDATE meta SET value=value||' mixed 0.6 0.3 25' WHERE key='vector_model';
  `)
}

/** Documents lie by age, so pages are filled, and one that is longer than a kilobyte takes no page of its own. */
function m013_documents_by_age(db: DatabaseSync): void {
  db.exec(`
    ALTER TABLE docs RENAME TO docs_by_id;
    CREATE TABLE docs (entity TEXT PRIMARY KEY, state BLOB NOT NULL);
    INSERT INTO docs SELECT * FROM docs_by_id;
    DROP TABLE docs_by_id;
  `)
}

/** Lines may be compressed. Those that are there wait for the upkeep: all at once would hold the lock for most of a migration. */
function m014_packed_lines(): void {}

function m015_changed_entities(db: DatabaseSync): void {
  db.exec(`
    -- What was touched more than once: as of a moment, all that may have been another then.
    CREATE INDEX entities_changed ON entities (updated, created, id, live) WHERE version>1;
  `)
}

/** No documents any more. What only they hold is taken over by `engine/replication/first-form.ts`. */
function m016_lines_alone(db: DatabaseSync): void {
  db.exec(`
    -- Lines that later ones name as the one before them, and that nobody here has seen. Nothing waits for them.
    CREATE TABLE gaps (replica TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (replica, seq)) WITHOUT ROWID;
    -- Lines that a compaction has folded away, in ranges: hash is of the last one, digest over the hashes of all (empty: made
    -- by 0.1.0, which kept none), from and to count their writes.
    CREATE TABLE covered_ranges (replica TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, hash TEXT NOT NULL,
      digest TEXT NOT NULL, ctr_from INTEGER NOT NULL, ctr_to INTEGER NOT NULL, PRIMARY KEY (replica, first)) WITHOUT ROWID;
    INSERT INTO covered_ranges SELECT replica, 1, seq, hash, '', 0, ctr FROM covered;
    DROP TABLE covered;
    ALTER TABLE covered_ranges RENAME TO covered;
    -- Lines of which somebody took something out, and no mark says yet that it was erased: what they overwrote still stands.
    CREATE TABLE unproven (replica TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (replica, seq)) WITHOUT ROWID;
    -- The key that lines of a replica are signed with.
    CREATE TABLE keys (replica TEXT PRIMARY KEY, key TEXT NOT NULL) WITHOUT ROWID;
    -- Lines that nobody sends again, and those that a person here has declined: these count nowhere.
    CREATE TABLE declined (replica TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, why TEXT NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (replica, seq, hash)) WITHOUT ROWID;
    -- How often, by replica, and when last the lines folded away touched an entity.
    CREATE TABLE folded (entity TEXT PRIMARY KEY, updated INTEGER NOT NULL, counts TEXT NOT NULL) WITHOUT ROWID;
    INSERT INTO folded SELECT entity, updated, counts FROM base;
    -- What comes is added at the end of its kind, so pages are filled.
    DROP INDEX entities_by_kind;
    CREATE INDEX entities_by_kind ON entities (kind, live, created, id DESC);
  `)
  const isEmpty = db.prepare('SELECT 1 FROM log LIMIT 1').get() === undefined
  const isFolded = db.prepare('SELECT 1 FROM base LIMIT 1').get() !== undefined
  // documents are compared once, and go then
  if (!isFolded) db.exec('DROP TABLE base')
  db.exec('DROP TABLE docs')
  if (!isEmpty || isFolded) db.exec("INSERT OR REPLACE INTO meta VALUES ('form_due', '1')")
}

function m017_surviving_events(db: DatabaseSync): void {
  db.exec(`
    -- Of entities that are written often: the events up to a row that still leave a cell, or name a write that has not come. An
    -- index: it goes where an event of the entity is taken away or changed.
    CREATE TABLE survivors (entity TEXT PRIMARY KEY, upto INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
    CREATE TRIGGER survivors_without_event AFTER DELETE ON events BEGIN
      DELETE FROM survivors WHERE entity=old.entity;
    END;
    CREATE TRIGGER survivors_of_changed_event AFTER UPDATE ON events BEGIN
      DELETE FROM survivors WHERE entity IN (old.entity, new.entity);
    END;
  `)
}

/** What others change of what somebody here stands by waits for a yes. What had come before counts as it did. */
function m018_held(db: DatabaseSync): void {
  const columns =
    'id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, name TEXT, name_key TEXT, live INTEGER, standing TEXT, retired INTEGER, created INTEGER, updated INTEGER, version INTEGER, body TEXT, conflicts TEXT'
  const all = 'rowid, id, kind, name, name_key, live, standing, retired, created, updated, version, body, conflicts'
  db.exec(`
    -- Of this store alone: entities that read otherwise here than their row, since lines of others wait for a yes. The row as it holds
    -- here (body null: it does not exist here), the ends of a link, the lines that wait, and whether somebody here vouches for it.
    -- frozen: what it is made of is gone. Rowids are above those of entities: both have texts.
    CREATE TABLE held (rowid INTEGER PRIMARY KEY, ${columns}, src TEXT, rel TEXT, dst TEXT,
      lines TEXT NOT NULL, vouched INTEGER NOT NULL, frozen INTEGER NOT NULL);
    CREATE INDEX held_by_kind ON held (kind, live, created, id DESC);
    CREATE INDEX held_by_name ON held (name_key);
    CREATE INDEX held_from ON held (src, rel) WHERE src IS NOT NULL;
    CREATE INDEX held_to ON held (dst, rel) WHERE src IS NOT NULL;
    CREATE VIEW entities_here AS SELECT ${all} FROM entities WHERE id NOT IN (SELECT id FROM held)
      UNION ALL SELECT ${all} FROM held WHERE body IS NOT NULL;
    CREATE VIEW links_here AS SELECT id, src, rel, dst FROM links WHERE id NOT IN (SELECT id FROM held)
      UNION ALL SELECT id, src, rel, dst FROM held WHERE src IS NOT NULL;
    -- By a digest of the entity, the first arrival by which somebody here stood by it and the last that agreed to what others said:
    -- of lines that have been folded away, or stand under another name.
    CREATE TABLE endorsed (entity TEXT PRIMARY KEY, first INTEGER NOT NULL, agreed INTEGER NOT NULL) WITHOUT ROWID;
    -- Erasures that somebody asks for who may not decide it: what a line says of an entity. parts: which writes, all when null.
    -- by: the line that asks.
    CREATE TABLE asked (replica TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, entity TEXT NOT NULL, by TEXT NOT NULL,
      parts TEXT, PRIMARY KEY (replica, seq, entity, by)) WITHOUT ROWID;
    CREATE INDEX asked_of_entity ON asked (entity);
    -- Whose lines say nothing of an erased entity any more, by a replica of theirs; '*': all.
    CREATE TABLE erasers (entity TEXT NOT NULL, author TEXT NOT NULL, PRIMARY KEY (entity, author)) WITHOUT ROWID;
    INSERT INTO erasers SELECT DISTINCT entity, '*' FROM purged WHERE entity LIKE '%:purged-%';
    INSERT OR REPLACE INTO meta SELECT 'held_from', seq FROM sqlite_sequence WHERE name='log';
  `)
}
