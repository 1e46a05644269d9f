import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/config.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";

const FOLDER = join(PROJECT, "migrations");

/** Most characters of a text, and the file and name of what holds it to them. */
type Bound = [characters: number, file: string, name: string];

const ID: Bound = [64, "src/ids.ts", "newId"];
const ENUM: Bound = [40, "src/types.ts", "const"];
const TITLE: Bound = [300, "src/asset-names.ts", "MAX_CHARACTERS"];
const METADATA: Bound = [LIMITS.metadataBytes, "src/user-metadata.ts", "metadataBytes"];
const FAILURE: Bound = [LIMITS.failureCharacters + 60, "src/errors.ts", "failureCharacters"];
const LANGUAGE: Bound = [LIMITS.languageCharacters, "src/language-tag.ts", "languageCharacters"];
const PLATFORM_ID: Bound = [LIMITS.urlCharacters, "src/platforms/platform.ts", "MAX"];
const ACCOUNT_NAME: Bound = [200, "src/routes/account.ts", "lineOfText(200)"];

/** The bound of each text in D1. Bytes that an account's rows take are limited besides. */
const BOUNDS: Record<string, Bound> = {
  "accounts.account_id": ID,
  "accounts.name": ACCOUNT_NAME,
  "accounts.email": [320, "src/routes/account.ts", "max(320)"],
  "accounts.limits": [1000, "scripts/key-limits.ts", "ACCOUNT_LIMIT_NAMES"],
  "api_keys.key_id": ID,
  "api_keys.account_id": ID,
  "api_keys.name": [200, "src/routes/account.ts", "lineOfText(200)"],
  "api_keys.scopes": [40, "src/routes/account.ts", "ACCOUNT_SCOPES.length"],
  "api_keys.kid": [8, "src/signed-token.ts", "kid"],
  "idempotency_keys.account_id": ID,
  "idempotency_keys.idempotency_key": [255, "src/http/idempotency.ts", "VALUE"],
  "idempotency_keys.fingerprint": [43, "src/http/idempotency.ts", "SHA-256"],
  "idempotency_keys.lease_owner": [36, "src/http/idempotency.ts", "randomUUID"],
  // Holds a record of what the request created, whose texts fitted in the account.
  "idempotency_keys.body": [2 * LIMITS.metadataBytes, "src/http/idempotency.ts", "storedBody"],
  "usage.account_id": ID,
  "usage.date": [10, "src/store/d1/usage.ts", "date('now')"],
  "indices.index_id": ID,
  "indices.account_id": ID,
  "indices.name": [64, "src/http/fields.ts", "{0,63}"],
  "indices.description": [2000, "src/routes/indices.ts", "linesOfText(2000)"],
  "indices.metadata": METADATA,
  "indices.settings": [LIMITS.urlCharacters + 200, "src/http/webhook-url.ts", "urlCharacters"],
  "indices.text_model": [100, "src/config.ts", "embedText"],
  "fill_history.resource": ENUM,
  "fill_history.date": [10, "migrations/0001_init.sql", "fill_history"], // of an earlier release
  "shards.index_id": ID,
  "watches.watch_id": ID,
  "watches.account_id": ID,
  "watches.index_id": ID,
  "watches.name": [200, "src/routes/watches.ts", "lineOfText(200)"],
  "watches.request": [2 * LIMITS.metadataBytes, "src/store/d1/watches.ts", "MAX_REQUEST_BYTES"],
  "watches.webhook_url": [LIMITS.urlCharacters, "src/http/webhook-url.ts", "urlCharacters"],
  "watches.image": [1_000_000, "src/routes/watches.ts", "MAX_IMAGE_CHARACTERS"],
  "watches.vectors": [30_000, "src/store/d1/watches.ts", "ROW_BYTES"], // of an earlier release
  "watches.nearest": [30_000, "src/store/d1/watches.ts", "ROW_BYTES"],
  "assets.asset_id": ID,
  "assets.index_id": ID,
  "assets.account_id": ID,
  "assets.asset_type": ENUM,
  "assets.title": TITLE,
  "assets.state": ENUM,
  "assets.error": FAILURE,
  "assets.warnings": [50 * FAILURE[0], "src/ingest/archive-line.ts", "warnings: 50"],
  // Comes from a platform or an archive.
  "assets.source": [100_000, "src/ingest/archive-line.ts", "text: 10_000"],
  "assets.content_type": [100, "src/ingest/archive-line.ts", "max(100)"],
  "assets.sha256": [64, "src/ingest/archive-line.ts", "{64}"],
  "assets.language": LANGUAGE,
  "assets.technical": [50_000, "src/ingest/archive-line.ts", "const technical"],
  "assets.waveform": [25_000, "src/parameters.ts", "peaks: 1000"],
  "assets.metadata": METADATA,
  "assets.job_id": ID,
  "assets.transcript_job_id": ID,
  "transcripts.asset_id": ID,
  "transcripts.language": LANGUAGE,
  "transcripts.source": ENUM,
  "transcripts.error": FAILURE,
  "tallies.account_id": ID,
  "tallies.index_id": ID,
  "tallies.asset_type": ENUM,
  "tallies.state": ENUM,
  "jobs.job_id": ID,
  "jobs.account_id": ID,
  "jobs.index_id": ID,
  "jobs.asset_id": ID,
  "jobs.kind": ENUM,
  "jobs.state": ENUM,
  // Grows with a search up to the room of the account. Others are reports with bounded lists.
  "jobs.result": [2_000_000, "src/store/d1/jobs.ts", "replaceCondition"],
  "jobs.error": FAILURE,
  "jobs.message": [LIMITS.messageBytes, "src/store/d1/jobs.ts", "messageBytes"],
  "sources.source_id": ID,
  "sources.account_id": ID,
  "sources.index_id": ID,
  "sources.platform": ENUM,
  "sources.request": [2100, "src/routes/imports.ts", "maxLength"],
  "sources.listing": [25_000, "src/platforms/platform.ts", "toStorableListing"],
  "sources.metadata": METADATA,
  // Comes from earlier versions.
  "sources.validators": [4000, "migrations/0001_init.sql", "validators"],
  "sources.sync_cursor": [25_000, "src/platforms/platform.ts", "cursor"],
  "sources.job_id": ID,
  "imports.index_id": ID,
  "imports.platform": ENUM,
  "imports.platform_id": PLATFORM_ID,
  "imports.source_id": ID,
  "imports.item": [50_000, "src/platforms/platform.ts", "toPlatformItem"],
  "imports.asset_id": ID,
  "job_items.job_id": ID,
  "job_items.platform_id": PLATFORM_ID,
  "job_items.title": TITLE,
  "job_items.url": [LIMITS.urlCharacters, "src/platforms/platform.ts", "pageUrl"],
  "job_items.asset_type": ENUM,
  "job_items.outcome": ENUM,
  "job_items.asset_id": ID,
  "job_items.error": FAILURE,
  "uploads.upload_id": ID,
  "uploads.account_id": ID,
  "uploads.index_id": ID,
  "uploads.title": TITLE,
  "uploads.folder": TITLE,
  "uploads.metadata": METADATA,
  "uploads.upload_metadata": [
    LIMITS.uploadMetadataCharacters,
    "src/http/tus.ts",
    "uploadMetadataCharacters",
  ],
  "uploads.token": [36, "src/routes/uploads.ts", "randomUUID"],
  "uploads.tail": [200, "src/store/d1/uploads.ts", "uploadPrefix"],
  "uploads.sha256_state": [300, "src/ingest/upload-writer.ts", "state"],
  "uploads.sha256": [64, "src/ingest/upload-writer.ts", "hex"],
  "uploads.asset_id": ID,
  "uploads.asset_type": ENUM,
  "uploads.content_type": [40, "src/media/media-type.ts", "contentType"],
  "uploads.storage_id": [1024, "src/store/d1/uploads.ts", "createMultipart"], // R2's
  "uploads.result_asset_id": ID,
  "object_bytes.owner": ID,
  "object_bytes.account_id": ID,
  "upload_parts.upload_id": ID,
  "upload_parts.etag": [64, "src/store/d1/uploads.ts", "R2UploadedPart"], // R2's
};

function listTextColumns(): string[] {
  const db = new DatabaseSync(":memory:");
  for (const name of readdirSync(FOLDER).toSorted()) {
    db.exec(readFileSync(join(FOLDER, name), "utf8"));
  }
  const columns = db.prepare(
    `SELECT tables.name || '.' || columns.name AS name
     FROM sqlite_schema AS tables JOIN pragma_table_xinfo(tables.name) AS columns
     WHERE tables.type = 'table' AND columns.type = 'TEXT'`,
  );
  return columns.all().map(({ name }) => name as string);
}

describe("every text in D1 has a bound:", () => {
  it("the list has each column of the migrations", () => {
    expect(Object.keys(BOUNDS).toSorted()).toEqual(listTextColumns().toSorted());
  });

  it.each(Object.entries(BOUNDS))("%s", (_, [characters, file, name]) => {
    expect(characters).toBeGreaterThan(0);
    expect(readFileSync(join(PROJECT, file), "utf8")).toContain(name);
  });
});
