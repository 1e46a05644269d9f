import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { listStems, stemsOf } from "../../tools/calibration/relevance.ts";
import type { ArchivePhotos, ArchiveSegment } from "../../tools/calibration/sized-archive.ts";

const FILE = join(import.meta.dirname, "queries-about-nothing.json");

/** A query, and words: a description without any of them isn't about it. */
interface QueryAboutNothing {
  query: string;
  missing: string[];
}

/**
 * Reads queries that were written without sight of the code and of the photos. Returns a function
 * that lists those about nothing in an archive: no photo of it has one of their decisive words in
 * its captions.
 */
export async function readQueriesAboutNothing({ captions }: Pick<ArchivePhotos, "captions">) {
  const all: QueryAboutNothing[] = JSON.parse(await readFile(FILE, "utf8"));
  return (segments: readonly ArchiveSegment[]): string[] => {
    const photos = new Set(segments.flatMap((segment) => segment.photos));
    const told = stemsOf([...photos].flatMap((photo) => captions[photo]!));
    const isTold = (words: string) => listStems(words).every((stem) => told.has(stem));
    return all.filter(({ missing }) => !missing.some(isTold)).map(({ query }) => query);
  };
}
