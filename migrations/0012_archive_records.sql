-- Assets have no archive record in R2 any more. The release before still runs on this schema, so the
-- trigger assets_content and the columns content_revision and archived_revision go later.
DROP INDEX assets_unarchived;
