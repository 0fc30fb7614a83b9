-- Everything that happened in a run, in order. Rows are added and never changed; only a body may be erased.
-- The id is made of the run's id and the position in it, so that a run's entries stand together and an append
-- writes to the end of them. Large bodies spill over to pages of their own, hence the body comes last.
CREATE TABLE entry(
    id        INTEGER PRIMARY KEY, -- run << 32 | seq
    kind      INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    request   BLOB,                -- NULL stands for the zero hash
    hash      BLOB    NOT NULL,    -- covers the hash before it and this row, the body by its hash
    body_hash BLOB    NOT NULL,
    body      BLOB                 -- NULL once erased
) STRICT;

CREATE TRIGGER entry_is_kept BEFORE DELETE ON entry BEGIN
    SELECT RAISE(ABORT, 'entries are append-only');
END;

CREATE TRIGGER entry_is_fixed BEFORE UPDATE ON entry
WHEN new.body IS NOT NULL
    OR new.id IS NOT old.id OR new.kind IS NOT old.kind OR new.at IS NOT old.at OR new.key IS NOT old.key
    OR new.request IS NOT old.request OR new.hash IS NOT old.hash OR new.body_hash IS NOT old.body_hash
BEGIN
    SELECT RAISE(ABORT, 'entries are append-only');
END;

-- Where each run stands. `seal` is a checksum of the columns that change, and `ledger.identity` covers those
-- that do not.
CREATE TABLE run(
    id           INTEGER PRIMARY KEY,
    name         TEXT    NOT NULL UNIQUE,
    flow         TEXT    NOT NULL,
    flow_version INTEGER NOT NULL,
    title        TEXT    NOT NULL,
    subject      TEXT    NOT NULL,
    started      INTEGER NOT NULL,
    status       INTEGER NOT NULL,
    waiting_for  TEXT    NOT NULL,
    updated      INTEGER NOT NULL,
    entries      INTEGER NOT NULL, -- how many there were when any of these columns last changed
    head         BLOB    NOT NULL, -- and the hash of the last of them
    token        INTEGER NOT NULL, -- of the latest lease; an append with an older one is refused
    holder       TEXT,             -- who has the lease, as JSON
    seal         BLOB    NOT NULL
) STRICT;

CREATE INDEX run_unfinished ON run(flow, subject) WHERE subject <> '' AND status < 3;

-- One chain over the beginnings and endings of all runs: a run that was deleted leaves a gap here.
CREATE TABLE ledger(
    n        INTEGER PRIMARY KEY,
    run      TEXT    NOT NULL,
    what     INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    entries  INTEGER NOT NULL,
    head     BLOB    NOT NULL,
    identity BLOB    NOT NULL,
    hash     BLOB    NOT NULL
) STRICT;

CREATE TRIGGER ledger_is_kept BEFORE DELETE ON ledger BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TRIGGER ledger_is_fixed BEFORE UPDATE ON ledger BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

-- What waits for somebody outside. Closed calls stay, so that their ids are never used again.
CREATE TABLE call(
    kind    INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    run     INTEGER NOT NULL,
    key     TEXT    NOT NULL,
    digest  BLOB    NOT NULL,
    body    BLOB,             -- NULL once closed
    since   INTEGER NOT NULL,
    closed  INTEGER,          -- when it was closed
    outcome INTEGER,          -- the entry that closed it
    seal    BLOB    NOT NULL,
    PRIMARY KEY(kind, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX call_open ON call(run, key) WHERE closed IS NULL;

-- What a process that does not hold a run wants its holder to know.
CREATE TABLE signal(
    id       INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL,
    kind     INTEGER NOT NULL,
    call     TEXT,
    body     BLOB,
    by       TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    digest   BLOB    NOT NULL,
    consumed INTEGER NOT NULL,
    seal     BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX signal_call ON signal(call) WHERE call IS NOT NULL;
CREATE INDEX signal_pending ON signal(run) WHERE consumed = 0;

-- The hash of each file that was last written for a run, to notice foreign edits.
CREATE TABLE projection(
    run  INTEGER NOT NULL,
    path TEXT    NOT NULL,
    hash BLOB    NOT NULL,
    seal BLOB    NOT NULL,
    PRIMARY KEY(run, path)
) STRICT, WITHOUT ROWID;

-- For people who look into the file with other tools.
CREATE VIEW history AS
    SELECT run.name AS run, entry.id & 0xffffffff AS seq, entry.kind, entry.at, entry.key,
        lower(hex(entry.hash)) AS hash, lower(hex(entry.body_hash)) AS body_hash, entry.body
    FROM entry LEFT JOIN run ON run.id = entry.id >> 32;
