import { splitPath, titleFromUrl } from "../asset-names.ts";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import { text, userMetadata } from "../http/fields.ts";
import {
  type FormFile,
  formFile,
  formFileOrText,
  readForm,
  readSmallPart,
  type SentParts,
} from "../http/multipart.ts";
import { jsonText } from "../http/validation.ts";
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
import type { AssetType, MediaIndexRow } from "../types.ts";

export const transcriptEncoding = text(
  "Encoding of the transcript, as `windows-1250`: a label of the WHATWG Encoding Standard. " +
    "Detected by default.",
  "windows-1250",
)
  .refine(isEncodingLabel, "It isn't an encoding: send a label such as windows-1250")
  .optional();

export const TRANSCRIPT_FORMATS =
  "SRT, WebVTT, JSON (`[{start, end, text}]`, or what Whisper's tools write), TSV, SBV, LRC, MPL2, " +
  "MicroDVD, TMPlayer, SCC, TTML, ASS, EBU STL or plain text";

interface TranscriptFile {
  bytes: Uint8Array;
  name: string;
}

export const transcriptPart = formFileOrText<TranscriptFile>();

export const transcriptReaders = {
  async transcript(part: FormFile): Promise<TranscriptFile> {
    return { bytes: await readSmallPart(part, LIMITS.transcriptBytes), name: part.filename };
  },
};

/** A text that is only the name of a file with a transcript. */
const FILE_NAME = /^[^\n]{0,300}\.(?:srt|vtt|sbv|ass|ssa|ttml|dfxp|scc|stl|lrc|json|csv|tsv|txt)$/i;

/**
 * Parses a transcript: a file, in the encoding with a label unless that is blank, or a text. Throws
 * `ValidationError`.
 */
export function parseTranscriptPart(part: TranscriptFile | string, label = ""): Transcript {
  if (typeof part === "string" && FILE_NAME.test(part.trim())) {
    const message = "this is a name of a file: with curl, write -F transcript=@path";
    throw invalidTranscript(message);
  }
  try {
    const encoding = label.trim() === "" ? undefined : new TextDecoder(label.trim()).encoding;
    if (typeof part !== "string") return parseTranscript(part.bytes, encoding, part.name);
    return parseTranscript(new TextEncoder().encode(part), "utf-8");
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalidTranscript(error.message);
  }
}

/** Whether a text is an encoding's label, or blank as an empty field of a form. */
function isEncodingLabel(label: string): boolean {
  try {
    return label.trim() === "" || Boolean(new TextDecoder(label.trim()));
  } catch {
    return false;
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
    const parts = await readAssetForm(env, request, identity, queryUrl);
    const { file, url, folder, metadata, transcript } = parts;
    const description = {
      title: file?.title ?? titleFromUrl(url!),
      source: url === undefined ? { kind: "upload" as const } : { kind: "url" as const, url },
      folder: (folder && splitPath(`${folder}/`).folder) || (file?.folder ?? ""),
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

const metadataText = jsonText(userMetadata)
  .describe("Metadata of the asset: a JSON object as text, at most 64 KiB, to filter by.")
  .openapi({ example: "{}" });

const folderPart = text("Folder of the file. Default: that of its name.", "Trip/Day 1").optional();

interface UploadedFile extends StoredStream {
  title: string;
  folder: string;
}

export const assetForms = {
  video: z.object({
    video_file: formFile<UploadedFile>()
      .optional()
      .describe("The video. Give either this or `video_url`."),
    video_url: text("Public URL of the video: the same as in the query.").optional(),
    transcript: transcriptPart
      .optional()
      .describe(`Transcript, used instead of speech recognition: ${TRANSCRIPT_FORMATS}.`),
    transcript_encoding: transcriptEncoding,
    folder: folderPart,
    metadata_str: metadataText,
  }),
  image: z.object({
    image_file: formFile<UploadedFile>()
      .optional()
      .describe(
        "The image: JPEG, PNG, GIF, WebP, HEIC, a camera raw, or what the decoder of the " +
          "deployment reads. Give either this or `image_url`.",
      ),
    image_url: text("Public URL of the image: the same as in the query.").optional(),
    folder: folderPart,
    metadata_str: metadataText,
  }),
} as const;

/**
 * Reads the form, stores the first file unless the query has a URL, and parses the other parts.
 * Requires either a file or a URL that may be fetched. Throws all issues together.
 */
async function readAssetForm(
  env: Env,
  request: Request,
  identity: AssetIdentity,
  queryUrl: string | undefined,
) {
  const [fileName, urlName] = [`${identity.assetType}_file`, `${identity.assetType}_url`];
  let file: UploadedFile | undefined;
  let fileCount = 0;
  let url: string | undefined;
  let transcript: Transcript | undefined;
  const readers = {
    ...transcriptReaders,
    async [fileName](part: FormFile): Promise<object> {
      fileCount += 1;
      if (fileCount === 1 && queryUrl === undefined) {
        const stored = await storeSource(env.MEDIA, identity, part.chunks);
        file = { title: part.filename || identity.assetId, folder: part.folder, ...stored };
      }
      return part;
    },
  };
  const rules = (sent: SentParts) => {
    const issues: ValidationIssue[] = [];
    const text = sent.get("transcript") as TranscriptFile | string | undefined;
    const label = sent.get("transcript_encoding") as string | undefined;
    const isLabel = label === undefined || isEncodingLabel(label);
    if (text && isLabel) transcript = collect(issues, () => parseTranscriptPart(text, label));
    const formUrl = (sent.get(urlName) as string | undefined) || undefined;
    const urls = [queryUrl, formUrl].filter((one) => one !== undefined);
    url = urls[0]?.trim();
    if (url !== undefined) {
      const loc = [queryUrl === undefined ? "body" : "query", urlName];
      collect(issues, () => requireUrl(loc, url!, env.FETCH_ALLOW));
    }
    const sourceCount = fileCount + urls.length;
    if (sourceCount !== 1 && typeof sent.get(fileName) !== "string") {
      append(issues, sourceError(fileName, urlName, sourceCount).issues);
    }
    return issues;
  };
  const options = { readers, rules, isOptional: true };
  const form = await readForm(request, assetForms[identity.assetType], options);
  return { file, url, folder: form.folder, metadata: form.metadata_str ?? {}, transcript };
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
