import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WATCHDOG_MS } from "../support/watchdog.ts";
import { concatAudio, makeSilence, makeVoice, makeWav } from "./audio-file.ts";
import { type Engine, readJson, readError, startEngine } from "./engine-process.ts";
import { buildWhisper } from "./tiny-whisper.ts";

interface TimeFields {
  start: number;
  end: number;
}
interface Transcript {
  model: string;
  language: string | null;
  duration_seconds: number;
  segments: (TimeFields & { text: string; words: (TimeFields & { word: string })[] })[];
}
type Status = { ready: boolean; model: string | null; reason?: string };

const speech = makeWav(
  concatAudio(makeSilence(2), makeVoice(16), makeSilence(3), makeVoice(16), makeSilence(1)),
);
const shortSpeech = makeWav(concatAudio(makeSilence(1), makeVoice(4), makeSilence(1)));
const silence = makeWav(makeSilence(3));
let engine: Engine;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "speech-test-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});
afterEach(async () => {
  await engine.stop();
});

/** Waits until the recogniser has loaded or failed to. */
async function readStatus(): Promise<Status> {
  const health = async () => {
    const { ok, capabilities } = await readJson<{ ok: boolean; capabilities: { speech: Status } }>(
      await engine.fetch("/health"),
    );
    expect(ok).toBe(true);
    return capabilities.speech;
  };
  await expect.poll(health, { timeout: WATCHDOG_MS }).not.toHaveProperty("reason", "loading");
  return health();
}

async function transcribe(bytes: Buffer<ArrayBuffer>, query = ""): Promise<Transcript> {
  const response = await engine.post(`/transcribe${query}`, bytes);
  expect(response.status).toBe(200);
  return readJson<Transcript>(response);
}

async function detectSpeech(bytes: Buffer<ArrayBuffer>): Promise<TimeFields[]> {
  return (await readJson<{ intervals: TimeFields[] }>(await engine.post("/vad", bytes))).intervals;
}

/** Creates a models folder with a Whisper file. */
async function createModelsFolder(bytes: Uint8Array): Promise<string> {
  const models = await mkdtemp(join(folder, "it's: a, [model]-"));
  await mkdir(join(models, "whisper-tiny"));
  await writeFile(join(models, "whisper-tiny", "ggml-tiny.bin"), bytes);
  return models;
}

/** Loads the Vulkan loader by its name, as FFmpeg's Whisper filter does. */
function hasVulkan(): boolean {
  if (process.platform !== "linux") return true;
  try {
    process.dlopen({ exports: {} }, "libvulkan.so.1");
    return true;
  } catch (error) {
    return !String(error).includes("cannot open shared object");
  }
}

function hasPocketsphinx(): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const model = "/usr/share/pocketsphinx/model/en-us/en-us.lm.bin";
  return existsSync(model) && folders.some((path) => existsSync(join(path, "pocketsphinx_batch")));
}

const canRunWhisper = hasVulkan();
const canRunPocketsphinx = hasPocketsphinx();
if (!canRunWhisper) {
  process.stderr.write("Left out: recognition by Whisper (Debian's libvulkan1 is missing)\n");
}
if (!canRunPocketsphinx) {
  process.stderr.write("Left out: recognition by pocketsphinx (pocketsphinx-en-us is missing)\n");
}

