import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { encodeFilm } from "../../scripts/sample/film.ts";
import { narrate } from "../../scripts/sample/narration.ts";
import { photograph } from "../../scripts/sample/pictures.ts";
import { drawWords } from "../../scripts/sample/words-picture.ts";
import { type AskEngine, withEngine } from "../engine.ts";
import { quantile, round, type Suite } from "../suite.ts";

const TIMES = 15;
const TEXTS = 64;
const SENTENCE = "A woman in a red coat walks two dogs along the beach at sunrise.";
const SPOKEN = [
  "The old carpenter built this house alone.",
  "Every window looks toward the river.",
  "In winter the bridge is closed, and the ferry runs twice a day.",
];

interface Row extends Record<string, string | number> {
  what: string;
  /** Median of one call. */
  ms: number;
  /** Items a second: the one of the call, or as many as it held. */
  per_second: number;
}

/** The median over calls one after another, the first two not counted. */
async function time(what: string, items: number, call: () => Promise<unknown>): Promise<Row> {
  const times: number[] = [];
  for (let i = -2; i < TIMES; i += 1) {
    const start = performance.now();
    await call();
    if (i >= 0) times.push(performance.now() - start);
  }
  const ms = quantile(times, 0.5);
  return { what, ms: round(ms, 1), per_second: round((1000 * items) / ms, 1) };
}

async function measure(ask: AskEngine, folder: string): Promise<Row[]> {
  const photo = await sharp(photograph("nagasaki-boats")).resize(960, 640).jpeg().toBuffer();
  const words = SENTENCE.split(" ");
  const lines = [words.slice(0, 5), words.slice(5, 9), words.slice(9)].map((some) =>
    some.join(" "),
  );
  const page = await drawWords(lines);
  const voice = await narrate(SPOKEN.map((text, i) => ({ start: 4 * i, text })));
  const seconds = Math.ceil(voice.length / 16_000);
  const film = join(folder, "film.mp4");
  await encodeFilm(film, [{ picture: photo, seconds }], { audio: voice });
  const clip = await readFile(film);
  const image = { image: photo.toString("base64") };
  const texts = Array.from({ length: TEXTS }, (_, i) => `${SENTENCE} ${i}`);
  return [
    await time("sentence vector", 1, () => ask("/sentences", { texts: [SENTENCE] })),
    await time(`${TEXTS} sentence vectors`, TEXTS, () => ask("/sentences", { texts })),
    await time("boxes in a picture", 1, () => ask("/objects", photo)),
    await time("words of a photo, which has none", 1, () => ask("/words", photo)),
    await time("words of a page", 1, () => ask("/words", page)),
    await time("description of a photo", 1, () => ask("/describe", photo)),
    await time("picture vector", 1, () => ask("/v1/embeddings", { input: [image] })),
    await time("text vector of the picture space", 1, () =>
      ask("/v1/embeddings", { input: [{ text: SENTENCE }] }),
    ),
    await time("mask of a box", 1, () => ask("/mask?x=0.3&y=0.3&width=0.4&height=0.5", photo)),
    await time("frame of a film", 1, () => ask("/media/frame?time=5&width=960", clip)),
    await time("voice in sound, seconds", seconds, () => ask("/voice", clip)),
    ...(await heard(ask, clip, seconds)),
  ];
}

/** Nothing where this machine has no recogniser. */
async function heard(ask: AskEngine, clip: Buffer, seconds: number): Promise<Row[]> {
  const health = await ask<{ abilities: { speech: { model: string | null } } }>("/health", null);
  const { model } = health.abilities.speech;
  if (model === null) return [];
  return [await time(`speech, seconds, by ${model}`, seconds, () => ask("/transcribe", clip))];
}

export const suite: Suite = {
  summary: "milliseconds of each ability of the engine, one call at a time",
  async run({ signal }) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-bench-"));
    try {
      const table = await withEngine(signal, (ask) => measure(ask, folder));
      return { table, json: { abilities: table } };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
