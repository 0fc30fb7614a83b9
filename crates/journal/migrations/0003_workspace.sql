-- Several workspaces may share a store: the linked worktrees of a repository, and folders in it. Each run belongs to
-- one of them. Empty means the folder in which the store was made; `store.origin` says which one that is.
ALTER TABLE run ADD COLUMN workspace TEXT NOT NULL DEFAULT '';

-- Tells this store from every other one.
CREATE TABLE store(
    id     TEXT NOT NULL,
    origin TEXT NOT NULL
) STRICT;

INSERT INTO store(id, origin) VALUES(lower(hex(randomblob(16))), '.');
