import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import { text, userMetadata } from "../http/fields.ts";
import { missingFileError, readForm, readSmallPart } from "../http/multipart.ts";
import { parseJson, validate } from "../http/validation.ts";
import * as z from "../http/zod.ts";
import { ASSET_PREFIX, newId } from "../ids.ts";
import { storeSource } from "../ingest/steps/fetch.ts";
import { parseTranscript, type Transcript } from "../ingest/transcript/parse.ts";
import {
  type AssetIdentity,
  type CreatedAsset,
  createAsset,
  newAsset,
  quotaFor,
} from "../lifecycle/create-asset.ts";
import { purgeAsset } from "../lifecycle/purge.ts";
import { append } from "../lists.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import type { StoredStream } from "../store/r2/streams.ts";
import { titleFromUrl } from "../title.ts";
import type { AssetType, JsonObject, MediaIndexRow } from "../types.ts";

/** The form field beside `transcript`. */
export const transcriptEncoding = text(
  "Encoding of the transcript, as `windows-1250`: a label of the WHATWG Encoding Standard. " +
    "Detected by default.",
  "windows-1250",
).optional();

export const TRANSCRIPT_FORMATS =
  "SRT, WebVTT, JSON (`[{start, end, text}]`, or what Whisper's tools write), TSV, SBV, LRC, MPL2, " +
  "MicroDVD, TMPlayer, SCC, TTML, ASS, SAMI, EBU STL or plain text";

/**
 * Parses the part `transcript` of a form: a file, in the encoding that `transcript_encoding` names
 * if there is one, or a text. Returns undefined without the part. Throws `ValidationError`.
 */
export function parseTranscriptPart(
  file: Uint8Array | undefined,
  fields: ReadonlyMap<string, string>,
  fileName: string | undefined,
): Transcript | undefined {
  const encoding = parseEncodingLabel(fields.get("transcript_encoding"));
  const text = fields.get("transcript");
  try {
    if (file) return parseTranscript(file, encoding, fileName);
    return text === undefined
      ? undefined
      : parseTranscript(new TextEncoder().encode(text), "utf-8");
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalidTranscript(error.message);
  }
}

/** Returns the encoding of a label, undefined without any. Throws `ValidationError` for others. */
function parseEncodingLabel(label = ""): string | undefined {
  try {
    return label.trim() === "" ? undefined : new TextDecoder(label.trim()).encoding;
  } catch {
    const message = "It isn't an encoding: send a label such as windows-1250";
    throw invalid(["body", "transcript_encoding"], "value_error", message);
  }
}

export function invalidTranscript(message: string) {
  return invalid(["body", "transcript"], "value_error", message);
}

/**
 * Adds a video or an image to an index, from a file that is streamed to R2 as it arrives or from a
 * URL in the query string (`queryUrl`) or in the form, and starts its ingest. A file whose bytes
 * the index already has results in the existing asset. Throws `limit_reached` and `account_full`,
 * before the body is read if `Content-Length` allows it.
 */
export async function addAsset(
  env: Env,
  request: Request,
  index: MediaIndexRow,
  assetType: AssetType,
  queryUrl: string | undefined,
): Promise<CreatedAsset> {
  const now = Date.now();
  const identity = {
    assetId: newId(ASSET_PREFIX[assetType], now),
    indexId: index.indexId,
    accountId: index.accountId,
    assetType,
    ...index.shards.at(-1)!,
  };
  await requireQuota(env.DB, index.accountId, {
    ...quotaFor(assetType),
    stored_bytes: Number(request.headers.get("content-length") ?? 1),
  });
  try {
    const parts = await readParts(env, request, identity, queryUrl);
    const { file, url, metadata, transcript } = parts;
    const description = {
      title: file?.title ?? titleFromUrl(url!),
      source: url === undefined ? { kind: "upload" as const } : { kind: "url" as const, url },
      folder: file?.folder ?? "",
      metadata,
      warnings: transcript?.warnings ?? [],
    };
    const asset = newAsset(identity, index, file, description, now);
    return await createAsset(env, asset, { transcript });
  } catch (error) {
    await purgeAsset(env, identity);
    throw error;
  }
}

