import { purgeAsset } from "../care/purge.ts";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/address.ts";
import { newId } from "../ids.ts";
import { storeSource } from "../ingest/fetch.ts";
import { getAssetByBytes, insertAsset } from "../store/assets.ts";
import { requireRoom } from "../store/limits.ts";
import { assetPrefix, deletePrefix } from "../store/media.ts";
import { putTranscript } from "../store/transcripts.ts";
import type { Asset, AssetType, JsonObject, MediaIndexRow } from "../types.ts";
import { type FormFile, readForm, readSmall, missingFile } from "./form.ts";
import { jsonObject } from "./index-record.ts";
import { readTranscript } from "./transcript-part.ts";
import { check, parseJson } from "./validation.ts";

interface Upload {
  file?: { title: string; sizeBytes: number; sha256: string; contentType: string };
  transcript?: Uint8Array;
  metadataText?: string;
}

/**
 * Adds a video or an image to an index from a file in the body, streamed to storage as it arrives, or
 * from a URL, and starts its ingest. Bytes that the index has already give the asset that has them. Throws
 * `limit_reached` and `account_full` as `requireRoom` does, before anything is read where that can be known.
 */
export async function addAsset(
  env: Env,
  request: Request,
  index: MediaIndexRow,
  assetType: AssetType,
  url: string | undefined,
): Promise<{ asset: Asset; duplicate: boolean }> {
  const now = Date.now();
  const identity = {
    assetId: newId(assetType === "video" ? "vid" : "img", now),
    indexId: index.indexId,
    accountId: index.accountId,
    assetType,
  };
  await requireRoom(env.DB, index.accountId, {
    concurrent_ingests: 1,
    stored_bytes: Number(request.headers.get("content-length") ?? 1),
    ...(assetType === "video"
      ? { ingest_minutes_per_day: A_SECOND }
      : { ingest_images_per_day: 1 }),
  });
  try {
    const upload = await readUpload(env, request, identity, url);
    const { metadata, transcript } = await understand(upload, assetType, url);
    if (upload.file) {
      await requireRoom(env.DB, index.accountId, { stored_bytes: upload.file.sizeBytes });
    }
    if (url !== undefined) requireUrl(url, assetType, env.FETCH_ALLOW);
    const asset = newAsset(identity, index, upload.file, url, metadata, now);
    if (!(await insertAsset(env.DB, asset))) {
      await deletePrefix(env.MEDIA, assetPrefix(identity));
      const twin = await getAssetByBytes(env.DB, index.indexId, asset.sha256!);
      return { asset: twin!, duplicate: true };
    }
    if (transcript) {
      const language = transcript.language ?? asset.language;
      const summary = { source: "upload", language, problem: null } as const;
      await putTranscript(env, asset, transcript.cues, summary);
    }
    const object = env.MEDIA_INDEX.getByName(index.indexId);
    const started = await object.start(index.indexId, asset.assetId, assetType, asset.jobId);
    if (started === "closed") {
      throw new AppError("not_found", `There is no index named "${index.name}".`);
    }
    return { asset, duplicate: false };
  } catch (error) {
    await purgeAsset(env, identity, identity.assetId);
    throw error;
  }
}

/** In minutes: how long a video is shows when it has been read. */
const A_SECOND = 1 / 60;

type Identity = Pick<Asset, "assetId" | "indexId" | "accountId" | "assetType">;

/** Takes the body apart. Throws as `readForm` and `storeSource` do. */
async function readUpload(
  env: Env,
  request: Request,
  identity: Identity,
  url: string | undefined,
): Promise<Upload> {
  const upload: Upload = {};
  const hasBody = request.body !== null && request.headers.get("content-length") !== "0";
  if (!hasBody) return upload;
  const fileField = `${identity.assetType}_file`;
  const fields = await readForm(request, async (part: FormFile) => {
    if (part.field === fileField) {
      if (url !== undefined || upload.file) throw oneOf(identity.assetType, "not both, nor two");
      const stored = await storeSource(env.MEDIA, identity, part.chunks);
      upload.file = { title: part.filename || identity.assetId, ...stored };
    } else if (part.field === "transcript") {
      upload.transcript = await readSmall(part, LIMITS.transcriptBytes);
    } else if (part.field === "metadata_str") {
      upload.metadataText = Buffer.from(await readSmall(part, LIMITS.fieldBytes)).toString();
    }
  });
  if (fields.has(fileField)) throw missingFile(fileField, fields);
  const transcript = fields.get("transcript");
  if (transcript) upload.transcript = new TextEncoder().encode(transcript);
  upload.metadataText ??= fields.get("metadata_str") ?? "{}";
  return upload;
}

/** Checks what came beside the media; every broken rule is reported. */
async function understand(upload: Upload, assetType: AssetType, url: string | undefined) {
  const issues: ValidationIssue[] = [];
  const collect = async <T>(read: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      issues.push(...error.issues);
      return undefined;
    }
  };
  const metadata = await collect(() => readMetadata(upload.metadataText || "{}"));
  const transcript = upload.transcript && (await collect(() => readTranscript(upload.transcript!)));
  if (!upload.file && url === undefined)
    await collect(() => Promise.reject(oneOf(assetType, "one")));
  if (issues.length > 0) throw new ValidationError(issues);
  return { metadata: metadata!, transcript };
}

function readMetadata(text: string): JsonObject {
  const loc = ["body", "metadata_str"];
  const issues: ValidationIssue[] = [];
  const value = parseJson(text, loc);
  const metadata = check("body", jsonObject, value, issues);
  if (metadata) return metadata;
  throw invalid(loc, "dict_type", "Input should be a JSON object");
}

function requireUrl(url: string, assetType: AssetType, allowed: string): void {
  try {
    requirePublicUrl(url, allowed);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const type = URL.canParse(url) ? "value_error" : "url_parsing";
    throw invalid(["query", `${assetType}_url`], type, error.message);
  }
}

function oneOf(assetType: AssetType, which: string): ValidationError {
  const [file, url] = [`${assetType}_file`, `${assetType}_url`];
  const type = which === "one" ? "missing" : "value_error";
  return invalid(["body", file], type, `Give ${which} of ${file} and ${url}`);
}

function newAsset(
  identity: Identity,
  index: MediaIndexRow,
  file: Upload["file"],
  url: string | undefined,
  metadata: JsonObject,
  now: number,
): Asset {
  return {
    ...identity,
    indexName: index.name,
    title: (file?.title ?? titleOf(url!)).slice(0, 300),
    state: "queued",
    progress: 0,
    error: null,
    warnings: [],
    source: url === undefined ? { kind: "upload" } : { kind: "url", url },
    contentType: file?.contentType ?? null,
    sizeBytes: file?.sizeBytes ?? 0,
    sha256: file?.sha256 ?? null,
    width: null,
    height: null,
    durationMs: 0,
    fps: null,
    hasAudio: null,
    language: (index.settings["language"] as string | undefined) ?? null,
    technical: {},
    metadata,
    keyframeMs: null,
    segments: 0,
    jobId: newId("job", now),
    transcriptJob: null,
    createdAt: now,
    updatedAt: now,
  };
}

function titleOf(url: string): string {
  const { pathname, host } = new URL(url);
  const name = pathname.split("/").findLast(Boolean) ?? host;
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a stray percent sign
  }
}
