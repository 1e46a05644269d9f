import { cpuMs, TEXT_DIMENSIONS, WatchedIndex } from "../../tools/memory-search/watched-index.ts";
import { createRandom } from "../../tools/random-numbers.ts";
import { round, type Suite, type SuiteOptions } from "../../tools/suite.ts";

const WATCHES = 200;
const SEGMENTS = 1000;
const LIMIT_MS = 2000;

export const suite: Suite = {
  summary:
    "processor time of the Worker to search 1,000 new segments for 200 watches, without that of the " +
    "database and of Vectorize; fails above 2 s",
  run: measure,
};

async function measure({ log }: SuiteOptions) {
  const random = createRandom(1);
  const words = Array.from({ length: 20_000 }, (_, i) => spell(i));
  const drawText = (length: number) =>
    Array.from({ length }, () => words[Math.floor(random() ** 2 * words.length)]!).join(" ");
  const draw = () => ({ caption: drawText(8), transcript: drawText(12), shows: "" });
  const vector = Array.from({ length: TEXT_DIMENSIONS }, () => random() - 0.5);
  log("Making segments and watches");
  const segments = Array.from({ length: SEGMENTS }, draw);
  const index = await WatchedIndex.open("bench", () => vector, Array.from({ length: 300 }, draw));
  const ids = [];
  for (let i = 0; i < WATCHES; i++) {
    // Every tenth matches a segment.
    const words = i % 10 === 0 ? segments[i]!.caption.split(" ").slice(0, 3).join(" ") : null;
    ids.push(await index.addWatch(words ?? drawText(3), 0.8));
  }
  await index.addVideo(segments);
  const start = cpuMs();
  index.standInMs = 0;
  await index.match();
  const allMs = cpuMs() - start;
  const figures = {
    watches: WATCHES,
    segments: SEGMENTS,
    matches: (await Promise.all(ids.map((id) => index.matchesOf(id)))).flat().length,
    worker_ms: round(allMs - index.standInMs, 0),
    stand_ins_ms: round(index.standInMs, 0),
  };
  return { table: [figures], json: figures, problems: figures.worker_ms > LIMIT_MS ? 1 : 0 };
}

/** Makes a word of four syllables. */
function spell(number: number): string {
  const at = (place: number) => Math.floor(number / 16 ** place) % 16;
  return Array.from({ length: 4 }, (_, i) => "bdfgklmnprstvwzh"[at(i)]! + "aeio"[at(i) % 4]!).join(
    "",
  );
}