/** Parts that may be files or texts, and their most bytes. */
const SMALL_PARTS: Readonly<Record<string, number>> = {
  transcript: LIMITS.transcriptBytes,
  metadata_str: LIMITS.fieldBytes,
};

/**
 * Reads the form, stores the first file unless the query has a URL, and parses the other parts.
 * Requires either a file or a URL that may be fetched. Throws all issues together.
 */
async function readParts(
  env: Env,
  request: Request,
  identity: AssetIdentity,
  queryUrl: string | undefined,
) {
  const [fileName, urlName] = [`${identity.assetType}_file`, `${identity.assetType}_url`];
  const small = new Map<string, Uint8Array>();
  let file: (StoredStream & { title: string; folder: string }) | undefined;
  let fileCount = 0;
  let transcriptName: string | undefined;
  const hasBody = request.body !== null && request.headers.get("content-length") !== "0";
  const fields = !hasBody
    ? new Map<string, string>()
    : await readForm(request, async (part) => {
        const maxBytes = SMALL_PARTS[part.field];
        if (maxBytes) small.set(part.field, await readSmallPart(part, maxBytes));
        if (part.field === "transcript") transcriptName = part.filename;
        if (part.field !== fileName) return;
        fileCount += 1;
        if (fileCount > 1 || queryUrl !== undefined) return;
        const stored = await storeSource(env.MEDIA, identity, part.chunks);
        file = { title: part.filename || identity.assetId, folder: part.folder, ...stored };
      });
  if (fields.get("transcript") === "") fields.delete("transcript");
  const urls = [queryUrl, fields.get(urlName)].filter((each) => each !== undefined);
  const url = urls[0]?.trim();
  const issues: ValidationIssue[] = [];
  const metadata = collect(issues, () =>
    parseMetadata(small.get("metadata_str") ?? fields.get("metadata_str") ?? ""),
  );
  const transcript = collect(issues, () =>
    parseTranscriptPart(small.get("transcript"), fields, transcriptName),
  );
  if (url !== undefined) {
    const loc = [queryUrl === undefined ? "body" : "query", urlName];
    collect(issues, () => requireUrl(loc, url, env.FETCH_ALLOW));
  }
  const sourceCount = fileCount + urls.length;
  if (fields.has(fileName)) append(issues, missingFileError(fileName, fields).issues);
  else if (sourceCount !== 1) append(issues, sourceError(fileName, urlName, sourceCount).issues);
  if (issues.length > 0) throw new ValidationError(issues);
  return { file, url, metadata: metadata!, transcript };
}

/** Returns what `parse` returns, or adds the issues that it throws. */
function collect<T>(issues: ValidationIssue[], parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    append(issues, error.issues);
    return undefined;
  }
}

const withMetadata = z.object({ metadata_str: userMetadata });

function parseMetadata(source: string | Uint8Array): JsonObject {
  const text = source.length === 0 ? "{}" : source;
  const issues: ValidationIssue[] = [];
  const value = { metadata_str: parseJson(text, ["body", "metadata_str"]) ?? {} };
  const valid = validate("body", withMetadata, value, issues);
  if (!valid) throw new ValidationError(issues);
  return valid.metadata_str;
}

function requireUrl(loc: string[], url: string, allowed: string): void {
  try {
    requirePublicUrl(url, allowed);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const type = URL.canParse(url) ? "value_error" : "url_parsing";
    throw invalid(loc, type, error.message);
  }
}

/** Error for a request with neither a file nor a URL, or with more than one. */
function sourceError(fileName: string, urlName: string, count: number): ValidationError {
  const [type, give] = count === 0 ? ["missing", "Give"] : ["value_error", "Give only one"];
  return invalid(["body", fileName], type, `${give} ${fileName} or ${urlName}`);
}
