-- The deletion of an index finds its imports without reading all jobs.
CREATE INDEX jobs_by_import ON jobs (index_id) WHERE kind = 'import';
