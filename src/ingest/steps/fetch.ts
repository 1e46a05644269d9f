import { cleanTitle, titleFromUrl } from "../../asset-names.ts";
import { LIMITS } from "../../config.ts";
import { workingCopyOf } from "../../derived-media.ts";
import { AppError, failureOf, traceOf } from "../../errors.ts";
import { dispositionFilename, download } from "../../fetching/download.ts";
import { log } from "../../log.ts";
import { probeMedia } from "../../media/container/open-container.ts";
import { HEAD_BYTES, requireMediaType } from "../../media/media-type.ts";
import { SHOTS } from "../../parameters.ts";
import type { Media, PlatformItem } from "../../platforms/platform.ts";
import { platformByName } from "../../platforms/registry.ts";
import { getAsset, getAssetByBytes, updateProperties } from "../../store/d1/assets.ts";
import { getImported, linkToDuplicate } from "../../store/d1/imports.ts";
import { QuotaGuard } from "../../store/d1/quotas.ts";
import { indexObject } from "../../store/index-object.ts";
import { deleteObjectKeys, sourceKey } from "../../store/r2/object-keys.ts";
import { type StoredStream, storeStream } from "../../store/r2/streams.ts";
import { getTranscript, putTranscript } from "../../store/transcripts.ts";
import type { Asset, AssetType } from "../../types.ts";
import { duplicateWarnings } from "../duplicate.ts";
import { parseTranscript } from "../transcript/parse.ts";

/**
 * Downloads the file of a URL or of a platform's item into storage. An upload is stored already. If
 * another asset of the index has the same bytes, deletes this one, whose job then names that asset,
 * and throws `duplicate_bytes`.
 */
export async function fetchSource(env: Env, asset: Asset): Promise<void> {
  if (asset.source.kind === "upload") return;
  const { url, captions } = await locateMedia(env, asset);
  let filename: string | null = null;
  const chunks = download(url, env.FETCH_ALLOW, maxBytes(asset.assetType), {
    onHeaders: (headers) => {
      filename = dispositionFilename(headers.get("content-disposition"));
    },
  });
  const stored = await storeSource(env.MEDIA, asset, chunks);
  try {
    const facts = { ...stored, ...(await renamed(env, asset, filename)) };
    await orDeleteFile(env, asset, async () => {
      const addedBytes = stored.sizeBytes - asset.sizeBytes; // an earlier run has counted its own
      const quota = new QuotaGuard(asset.accountId, { stored_bytes: addedBytes });
      const storedBytes = stored.sizeBytes;
      await updateProperties(env.DB, asset.assetId, facts, { quota, storedBytes });
    });
  } catch (error) {
    if (failureOf(error).code === "duplicate_bytes") {
      await yieldToDuplicate(env, asset, stored.sha256);
    }
    throw error;
  }
  if (asset.assetType === "video") await fetchCaptions(env, asset, captions);
}

/**
 * Returns the title of an asset by the name that its server gives the file; none if the asset has
 * a title of its own, which isn't that of its URL.
 */
async function renamed(env: Env, { assetId, source }: Asset, filename: string | null) {
  const title = cleanTitle(filename ?? "");
  if (title === "") return {};
  const present = await getAsset(env.DB, assetId); // the user may have changed the title
  const untitled = [source.url && titleFromUrl(source.url), source.platform_id, assetId];
  return present && untitled.includes(present.title) ? { title } : {};
}

/**
 * Downloads the same bytes from the asset's origin again. Throws `source_missing` for an upload,
 * and `download_refused` if the origin has other bytes now. The first file of an asset that was
 * imported without it counts as an ingest: then throws `account_full` and `limit_reached`, too,
 * after deleting it.
 */
export async function refetchSourceFile(env: Env, asset: Asset): Promise<void> {
  if (asset.source.kind === "upload") {
    throw new AppError("source_missing", "It was an upload: delete it, and send it again.");
  }
  const { url } = await locateMedia(env, asset);
  const chunks = download(url, env.FETCH_ALLOW, maxBytes(asset.assetType));
  const { sizeBytes } = await storeSource(env.MEDIA, asset, chunks, asset.sha256);
  const warnings = asset.warnings.filter(({ code }) => code !== "source_missing");
  await orDeleteFile(env, asset, async () => {
    const uncountedMs = asset.sizeBytes === 0 ? await measureUncounted(env, asset) : 0;
    const quota = new QuotaGuard(asset.accountId, {
      stored_bytes: sizeBytes - asset.sizeBytes,
      ingest_minutes_per_day: uncountedMs / 60_000,
    });
    const added = { quota, uncountedMs, storedBytes: sizeBytes };
    await updateProperties(env.DB, asset.assetId, { sizeBytes, warnings }, added);
  });
}

