import { IMPORTS } from "../config.ts";
import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { JobMessage } from "../queues/messages.ts";
import type { Listing, PlatformItem, Wanted } from "../platforms/platform.ts";
import { platformByName } from "../platforms/platforms.ts";
import {
  forgetPresent,
  listUnmet,
  listUnstarted,
  type Look,
  markRemoved,
  type Offer,
  takeOffers,
} from "../store/imports.ts";
import { indexObject } from "../store/index-object.ts";
import { startJob } from "../store/jobs.ts";
import { requireRoom } from "../store/limits.ts";
import {
  beginLook,
  getSource,
  listFollowed,
  type SourceRow,
  updateSource,
  type Walk,
} from "../store/sources.ts";

type Source = SourceRow<Wanted, Listing>;

/** `share` is how much of the listing, up to the limit, has been gone through. */
export type Looked = { isWhole: true; result: object } | { isWhole: false; share: number };

/**
 * Goes through one page of a source's listing, from where the job's last look at it ended, and takes what it
 * finds into the index. Throws what the platform throws, `limit_reached` and `account_full` where the account has
 * no room for what was found, and `not_found` where the source is followed no more.
 */
export async function lookAtPage(env: Env, job: JobMessage): Promise<Looked> {
  const source = await getSource<Wanted, Listing>(env.DB, job.sourceId!);
  if (!source) throw new AppError("not_found", "The source was deleted.");
  const platform = platformByName(source.platform);
  const listing = source.listing ?? (await platform.resolve(env, source.wanted));
  const walk = source.walk?.jobId === job.jobId ? source.walk : START;
  const validators = walk.at === null ? source.validators : null;
  const page = await platform.list(env, listing, walk.at, validators);
  const { sourceId } = source;
  const result = { source_id: sourceId, platform: listing.platform, ...shown(listing) };
  if (page.unchanged) {
    await updateSource(env.DB, sourceId, { walk: null, lookedAt: Date.now() });
    return { isWhole: true, result: { ...result, unchanged: true } };
  }
  const look = lookOf(source, listing, job);
  const items = page.items.slice(0, source.itemLimit - walk.position);
  const offers = items.map((item, i) => toOffer(look, source.wanted, item, walk.position + i));
  const room = { concurrent_ingests: 1, stored_bytes: 1 };
  await requireRoom(env.DB, source.accountId, room);
  await takeOffers(env.DB, look, offers);
  await startAll(env, look, false);
  const position = walk.position + items.length;
  const pages = walk.pages + 1;
  const first = walk.at === null ? page.validators : walk.validators;
  if (page.next && position < source.itemLimit && pages < IMPORTS.pages) {
    const next: Walk = { jobId: job.jobId, at: page.next, position, pages, validators: first };
    await updateSource(env.DB, sourceId, { listing, walk: next });
    return { isWhole: false, share: position / source.itemLimit };
  }
  if (!page.next) await findRemoved(env, source, look);
  await startAll(env, look, look.bringsBack);
  if (!look.bringsBack) await forgetPresent(env.DB, job.jobId);
  const end = { listing, walk: null, validators: first, lookedAt: Date.now() };
  await updateSource(env.DB, sourceId, end);
  return { isWhole: true, result };
}

const START: Omit<Walk, "jobId"> = { at: null, position: 0, pages: 0, validators: null };

function shown({ title, url }: Listing) {
  return { title, url };
}

function lookOf(source: Source, { platform }: Listing, job: JobMessage): Look {
  const { accountId, indexId, sourceId, metadata } = source;
  const { jobId, again = false } = job;
  const owner = { jobId, accountId, indexId, sourceId };
  return { ...owner, platform, metadata, bringsBack: !again, now: Date.now() };
}

function toOffer(
  { platform, now }: Look,
  wanted: Wanted,
  item: PlatformItem,
  position: number,
): Offer {
  const { platformId, assetType, pageUrl: url, refused: error } = item;
  const asset = {
    assetId: newId(assetType === "video" ? "vid" : "img", now + position), // as the platform orders them
    jobId: newId("job", now),
    language: item.language,
    source: {
      kind: wanted.kind === "profile" ? ("photonet" as const) : ("videonet" as const),
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
  const title = (item.title || platformId).slice(0, 300).toWellFormed();
  return { platformId, position, title, url, assetType, item, asset: error ? null : asset, error };
}

/** Starts what a look has added; `failed`: also what it found failed. */
async function startAll(env: Env, { jobId, indexId }: Look, failed: boolean): Promise<void> {
  const object = indexObject(env, indexId);
  for (const asset of await listUnstarted(env.DB, jobId, failed)) {
    await object.start(indexId, asset.assetId, asset.assetType, asset.jobId);
  }
}

/** Asks after what came from a source that its listing has no more; what is gone is noted, and stays here. */
async function findRemoved(env: Env, source: Source, look: Look): Promise<void> {
  const platform = platformByName(source.platform);
  const unmet = await listUnmet<PlatformItem>(env.DB, source.sourceId, look.jobId, IMPORTS.unmet);
  for (const item of unmet) {
    try {
      await platform.media(env, item);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "original_removed") await markRemoved(env.DB, look, item.platformId);
    }
  }
}

/** Starts a look at each source of the index that is followed; how many. */
export async function lookAtSources(
  env: Env,
  { accountId, indexId }: Pick<Source, "accountId" | "indexId">,
): Promise<number> {
  let looks = 0;
  for (const sourceId of await listFollowed(env.DB, indexId)) {
    const now = Date.now();
    const jobId = newId("job", now);
    if (!(await beginLook(env.DB, sourceId, jobId))) continue;
    const job: JobMessage = { kind: "import", jobId, accountId, indexId, sourceId, again: true };
    await startJob(env, job, now);
    looks++;
  }
  return looks;
}
