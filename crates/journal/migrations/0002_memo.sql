-- What was folded from the entries of a book, so that a process that lives for a moment need not read them all.
CREATE TABLE memo(
    run   INTEGER NOT NULL,
    key   TEXT    NOT NULL,
    value BLOB    NOT NULL,
    seal  BLOB    NOT NULL,
    PRIMARY KEY(run, key)
) STRICT, WITHOUT ROWID;
