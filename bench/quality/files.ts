import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileTypeFromFile } from "file-type";
import type { Ingested } from "../../tools/ingest-files.ts";
import type { MediaFile } from "../../tools/media-files.ts";
import { withService } from "../../tools/service.ts";
import type { Suite } from "../../tools/suite.ts";

/**
 * Lists the files of a folder. Audio and video are uploaded as videos, everything else as images;
 * unsupported files must fail with a code.
 */
async function listFiles(folder: string): Promise<MediaFile[]> {
  const names = await readdir(folder);
  const media = names
    .filter((name) => !/\.(json|srt|vtt)$/.test(name))
    .map((name) => join(folder, name));
  return Promise.all(
    media.map(async (path) => {
      const type = (await fileTypeFromFile(path))?.mime ?? "";
      return { path, kind: /^(video|audio)\//.test(type) ? "video" : "image" } as const;
    }),
  );
}

function countOutcomes(files: Ingested[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state, code } of files) {
    const outcome = code ?? state;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

export const suite: Suite = {
  summary: "files of <DIR>/videos and <DIR>/odd: how many become ready or fail, by error code",
  async run(options) {
    const { dataDir, log } = options;
    const folders = ["videos", "odd"];
    const outcomes = await withService(options, async ({ ingest }) => {
      const outcomesByFolder: Record<string, Record<string, number>> = {};
      for (const folder of folders) {
        log(`${folder}:`);
        outcomesByFolder[folder] = countOutcomes(
          await ingest(folder, await listFiles(join(dataDir, folder))),
        );
      }
      return outcomesByFolder;
    });
    const table = Object.entries(outcomes).flatMap(([folder, counts]) =>
      Object.entries(counts).map(([outcome, files]) => ({ folder, outcome, files })),
    );
    return { table, json: outcomes };
  },
};
