import { join } from "node:path";
import { readdir } from "node:fs/promises";
import { fileTypeFromFile } from "file-type";
import type { Ingested } from "../../scripts/demo/ingest.ts";
import type { MediaFile } from "../../scripts/demo/media-files.ts";
import { withService } from "../service.ts";
import type { Suite } from "../suite.ts";

/** Sound and video are sent as videos, everything else as images: what can't be must be refused by code. */
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

function countEnds(files: Ingested[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state, code } of files) {
    const end = code ?? state;
    counts[end] = (counts[end] ?? 0) + 1;
  }
  return counts;
}

export const suite: Suite = {
  summary: "every file of <DIR>/videos and <DIR>/odd: ready, or failed with which code",
  async run(options) {
    const { dataDir, log } = options;
    const folders = ["videos", "odd"];
    const ends = await withService(options, async ({ ingest }) => {
      const counted: Record<string, Record<string, number>> = {};
      for (const folder of folders) {
        log(`${folder}:`);
        counted[folder] = countEnds(await ingest(folder, await listFiles(join(dataDir, folder))));
      }
      return counted;
    });
    const table = Object.entries(ends).flatMap(([folder, counts]) =>
      Object.entries(counts).map(([end, files]) => ({ folder, end, files })),
    );
    return { table, json: ends };
  },
};
