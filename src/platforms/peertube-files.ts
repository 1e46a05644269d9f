import { z } from "zod";
import { AppError } from "../errors.ts";
import { askJson, type Question } from "../fetching/ask.ts";
import { languageOf, maybe, readItems } from "./item.ts";
import { listedVideo } from "./peertube-video.ts";
import type { Captions } from "./platform.ts";

/** More isn't seen: keyframes are smaller. */
const MOST_LINES = 1080;

const file = z.object({
  id: z.int(),
  /** Lines; 0 where it is sound only. */
  resolution: z.object({ id: z.number() }),
  fileUrl: maybe(z.string()),
  fileDownloadUrl: maybe(z.string()),
  hasAudio: maybe(z.boolean()),
  hasVideo: maybe(z.boolean()),
});
type File = z.infer<typeof file>;

export const videoDetails = listedVideo.extend({
  files: maybe(z.array(z.unknown())),
  streamingPlaylists: maybe(z.array(z.object({ files: maybe(z.array(z.unknown())) }))),
});

/**
 * Where the best file of a video is: an MP4 rather than what isn't, which is H.264 in all but rare cases;
 * the largest picture of at most 1080 lines, else the smallest; whole rather than in fragments.
 * Where a server keeps the sound in a file of its own (from 6.3 on), it is asked to join the two.
 */
export function fileOf(video: z.infer<typeof videoDetails>, origin: string): string | null {
  const lists = [video.files, ...(video.streamingPlaylists ?? []).map(({ files }) => files)];
  const found = lists.flatMap((list, order) => {
    const files = readItems("peertube", file, list ?? []);
    const sound = files.find((one) => !hasPicture(one));
    return files.filter(hasPicture).flatMap((one) => {
      const url = one.hasAudio === false && sound ? joined(one, sound) : urlOf(one);
      return url ? { url, rank: [isMp4(one) ? 0 : 1, distance(one), order] } : [];
    });
  });
  return found.sort((a, b) => compare(a.rank, b.rank))[0]?.url ?? null;

  function joined(...files: File[]): string {
    const query = new URLSearchParams(
      files.map(({ id }): [string, string] => ["videoFileIds", String(id)]),
    );
    return `${origin}/download/videos/generate/${video.uuid}?${query.toString()}`;
  }
}

function urlOf({ fileUrl, fileDownloadUrl }: File): string | null {
  return fileUrl ?? fileDownloadUrl ?? null;
}

function isMp4(one: File): boolean {
  return /\.mp4(?:\?|$)/.test(urlOf(one) ?? "");
}

function distance({ resolution: { id } }: File): number {
  return id <= MOST_LINES ? MOST_LINES - id : id;
}

function hasPicture({ hasVideo, resolution }: File): boolean {
  return hasVideo !== false && resolution.id > 0;
}

function compare(a: number[], b: number[]): number {
  const differing = a.findIndex((value, i) => value !== b[i]);
  return differing === -1 ? 0 : a[differing]! - b[differing]!;
}

const caption = z.object({
  language: z.object({ id: z.string() }),
  /** From 7.1 on. */
  fileUrl: maybe(z.string()),
  captionPath: maybe(z.string()),
});

const listed = z.object({ data: z.array(z.unknown()) });

/** None where the server doesn't tell; what may pass is thrown. */
export async function captionsOf(
  env: { FETCH_ALLOW: string },
  question: Question<z.ZodType>,
): Promise<Captions[]> {
  try {
    const { data } = await askJson(env, { ...question, schema: listed });
    return readItems("peertube", caption, data).flatMap(({ language, fileUrl, captionPath }) => {
      const url = URL.parse(fileUrl ?? captionPath ?? "", question.url)?.href;
      return url ? [{ url, language: languageOf(language.id), format: "vtt" as const }] : [];
    });
  } catch (error) {
    const isFinal = error instanceof AppError && PASSED_OVER.has(error.code);
    if (isFinal) return [];
    throw error;
  }
}

const PASSED_OVER = new Set(["original_removed", "media_not_available", "download_refused"]);
