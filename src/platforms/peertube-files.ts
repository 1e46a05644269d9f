import { z } from "zod";
import { AppError } from "../errors.ts";
import { fetchJson, type JsonRequest } from "../fetching/fetch-json.ts";
import { toLanguageTag, optional, parseItems } from "./item.ts";
import { listedVideo } from "./peertube-video.ts";
import type { Captions } from "./platform.ts";

/** Maximum height of the video to download, in pixels. Keyframes are smaller. */
const MAX_HEIGHT = 1080;

const file = z.object({
  id: z.int(),
  /** Height in pixels; 0 for audio only. */
  resolution: z.object({ id: z.number() }),
  fileUrl: optional(z.string()),
  fileDownloadUrl: optional(z.string()),
  hasAudio: optional(z.boolean()),
  hasVideo: optional(z.boolean()),
});
type File = z.infer<typeof file>;

export const videoDetails = listedVideo.extend({
  files: optional(z.array(z.unknown())),
  streamingPlaylists: optional(z.array(z.object({ files: optional(z.array(z.unknown())) }))),
});

/**
 * Selects the file of a video to download: MP4 first, which is nearly always H.264; then the
 * highest resolution up to `MAX_HEIGHT`, else the lowest; then a web file rather than a fragmented
 * one. If the audio is in a separate file (PeerTube 6.3 and later), returns the URL at which the
 * server muxes both files.
 */
export function selectFileUrl(video: z.infer<typeof videoDetails>, origin: string): string | null {
  const lists = [video.files, ...(video.streamingPlaylists ?? []).map(({ files }) => files)];
  const candidates = lists.flatMap((list, order) => {
    const files = parseItems("peertube", file, list ?? []);
    const audio = files.find((entry) => !hasVideoTrack(entry));
    return files.filter(hasVideoTrack).flatMap((entry) => {
      const url = entry.hasAudio === false && audio ? muxedUrl(entry, audio) : fileUrl(entry);
      return url ? { url, rank: [isMp4(entry) ? 0 : 1, heightRank(entry), order] } : [];
    });
  });
  return candidates.sort((a, b) => compareRanks(a.rank, b.rank))[0]?.url ?? null;

  function muxedUrl(...files: File[]): string {
    const query = new URLSearchParams(
      files.map(({ id }): [string, string] => ["videoFileIds", String(id)]),
    );
    return `${origin}/download/videos/generate/${video.uuid}?${query.toString()}`;
  }
}

function fileUrl({ fileUrl: url, fileDownloadUrl }: File): string | null {
  return url ?? fileDownloadUrl ?? null;
}

function isMp4(entry: File): boolean {
  return /\.mp4(?:\?|$)/.test(fileUrl(entry) ?? "");
}

/** Ranks heights: from `MAX_HEIGHT` down, then from `MAX_HEIGHT` up. */
function heightRank({ resolution: { id: height } }: File): number {
  return height <= MAX_HEIGHT ? MAX_HEIGHT - height : height;
}

function hasVideoTrack({ hasVideo, resolution }: File): boolean {
  return hasVideo !== false && resolution.id > 0;
}

function compareRanks(a: number[], b: number[]): number {
  const differing = a.findIndex((value, i) => value !== b[i]);
  return differing === -1 ? 0 : a[differing]! - b[differing]!;
}

const caption = z.object({
  language: z.object({ id: z.string() }),
  /** PeerTube 7.1 and later. */
  fileUrl: optional(z.string()),
  captionPath: optional(z.string()),
});

const captionList = z.object({ data: z.array(z.unknown()) });

/** Fetches a video's captions. Returns none after a permanent error; throws transient errors. */
export async function fetchCaptions(
  env: { FETCH_ALLOW: string },
  request: JsonRequest<z.ZodType>,
): Promise<Captions[]> {
  try {
    const { data } = await fetchJson(env, { ...request, schema: captionList });
    return parseItems("peertube", caption, data).flatMap(({ language, fileUrl, captionPath }) => {
      const url = URL.parse(fileUrl ?? captionPath ?? "", request.url)?.href;
      return url ? [{ url, language: toLanguageTag(language.id), format: "vtt" as const }] : [];
    });
  } catch (error) {
    const isIgnored = error instanceof AppError && IGNORED_ERRORS.has(error.code);
    if (isIgnored) return [];
    throw error;
  }
}

const IGNORED_ERRORS = new Set(["original_removed", "media_not_available", "download_refused"]);
