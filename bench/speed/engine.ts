import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { photographPath } from "../../tools/sample/images.ts";
import { narrate } from "../../tools/sample/narration.ts";
import { drawText } from "../../tools/sample/text-image.ts";
import { encodeVideo } from "../../tools/sample/video.ts";
import { quantile, round, type Suite } from "../../tools/suite.ts";
import { type RequestEngine, withEngine } from "../engine.ts";

const ROUNDS = 15;
const TEXTS = 64;
const SENTENCE = "A woman in a red coat walks two dogs along the beach at sunrise.";
const SENTENCES = [
  "The old carpenter built this house alone.",
  "Every window looks toward the river.",
  "In winter the bridge is closed, and the ferry runs twice a day.",
];

interface Row extends Record<string, string | number> {
  what: string;
  /** Median of one call in ms. */
  ms: number;
  /** Items per second. */
  per_second: number;
}

/** Measures the median of sequential calls, after two warm-up calls. */
async function time(what: string, items: number, call: () => Promise<unknown>): Promise<Row> {
  const times: number[] = [];
  for (let i = -2; i < ROUNDS; i += 1) {
    const start = performance.now();
    await call();
    if (i >= 0) times.push(performance.now() - start);
  }
  const ms = quantile(times, 0.5);
  return { what, ms: round(ms, 1), per_second: round((1000 * items) / ms, 1) };
}

async function measure(request: RequestEngine, folder: string): Promise<Row[]> {
  const photo = await sharp(photographPath("nagasaki-boats")).resize(960, 640).jpeg().toBuffer();
  const words = SENTENCE.split(" ");
  const lines = [words.slice(0, 5), words.slice(5, 9), words.slice(9)].map((lineWords) =>
    lineWords.join(" "),
  );
  const page = await drawText(lines);
  const narration = await narrate(SENTENCES.map((text, i) => ({ start: 4 * i, text })));
  const seconds = Math.ceil(narration.length / 16_000);
  const video = join(folder, "video.mp4");
  await encodeVideo(video, [{ image: photo, seconds }], { audio: narration });
  const clip = await readFile(video);
  const image = { image: photo.toString("base64") };
  const texts = Array.from({ length: TEXTS }, (_, i) => `${SENTENCE} ${i}`);
  return [
    await time("sentence vector", 1, () => request("/sentences", { texts: [SENTENCE] })),
    await time(`${TEXTS} sentence vectors`, TEXTS, () => request("/sentences", { texts })),
    await time("object detection", 1, () => request("/objects", photo)),
    await time("OCR of a photo without text", 1, () => request("/ocr", photo)),
    await time("OCR of a page", 1, () => request("/ocr", page)),
    await time("description of a photo", 1, () => request("/describe", photo)),
    await time("image vector", 1, () => request("/v1/embeddings", { input: [image] })),
    await time("text vector of the joint space", 1, () =>
      request("/v1/embeddings", { input: [{ text: SENTENCE }] }),
    ),
    await time("mask of a box", 1, () => request("/mask?x=0.3&y=0.3&width=0.4&height=0.5", photo)),
    await time("frame of a video", 1, () => request("/media/frame?time=5&width=960", clip)),
    await time("voice activity, seconds of audio", seconds, () => request("/vad", clip)),
    ...(await timeSpeechRecognition(request, clip, seconds)),
  ];
}

/** Measures speech recognition; returns nothing without a recogniser. */
async function timeSpeechRecognition(
  request: RequestEngine,
  clip: Buffer,
  seconds: number,
): Promise<Row[]> {
  const health = await request<{ capabilities: { speech: { model: string | null } } }>(
    "/health",
    null,
  );
  const { model } = health.capabilities.speech;
  if (model === null) return [];
  return [
    await time(`speech recognition by ${model}, seconds of audio`, seconds, () =>
      request("/transcribe", clip),
    ),
  ];
}

export const suite: Suite = {
  summary: "milliseconds of each capability of the engine, one call at a time",
  async run({ signal }) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-bench-"));
    try {
      const table = await withEngine(signal, (request) => measure(request, folder));
      return { table, json: { capabilities: table } };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