describe("a Whisper model", () => {
  const script = { words: [" Hello", ' "you".'], start: 0.5, end: 1.5, language: 2 };

  it.skipIf(canRunWhisper)("without libvulkan reports what to install", async () => {
    engine = await startEngine({ MODELS_DIR: await createModelsFolder(buildWhisper(script)) });
    const reason = "Whisper needs libvulkan.so.1: install Debian's libvulkan1.";
    expect(await readStatus()).toEqual({ ready: false, model: "whisper-tiny", reason });
    expect(await readError(await engine.post("/transcribe", speech))).toEqual([500, "failed"]);
    expect(await detectSpeech(silence)).toEqual([]);
  });

  it.runIf(canRunWhisper)("recognises speech at the times of its intervals", async () => {
    engine = await startEngine({ MODELS_DIR: await createModelsFolder(buildWhisper(script)) });
    expect(await readStatus()).toEqual({ ready: true, model: "whisper-tiny" });
    const [transcript, intervals] = await Promise.all([transcribe(speech), detectSpeech(speech)]);
    expect(transcript).toMatchObject({
      model: "whisper-tiny",
      language: "de",
      duration_seconds: 38,
    });
    const [first, second] = [
      intervals.find(({ end }) => end > 2),
      intervals.find(({ end }) => end > 21),
    ];
    expect(transcript.segments).toEqual(
      [first?.start, second?.start].map((start = 0) => ({
        start: expect.closeTo(start + script.start),
        end: expect.closeTo(start + script.end),
        text: 'Hello "you".',
        words: [],
      })),
    );
    expect(await transcribe(speech, "?language=fr")).toMatchObject({ language: "fr" });
    const unknown = await engine.post("/transcribe?language=xx", speech);
    expect(await readError(unknown)).toEqual([400, "bad_request"]);
    expect(await transcribe(silence)).toMatchObject({ language: null, segments: [] });
  });

  it.runIf(canRunWhisper).each<[string, (whole: Buffer) => Buffer]>([
    ["truncated in its weights", (whole) => whole.subarray(0, whole.length - 100_000)],
    ["truncated before its weights", (whole) => whole.subarray(0, 100)],
    ["noise", (whole) => Buffer.from(whole.map((byte, at) => (at < 4 ? byte : (at * 37) & 255)))],
  ])("that is %s is not ready, and the engine keeps running", async (_, damage) => {
    const models = await createModelsFolder(damage(buildWhisper(script)));
    engine = await startEngine({ MODELS_DIR: models });
    const reason = expect.stringContaining("ggml-tiny.bin is damaged");
    expect(await readStatus()).toMatchObject({ ready: false, reason });
    expect(await readError(await engine.post("/transcribe", shortSpeech))).toEqual([500, "failed"]);
    expect(await detectSpeech(silence)).toEqual([]);
  });
});

it("a speech script gives each speech interval its line, whatever is installed", async () => {
  const file = join(folder, "speech.txt");
  await writeFile(file, "Hello you.\n");
  engine = await startEngine({ SPEECH_SCRIPT: file });
  expect(await readStatus()).toEqual({ ready: true, model: "scripted" });
  const [{ model, language, segments }, intervals] = [
    await transcribe(speech),
    await detectSpeech(speech),
  ];
  expect({ model, language }).toEqual({ model: "scripted", language: "en" });
  expect(intervals.length).toBeGreaterThan(1);
  expect(segments).toMatchObject([{ ...intervals[0], text: "Hello you." }]);
  expect(segments[0]?.words.map(({ word }) => word)).toEqual(["Hello", "you."]);
  expect(await transcribe(silence)).toMatchObject({ language: null, segments: [] });
});

describe("without a model", () => {
  it.runIf(canRunPocketsphinx)("pocketsphinx recognises words", async () => {
    engine = await startEngine({ POCKETSPHINX: "pocketsphinx_batch" });
    expect(await readStatus()).toEqual({ ready: true, model: "pocketsphinx-en-us" });
    const [{ language, segments }, intervals] = [
      await transcribe(shortSpeech),
      await detectSpeech(shortSpeech),
    ];
    expect([language, segments.length > 0]).toEqual(["en", true]);
    for (const { start, end, text, words } of segments) {
      expect(text).toBe(words.map(({ word }) => word).join(" "));
      expect([words[0]?.start, words.at(-1)?.end]).toEqual([start, end]);
      const middle = (start + end) / 2;
      expect(intervals.some((interval) => interval.start <= middle && middle < interval.end)).toBe(
        true,
      );
    }
    expect(await transcribe(shortSpeech, "?language=de")).toMatchObject({
      language: "en",
      segments: [],
    });
  });

  it.each([
    ["not installed", { PATH: "", POCKETSPHINX: "pocketsphinx_batch" }],
    ["turned off", { POCKETSPHINX: "" }],
  ])("and with pocketsphinx %s, transcription is rejected and the rest works", async (_, env) => {
    engine = await startEngine(env);
    const reason = expect.stringMatching(/npm run models .* pocketsphinx-en-us/);
    expect(await readStatus()).toEqual({ ready: false, model: null, reason });
    const rejected = await engine.post("/transcribe", shortSpeech);
    expect(await readError(rejected)).toEqual([501, "model_not_found"]);
    expect(await detectSpeech(shortSpeech)).not.toEqual([]);
    const language = await engine.post("/transcribe?language=english", shortSpeech);
    expect(await readError(language)).toEqual([400, "bad_request"]);
  });
});
