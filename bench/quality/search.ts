import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HitRecord } from "../../scripts/demo/api-client.ts";
import type { MediaFile } from "../../scripts/demo/media-files.ts";
import { type Service, withService } from "../service.ts";
import { round, type Suite } from "../suite.ts";

interface Case {
  query: string;
  /** Whether a hit is what was meant. */
  isRight: (hit: HitRecord) => boolean;
}

interface Clip {
  file: string;
  caption: string;
}
interface Narration {
  file: string;
  segments?: { start: number; end: number; text: string }[];
}

/** Captions that people wrote of clips, as queries: the clip itself is right. */
async function clipCases({ ingest }: Service, folder: string): Promise<Case[]> {
  const clips: Clip[] = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const media = clips.map(({ file }) => ({ path: join(folder, file), kind: "video" as const }));
  const ended = await ingest("clips", media);
  const ready = new Set(ended.filter(({ state }) => state === "ready").map(({ name }) => name));
  return clips
    .filter(({ file }) => ready.has(file))
    .map(({ file, caption }) => ({ query: caption, isRight: ({ title }) => title === file }));
}

/**
 * Every second word of what is said, as queries: a moment that overlaps it is right. The index `speech`
 * is given transcripts, `heard` has only the sound, if this machine has a recogniser.
 */
async function speechCases(
  { ingest }: Service,
  folder: string,
  indexName: "speech" | "heard",
): Promise<Case[]> {
  const all: Narration[] = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const told = all.filter(({ file, segments }) => segments && file.startsWith("narrated"));
  const films = told.map(({ file }): MediaFile => {
    const transcript = join(folder, file.replace(/\.\w+$/, ".srt"));
    const film = { path: join(folder, file), kind: "video" as const };
    return indexName === "heard" ? film : { ...film, transcript };
  });
  await ingest(indexName, films);
  return told.flatMap(({ file, segments }) =>
    segments!.map(({ start, end, text }) => ({
      query: text
        .split(/\s+/)
        .filter((_, i) => i % 2 === 1)
        .join(" "),
      isRight: (hit: HitRecord) =>
        hit.title === file && hit.start_seconds! < end && hit.end_seconds! > start,
    })),
  );
}

/** Share of the cases with a right hit among the first 1, 5 and 10, in percent. */
async function recall({ api }: Service, indexName: string, cases: Case[]) {
  const ranks: number[] = [];
  for (const { query, isRight } of cases) {
    const path = `/index/${indexName}/search`;
    const { segments } = await api.post<{ segments: HitRecord[] }>(path, { query, top_k: 10 });
    ranks.push(segments.findIndex(isRight));
  }
  const within = (k: number) =>
    round((100 * ranks.filter((rank) => rank >= 0 && rank < k).length) / ranks.length, 1);
  return { queries: cases.length, r1: within(1), r5: within(5), r10: within(10) };
}

export const suite: Suite = {
  summary: "how often the right moment is found: captions → <DIR>/videos, words → <DIR>/speech",
  async run(options) {
    const { dataDir } = options;
    return withService(options, async (service) => {
      const clips = await clipCases(service, join(dataDir, "videos"));
      const speech = await speechCases(service, join(dataDir, "speech"), "speech");
      const heard = await speechCases(service, join(dataDir, "speech"), "heard");
      const json = {
        clips: await recall(service, "clips", clips),
        speech: await recall(service, "speech", speech),
        heard: await recall(service, "heard", heard),
      };
      return { table: Object.entries(json).map(([set, row]) => Object.assign({ set }, row)), json };
    });
  },
};
