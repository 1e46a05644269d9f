import type { ApiPath } from "./api-path.ts";
import type { Transport } from "./transport.ts";
import type { AddedAsset, Asset, RequestOptions, UploadProgress } from "./types.ts";
import { uploadFile } from "./upload.ts";

export interface AddOptions extends RequestOptions {
  /** A file in one request is reported when it begins and when it has arrived. */
  onProgress?: UploadProgress | undefined;
}

/** An asset to add: a file or a URL. */
export interface NewAsset {
  type: Asset["asset_type"];
  file?: Blob | undefined;
  url?: string | undefined;
  transcript?: Blob | string | undefined;
  transcript_encoding?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  resumable?: boolean | undefined;
}

/** Larger files are sent in several requests: proxies refuse large bodies. */
const LARGEST_FORM_BYTES = 50 * 1024 * 1024;

/** Whether an asset's file is sent by tus. */
export function isResumable({ file, resumable }: NewAsset): boolean {
  return file !== undefined && (resumable ?? file.size > LARGEST_FORM_BYTES);
}

/** Returns the name of a `File`, or `fallback`. */
export function nameOf(file: Blob, fallback: string): string {
  if (typeof file === "string") {
    throw new TypeError('A file is needed, not a text: openFile(path) of "sightline/node".');
  }
  return "name" in file && typeof file.name === "string" ? file.name : fallback;
}

/** Adds an asset by a form, or by tus if its file is large; a transcript isn't sent by tus. */
export async function addAsset(
  transport: Transport,
  indexPath: ApiPath,
  asset: NewAsset,
  { onProgress, ...options }: AddOptions,
): Promise<AddedAsset> {
  const { type, file, url, metadata } = asset;
  if (file && isResumable(asset)) {
    const name = nameOf(file, type);
    return uploadFile(transport, indexPath, file, { ...options, name, metadata, onProgress });
  }
  if (file) onProgress?.(0, file.size);
  const added = await transport.json<AddedAsset>(
    {
      method: "POST",
      path: [...indexPath, type],
      query: { [`${type}_url`]: url },
      body: formOf(asset),
      repeatable: "key",
    },
    options,
  );
  if (file) onProgress?.(file.size, file.size);
  return added;
}

/** Makes the form; undefined if a URL says everything. */
function formOf(asset: NewAsset): FormData | undefined {
  const { type, file, transcript, transcript_encoding: encoding, metadata } = asset;
  if (!file && transcript === undefined && metadata === undefined) return undefined;
  const form = new FormData();
  if (metadata) form.append("metadata_str", JSON.stringify(metadata));
  if (typeof transcript === "string") form.append("transcript", transcript);
  else if (transcript) form.append("transcript", transcript, nameOf(transcript, "transcript"));
  if (encoding !== undefined) form.append("transcript_encoding", encoding);
  if (file) form.append(`${type}_file`, file, nameOf(file, type));
  return form;
}
