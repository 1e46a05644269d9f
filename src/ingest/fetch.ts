import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { download } from "../fetching/download.ts";
import { HEAD_BYTES, requireKind } from "../media/kind.ts";
import { getAssetByBytes, updateFacts } from "../store/assets.ts";
import { sourceKey } from "../store/media.ts";
import { type Stored, storeStream } from "../store/streams.ts";
import type { Asset, AssetType } from "../types.ts";

/** Brings the bytes of a URL into storage; an upload's are there already. */
export async function fetchSource(env: Env, asset: Asset): Promise<void> {
  if (asset.source.kind === "upload") return;
  const chunks = download(asset.source.url!, env.FETCH_ALLOW, maxBytes(asset.assetType));
  const stored = await storeSource(env.MEDIA, asset, chunks);
  const twin = await getAssetByBytes(env.DB, asset.indexId, stored.sha256);
  if (twin && twin.assetId !== asset.assetId) {
    await env.MEDIA.delete(sourceKey(asset));
    throw new AppError("duplicate_bytes", `The same bytes are in this index as ${twin.assetId}.`);
  }
  await updateFacts(env.DB, asset.assetId, stored);
}

/** Streams the bytes of an asset into storage, refusing what isn't of its kind from the first bytes on. */
export function storeSource(
  bucket: R2Bucket,
  asset: Pick<Asset, "accountId" | "indexId" | "assetId" | "assetType">,
  chunks: AsyncIterable<Uint8Array>,
): Promise<Stored> {
  return storeStream(bucket, sourceKey(asset), chunks, {
    maxBytes: maxBytes(asset.assetType),
    headBytes: HEAD_BYTES,
    inspect: (head) => requireKind(head, asset.assetType),
  });
}

function maxBytes(assetType: AssetType): number {
  return assetType === "video" ? LIMITS.uploadBytes : LIMITS.imageBytes;
}
