import { z } from "@hono/zod-openapi";
import { type Admitted, admitAsset, type Identity, newAsset, roomFor } from "../care/new-asset.ts";
import { purgeAsset } from "../care/purge.ts";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/address.ts";
import { newId } from "../ids.ts";
import { storeSource } from "../ingest/fetch.ts";
import { requireRoom } from "../store/limits.ts";
import type { Stored } from "../store/streams.ts";
import type { AssetType, JsonObject, MediaIndexRow } from "../types.ts";
import { type FormFile, readForm, readSmall, missingFile } from "./form.ts";
import { userMetadata } from "./json-object.ts";
import { readTranscript } from "./transcript-part.ts";
import { check, parseJson } from "./validation.ts";

interface Upload {
  file?: Stored & { title: string };
  transcript?: Uint8Array;
  metadata?: string | Uint8Array;
  /** Of a file that came as text. */
  refusal?: ValidationError;
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
): Promise<Admitted> {
  const now = Date.now();
  const identity = {
    assetId: newId(assetType === "video" ? "vid" : "img", now),
    indexId: index.indexId,
    accountId: index.accountId,
    assetType,
  };
  await requireRoom(env.DB, index.accountId, {
    ...roomFor(assetType),
    stored_bytes: Number(request.headers.get("content-length") ?? 1),
  });
  try {
    const upload = await readUpload(env, request, identity, url);
    const { metadata, transcript } = await understand(upload, assetType, url);
    if (url !== undefined) requireUrl(url, assetType, env.FETCH_ALLOW);
    const { file } = upload;
    const said = {
      title: file?.title ?? titleOf(url!),
      source: url === undefined ? { kind: "upload" as const } : { kind: "url" as const, url },
      metadata,
    };
    return await admitAsset(env, newAsset(identity, index, file, said, now), { transcript });
  } catch (error) {
    await purgeAsset(env, identity, identity.assetId);
    throw error;
  }
}

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
      upload.metadata = await readSmall(part, LIMITS.fieldBytes);
    }
  });
  if (fields.has(fileField)) upload.refusal = missingFile(fileField, fields);
  const transcript = fields.get("transcript");
  if (transcript) upload.transcript = new TextEncoder().encode(transcript);
  upload.metadata ??= fields.get("metadata_str") ?? "";
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
  const metadata = await collect(() => readMetadata(upload.metadata ?? ""));
  const transcript = upload.transcript && (await collect(() => readTranscript(upload.transcript!)));
  if (upload.refusal) issues.push(...upload.refusal.issues);
  else if (!upload.file && url === undefined) issues.push(...oneOf(assetType, "one").issues);
  if (issues.length > 0) throw new ValidationError(issues);
  return { metadata: metadata!, transcript };
}

const withMetadata = z.object({ metadata_str: userMetadata });

function readMetadata(source: string | Uint8Array): JsonObject {
  const text = source.length === 0 ? "{}" : source;
  const issues: ValidationIssue[] = [];
  const value = { metadata_str: parseJson(text, ["body", "metadata_str"]) };
  const read = check("body", withMetadata, value, issues);
  if (!read) throw new ValidationError(issues);
  return read.metadata_str;
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

function titleOf(url: string): string {
  const { pathname, host } = new URL(url);
  const name = pathname.split("/").findLast(Boolean) ?? host;
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a stray percent sign
  }
}
