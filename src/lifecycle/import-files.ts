import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { INGEST, LIMITS } from "../config.ts";
import { storyboardOf, workingCopyOf } from "../derived-media.ts";
import { AppError } from "../errors.ts";
import { download } from "../fetching/download.ts";
import type { ArchiveRecord, AssetLine } from "../ingest/archive-line.ts";
import { storeWorkingCopy } from "../ingest/conversion.ts";
import { storeSource } from "../ingest/steps/fetch.ts";
import { windowRange } from "../ingest/windows.ts";
import { probeMedia } from "../media/container/open-container.ts";
import { openFile } from "../media/container/r2-file.ts";
import { requireComplete } from "../media/container/timeline.ts";
import { readImageSize } from "../media/pixels/image-size.ts";
import { requireSmallJpeg } from "../media/pixels/jpeg.ts";
import { updateProperties } from "../store/d1/assets.ts";
import { parseFrameSignatures } from "../store/r2/frame-signatures.ts";
import {
  assetPrefix,
  headObject,
  listObjects,
  putObject,
  sourceKey,
  workingCopyKey,
} from "../store/r2/object-keys.ts";
import { parseReferenceFrames } from "../store/r2/reference-frames.ts";
import type { Asset } from "../types.ts";
import { type Checkpoint, inBatches } from "./slice.ts";

export const hasSource = (files: AssetLine["files"]) => files.some(({ path }) => path === "source");

/**
 * Fetches the files that aren't stored yet, and checks them. Throws `download_refused` for those
 * that aren't what the record describes, and what `download`, `storeSource`, `probeMedia` and
 * `requireSmallJpeg` throw.
 */
export async function importFiles(
  { env, checkpoint }: { env: Env; checkpoint: Checkpoint },
  asset: Asset,
  { record, files }: AssetLine,
): Promise<void> {
  const prefix = assetPrefix(asset);
  const copy = workingCopyOf(record);
  const stored = new Set((await listObjects(env.MEDIA, prefix)).map(({ key }) => key));
  const missing = files.filter(({ path }) => !stored.has(prefix + path));
  await inBatches(missing, CONNECTIONS, checkpoint, async (batch) => {
    await mapConcurrent(batch, CONNECTIONS, async ({ path, url }) => {
      const fetchFile = (maxBytes: number) => download(url, env.FETCH_ALLOW, maxBytes);
      if (path === "source") {
        await storeSource(env.MEDIA, asset, fetchFile(record.size_bytes), record.sha256);
      } else if (path === "working-copy") {
        const converted = { ...asset, technical: record.technical };
        await storeWorkingCopy(env.MEDIA, converted, fetchFile(copy!.bytes));
      } else {
        const chunks: Uint8Array[] = [];
        for await (const chunk of fetchFile(LIMITS.archiveFileBytes)) chunks.push(chunk);
        const bytes = Uint8Array.from(Buffer.concat(chunks));
        if (!isArchivedFile(record, path, bytes)) {
          throw refused(`The file ${path} isn't what its name says; export the index again.`);
        }
        const type = path.endsWith(".jpg") ? "image/jpeg" : "application/octet-stream";
        await putObject(env.MEDIA, prefix + path, bytes, type);
      }
    });
  });
  if (copy && files.some(({ path }) => path === "source" || path === "working-copy")) {
    await requireSize(env, workingCopyKey(asset), copy.bytes);
    const { video, audioCodec } = await requireLength(env, workingCopyKey(asset), record);
    await requireComplete(await openFile(env.MEDIA, workingCopyKey(asset)));
    const isCopy = (video?.codec ?? null) === copy.video_codec && audioCodec === copy.audio_codec;
    if (!isCopy) throw refused("The working copy has another codec than its record.");
  }
  if (!hasSource(files)) return;
  const contentType = await requireSize(env, sourceKey(asset), record.size_bytes);
  if (asset.assetType === "video" && !copy) await requireLength(env, sourceKey(asset), record);
  await updateProperties(env.DB, asset.assetId, { contentType });
}

/** Returns the type of a stored file, which must have this size. */
async function requireSize({ MEDIA }: Env, key: string, bytes: number): Promise<string> {
  const { size, httpMetadata } = (await headObject(MEDIA, key)) ?? {};
  if (size !== bytes) throw refused("The file has another size than its record.");
  return httpMetadata?.contentType ?? "application/octet-stream";
}

const LENGTH_TOLERANCE_MS = 1000;

/** Returns the properties of a stored file, which must be as long as its record says. */
async function requireLength({ MEDIA }: Env, key: string, { duration_ms }: ArchiveRecord) {
  const info = await probeMedia(MEDIA, key);
  if (Math.abs(1000 * info.durationSeconds - duration_ms) <= LENGTH_TOLERANCE_MS) return info;
  throw refused("The file has another length than its record.");
}

function refused(message: string): AppError {
  return new AppError("download_refused", message);
}

/**
 * Whether bytes are what an ingest stores under the path of a small file. Throws `unreadable_image`
 * for what isn't a JPEG, and `too_large`.
 */
function isArchivedFile(record: ArchiveRecord, path: string, bytes: Uint8Array<ArrayBuffer>) {
  const [, folder, window] = /^([a-z-]+)\D*(\d*)/.exec(path)!;
  if (folder === "frame-signatures") return areSignatures(record, bytes);
  if (folder === "reference-frames") return areReferenceFrames(record, Number(window), bytes);
  requireSmallJpeg(bytes);
  const { width, height } = readImageSize(bytes)!;
  if (folder === "storyboard") {
    const { tiles, columns, tile_width, tile_height } = storyboardOf(record)!;
    return width === columns * tile_width && height === Math.ceil(tiles / columns) * tile_height;
  }
  if (width <= INGEST.keyframeWidth) return true;
  const message = `A keyframe is ${width} pixels wide, more than ${INGEST.keyframeWidth}.`;
  throw new AppError("too_large", message);
}

function areSignatures({ segments }: ArchiveRecord, bytes: Uint8Array): boolean {
  const signatures = parseFrameSignatures(new TextDecoder().decode(bytes));
  const isValid = signatures?.every(({ position, ms }) => {
    const segment = segments[position];
    return segment !== undefined && ms >= segment.start_ms! && ms < segment.end_ms!;
  });
  return isValid ?? false;
}

function areReferenceFrames(
  { duration_ms: durationMs }: ArchiveRecord,
  window: number,
  bytes: Uint8Array<ArrayBuffer>,
): boolean {
  const { endMs } = windowRange({ durationMs }, window);
  const times = parseReferenceFrames(bytes.slice().buffer)?.times ?? [];
  const isOrdered = times.every((ms, i) => ms <= endMs && ms >= (times[i - 1] ?? 0));
  return times.length > 0 && isOrdered;
}