/** Deletes the file of an asset if it can't be recorded. */
async function orDeleteFile(env: Env, asset: Asset, record: () => Promise<void>): Promise<void> {
  try {
    await record();
  } catch (error) {
    await deleteObjectKeys(env.MEDIA, [sourceKey(asset)]);
    throw error;
  }
}

/**
 * Returns by how many ms the stored file of an imported video is longer than what was counted when
 * its record was imported.
 */
async function measureUncounted(env: Env, asset: Asset): Promise<number> {
  if (asset.assetType === "image") return 0;
  if (workingCopyOf(asset)) return 0; // its length was measured
  const { durationSeconds } = await probeMedia(env.MEDIA, sourceKey(asset));
  return Math.max(0, durationSeconds * 1000 - countedMs(asset.durationMs, asset.segments));
}

/**
 * Length of a video as its import counts it. No shot is shorter than `SHOTS.minShotSeconds`,
 * whatever the record of another deployment says.
 */
export function countedMs(durationMs: number, segments: number): number {
  return Math.max(durationMs, segments * SHOTS.minShotSeconds * 1000);
}

/** Returns the URLs of an asset's file and captions. A platform's URLs expire soon: ask at use. */
async function locateMedia(env: Env, asset: Asset): Promise<Media> {
  const { platform, url } = asset.source;
  if (platform === undefined) return { url: url!, captions: [] };
  const item = await getImported<PlatformItem>(env.DB, asset.assetId);
  if (!item) throw new AppError("source_missing", "Where this came from is not known any more.");
  return platformByName(platform).media(env, item);
}

/**
 * Ends an asset's job and import with the asset that has the same bytes, and deletes its state, so
 * that its rows are purged once the step has ended.
 */
async function yieldToDuplicate(env: Env, asset: Asset, sha256: string): Promise<void> {
  const duplicate = await getAssetByBytes(env.DB, asset.indexId, sha256);
  if (!duplicate) return; // deleted since: the step is retried
  const companions = {
    metadata: asset.metadata,
    hasTranscript: (await getTranscript(env.DB, asset.assetId)) !== null,
  };
  await linkToDuplicate(env.DB, asset, duplicate, duplicateWarnings(duplicate, companions));
  await indexObject(env, asset.indexId).deleteAsset(asset.assetId);
}

/**
 * Stores a platform's captions as the transcript, if they are in the language of the speech. Errors
 * are logged: the video's speech is then recognised.
 */
async function fetchCaptions(env: Env, asset: Asset, all: Media["captions"]): Promise<void> {
  const captions = selectCaptions(all, asset.language);
  if (!captions || (await getTranscript(env.DB, asset.assetId))) return;
  try {
    const chunks = download(captions.url, env.FETCH_ALLOW, LIMITS.transcriptBytes);
    const bytes: Uint8Array[] = [];
    for await (const chunk of chunks) bytes.push(chunk);
    const { pathname } = new URL(captions.url);
    const parsed = parseTranscript(Buffer.concat(bytes), undefined, pathname);
    const { cues, language, warnings, isFrameBased } = parsed;
    const summary = { source: "platform", error: null } as const;
    await putTranscript(
      env,
      asset,
      cues,
      { ...summary, language: language ?? captions.language },
      isFrameBased,
    );
    if (warnings.length > 0) await updateProperties(env.DB, asset.assetId, { warnings });
  } catch (error) {
    log("warn", "ingest.captions_unavailable", { asset: asset.assetId, cause: traceOf(error) });
  }
}

/**
 * Selects captions in the language of the speech, else some without one. If the language of the
 * speech isn't known, it is that of all captions, or there are none to take.
 */
export function selectCaptions(all: Media["captions"], spoken: string | null) {
  const primarySubtag = (language: string | null) => language?.split("-")[0]!.toLowerCase();
  const languages = new Set(all.map(({ language }) => primarySubtag(language)));
  const known = primarySubtag(spoken) ?? (languages.size === 1 ? [...languages][0] : undefined);
  const inLanguage = all.find(({ language }) => primarySubtag(language) === known);
  return inLanguage ?? all.find(({ language }) => language === null);
}

/**
 * Streams the file of an asset into storage. Throws if the first bytes aren't of the asset's type,
 * and `download_refused` if the whole doesn't have the given SHA-256.
 */
export function storeSource(
  bucket: R2Bucket,
  asset: Pick<Asset, "accountId" | "indexId" | "assetId" | "assetType">,
  chunks: AsyncIterable<Uint8Array>,
  sha256?: string | null,
): Promise<StoredStream> {
  return storeStream(bucket, sourceKey(asset), chunks, {
    sha256: sha256 ?? undefined,
    maxBytes: maxBytes(asset.assetType),
    headBytes: HEAD_BYTES,
    inspect: (head) => requireMediaType(head, asset.assetType),
  });
}

function maxBytes(assetType: AssetType): number {
  return assetType === "video" ? LIMITS.uploadBytes : LIMITS.imageBytes;
}
