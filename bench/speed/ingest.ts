import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFilm } from "../../scripts/sample/film.ts";
import { photograph } from "../../scripts/sample/pictures.ts";
import { drawWords } from "../../scripts/sample/words-picture.ts";
import { withService } from "../service.ts";
import { round, type Suite } from "../suite.ts";

const MINUTES = [0.5, 1, 3];
const SCREEN = { width: 640, height: 360, fps: 25 } as const;

/** Thirty seconds of six scenes, over and over: three photographs and three pages of words, panned over. */
async function makeFilm(file: string, minutes: number): Promise<void> {
  const pages = await Promise.all(
    ["MORNING NEWS", "SECOND CHAPTER", "THE END OF IT"].map((text) =>
      drawWords(text.split(" "), SCREEN),
    ),
  );
  const photos = (["nagasaki-boats", "dust-bowl-home", "french-alpine-landscape"] as const).map(
    photograph,
  );
  const scenes = photos.flatMap((photo, i) => [photo, pages[i]!]);
  const panned = scenes.map((picture) => ({ picture, seconds: 5, motion: "pan" as const }));
  await encodeFilm(file, panned, { ...SCREEN, audio: "tone", rounds: minutes * 2 });
}

export const suite: Suite = {
  summary: "seconds until a video is searchable, per minute of video",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-films-"));
    try {
      return await withService(options, async ({ ingest }) => {
        const table: Record<string, number>[] = [];
        for (const minutes of MINUTES) {
          const path = join(folder, `${minutes}.mp4`);
          await makeFilm(path, minutes);
          const start = performance.now();
          const [ended] = await ingest(`minutes-${minutes}`, [{ path, kind: "video" }]);
          if (ended?.state !== "ready") throw new Error(`${minutes} min: ${ended?.message}`);
          const seconds = (performance.now() - start) / 1000;
          table.push({
            minutes,
            seconds: round(seconds, 1),
            seconds_per_minute: round(seconds / minutes, 1),
          });
        }
        return { table, json: { videos: table } };
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
