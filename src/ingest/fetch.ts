import { LIMITS } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import { download } from "../fetching/download.ts";
import { log } from "../log.ts";
import { HEAD_BYTES, requireKind } from "../media/kind.ts";
import type { Media, PlatformItem } from "../platforms/platform.ts";
import { platformByName } from "../platforms/platforms.ts";
import { getAssetByBytes, updateFacts } from "../store/assets.ts";
import { getImported, pointToTwin } from "../store/imports.ts";
import { indexObject } from "../store/index-object.ts";
import { Room } from "../store/limits.ts";
import { sourceKey } from "../store/media.ts";
import { type Stored, storeStream } from "../store/streams.ts";
import { getTranscript, putTranscript } from "../store/transcripts.ts";
import type { Asset, AssetType } from "../types.ts";
import { parseTranscript } from "./transcript-read.ts";

/** Brings the bytes of a URL, or of what a platform has, into storage; an upload's are there already. */
export async function fetchSource(env: Env, asset: Asset): Promise<void> {
  if (asset.source.kind === "upload") return;
  const { url, captions } = await whereItIs(env, asset);
  const chunks = download(url, env.FETCH_ALLOW, maxBytes(asset.assetType));
  const stored = await storeSource(env.MEDIA, asset, chunks);
  const twin = await getAssetByBytes(env.DB, asset.indexId, stored.sha256);
  if (twin && twin.assetId !== asset.assetId) {
    await env.MEDIA.delete(sourceKey(asset));
    if (asset.source.platform !== undefined) await giveWay(env, asset, twin);
    throw new AppError("duplicate_bytes", `The same bytes are in this index as ${twin.assetId}.`);
  }
  await takeSpace(env, asset, stored);
  if (asset.assetType === "video") await takeCaptions(env, asset, captions);
}

/**
 * Brings the same bytes from where they came from once more. Throws `source_missing` of an upload, and
 * `download_refused` where other bytes are there now.
 */
export async function fetchAgain(env: Env, asset: Asset): Promise<void> {
  if (asset.source.kind === "upload") {
    throw new AppError("source_missing", "It was an upload: delete it, and send it again.");
  }
  const { url } = await whereItIs(env, asset);
  const chunks = download(url, env.FETCH_ALLOW, maxBytes(asset.assetType));
  await storeSource(env.MEDIA, asset, chunks, asset.sha256);
}

/** A platform is asked just before, because what it says doesn't hold for long. */
async function whereItIs(env: Env, asset: Asset): Promise<Media> {
  const { platform, url } = asset.source;
  if (platform === undefined) return { url: url!, captions: [] };
  const item = await getImported<PlatformItem>(env.DB, asset.assetId);
  if (!item) throw new AppError("source_missing", "Where this came from is not known any more.");
  return platformByName(platform).media(env, item);
}

/** How large a file is shows when it has come. Throws `account_full`, and then it is gone again. */
async function takeSpace(env: Env, asset: Asset, stored: Stored): Promise<void> {
  try {
    const added = stored.sizeBytes - asset.sizeBytes; // of an earlier run, they are counted
    const room = new Room(asset.accountId, { stored_bytes: added });
    await updateFacts(env.DB, asset.assetId, stored, room);
  } catch (error) {
    await env.MEDIA.delete(sourceKey(asset));
    throw error;
  }
}

/** What came from a platform and is here already: the one that was here stands for it. */
async function giveWay(env: Env, asset: Asset, twin: Asset): Promise<void> {
  await pointToTwin(env.DB, asset.assetId, twin.assetId);
  await indexObject(env, asset.indexId).forget(asset.assetId);
}

/** A platform's captions, in the index's language if there are any; without them, the video is listened to. */
async function takeCaptions(env: Env, asset: Asset, all: Media["captions"]): Promise<void> {
  const isOurs = ({ language }: Media["captions"][number]) =>
    primary(language) === primary(asset.language);
  const captions = all.find(isOurs) ?? all[0];
  if (!captions || (await getTranscript(env.DB, asset.assetId))) return;
  try {
    const chunks = download(captions.url, env.FETCH_ALLOW, LIMITS.transcriptBytes);
    const bytes: Uint8Array[] = [];
    for await (const chunk of chunks) bytes.push(chunk);
    const { cues, language } = parseTranscript(Buffer.concat(bytes));
    await putTranscript(env, asset, cues, {
      language: language ?? captions.language,
      source: "platform",
      problem: null,
    });
  } catch (error) {
    log("warn", "ingest.without_captions", { asset: asset.assetId, cause: traceOf(error) });
  }
}

function primary(language: string | null): string | undefined {
  return language?.split("-")[0]!.toLowerCase();
}

/**
 * Streams the bytes of an asset into storage, refusing what isn't of its kind from the first bytes on, and in
 * the end what hasn't the hash `sha256`, where one is given.
 */
export function storeSource(
  bucket: R2Bucket,
  asset: Pick<Asset, "accountId" | "indexId" | "assetId" | "assetType">,
  chunks: AsyncIterable<Uint8Array>,
  sha256?: string | null,
): Promise<Stored> {
  return storeStream(bucket, sourceKey(asset), chunks, {
    sha256: sha256 ?? undefined,
    maxBytes: maxBytes(asset.assetType),
    headBytes: HEAD_BYTES,
    inspect: (head) => requireKind(head, asset.assetType),
  });
}

function maxBytes(assetType: AssetType): number {
  return assetType === "video" ? LIMITS.uploadBytes : LIMITS.imageBytes;
}
