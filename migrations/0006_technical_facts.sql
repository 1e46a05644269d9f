-- What a search reads of an asset has its technical facts, too: when, where and by what it was taken.
DROP TRIGGER assets_facts;
CREATE TRIGGER assets_facts AFTER UPDATE OF searchable, title, metadata, technical, duration_ms, deleted_at ON assets WHEN (new.searchable OR old.searchable OR new.deleted_at IS NOT NULL) AND (new.searchable, new.title, new.metadata, new.technical, new.duration_ms, new.deleted_at) IS NOT (old.searchable, old.title, old.metadata, old.technical, old.duration_ms, old.deleted_at) BEGIN UPDATE assets SET facts_revision = facts_revision + 1 WHERE asset_id = new.asset_id; END;

-- The sweep copies those of the assets that are searchable already.
UPDATE assets SET facts_revision = facts_revision + 1 WHERE facts_revision > 0 AND technical <> '{}';
