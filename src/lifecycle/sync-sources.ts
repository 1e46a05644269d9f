import { cleanTitle } from "../asset-names.ts";
import { IMPORTS } from "../config.ts";
import { AppError } from "../errors.ts";
import { ASSET_PREFIX, newId } from "../ids.ts";
import type { JobMessageOf } from "../messages.ts";
import {
  requireStorableCursor,
  toStorableListing,
  type Listing,
  type PlatformItem,
  type ImportRequest,
} from "../platforms/platform.ts";
import { platformByName, resolveRequest } from "../platforms/registry.ts";
import {
  pruneUnchanged,
  listUnstarted,
  type SourceSync,
  type ImportCandidate,
  importItems,
} from "../store/d1/imports.ts";
import { startJob } from "../store/d1/jobs.ts";
import { recordBytes, requireQuota } from "../store/d1/quotas.ts";
import {
  beginSync,
  getSource,
  listFollowedSources,
  updateSource,
  type SyncCursor,
} from "../store/d1/sources.ts";
import { indexObject } from "../store/index-object.ts";
import type { IndexRef } from "../types.ts";
import { SlicePaused } from "./slice.ts";

/**
 * Imports one page of a source's listing, from the job's cursor on. Safe to repeat: each item is
 * imported once, and the cursor moves after the items. Throws `SlicePaused` if there are more
 * pages, what the platform throws, `limit_reached` and `account_full` by the account's quota, and
 * `not_found` if the source was deleted.
 */
export async function syncPage(
  env: Env,
  job: JobMessageOf<"import">,
  onProgress: (share: number) => Promise<unknown>,
): Promise<object> {
  const source = await getSource<ImportRequest, Listing>(env.DB, job.sourceId);
  if (!source) throw new AppError("not_found", "The source was deleted.");
  const platform = platformByName(source.platform);
  const listing =
    source.listing ?? toStorableListing(await resolveRequest(env, platform, source.request));
  const cursor = source.syncCursor?.jobId === job.jobId ? source.syncCursor : START;
  const page = await platform.list(env, listing, cursor.pageCursor);
  requireStorableCursor(source.platform, page);
  const broken = page.broken.map((each) => ({ page: cursor.pages + 1, ...each }));
  const brokenEntries = [...(cursor.brokenEntries ?? []), ...broken].slice(0, MAX_BROKEN_ENTRIES);
  const { jobId, sourceId, trigger } = job;
  const { accountId, indexId, metadata } = source;
  const isRequested = trigger === "request";
  const ids = { jobId, accountId, indexId, sourceId, platform: listing.platform };
  const sync: SourceSync = { ...ids, metadata, restoresDeleted: isRequested, now: Date.now() };
  const items = page.items.slice(0, source.itemLimit - cursor.position);
  const candidates = items.map((item, i) =>
    toCandidate(sync, source.request, item, cursor.position + i),
  );
  // The records of candidates: imports, items, assets and ingests.
  const sizes = candidates.map((each) => recordBytes(each, each, metadata).record_bytes);
  await requireQuota(env.DB, accountId, {
    concurrent_ingests: 1,
    stored_bytes: 1,
    record_bytes: sizes.reduce((sum, size) => sum + size, 0),
  });
  await importItems(env.DB, sync, candidates);
  await startIngests(env, sync, false);
  const position = cursor.position + items.length;
  const pages = cursor.pages + 1;
  if (page.next && position < source.itemLimit && pages < IMPORTS.maxPages) {
    const next: SyncCursor = { jobId, pageCursor: page.next, position, pages, brokenEntries };
    await updateSource(env.DB, sourceId, { listing, syncCursor: next });
    await onProgress(position / source.itemLimit);
    throw new SlicePaused();
  }
  await startIngests(env, sync, isRequested);
  if (!isRequested) await pruneUnchanged(env.DB, jobId);
  await updateSource(env.DB, sourceId, { listing, syncCursor: null, syncedAt: Date.now() });
  const { title, url } = listing;
  return { source_id: sourceId, platform: ids.platform, title, url, broken_entries: brokenEntries };
}

const MAX_BROKEN_ENTRIES = 50;

const START: Omit<SyncCursor, "jobId"> = { pageCursor: null, position: 0, pages: 0 };

function toCandidate(
  { platform, now }: SourceSync,
  request: ImportRequest,
  item: PlatformItem,
  position: number,
): ImportCandidate {
  const { platformId, assetType, pageUrl: url, unavailable: error } = item;
  const asset = {
    assetId: newId(ASSET_PREFIX[assetType], now + position), // platform order
    jobId: newId("job", now),
    language: item.language,
    source: {
      kind: request.kind === "profile" ? ("photonet" as const) : ("videonet" as const),
      url,
      platform,
      platform_id: platformId,
      author: item.author,
      licence: item.licence,
      published_at: item.publishedAt,
      description: item.description,
      alt_text: item.altText,
    },
  };
  const title = cleanTitle(item.title) || platformId;
  return { platformId, position, title, url, assetType, item, asset: error ? null : asset, error };
}

async function startIngests(env: Env, { jobId, indexId }: SourceSync, restartFailed: boolean) {
  const object = indexObject(env, indexId);
  for (const asset of await listUnstarted(env.DB, jobId, restartFailed)) {
    await object.start(indexId, asset.assetId, asset.assetType, asset.jobId);
  }
}

/** Starts a sync of each followed source of an index, unless one runs. Returns their number. */
export async function syncFollowedSources(
  env: Env,
  { accountId, indexId }: Pick<IndexRef, "accountId" | "indexId">,
): Promise<number> {
  let syncCount = 0;
  for (const sourceId of await listFollowedSources(env.DB, indexId)) {
    const now = Date.now();
    const jobId = newId("job", now);
    if (!(await beginSync(env.DB, sourceId, jobId))) continue;
    const job = { kind: "import", jobId, accountId, indexId, sourceId } as const;
    await startJob(env, { ...job, trigger: "schedule" }, now, "none");
    syncCount++;
  }
  return syncCount;
}
