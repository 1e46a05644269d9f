import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Engine, readJson, readRefusal, startEngine } from "./engine-process.ts";
import { joinSounds, makeSilence, makeVoice, makeWav } from "./sound-file.ts";
import { buildWhisper } from "./tiny-whisper.ts";

interface Timed {
  start: number;
  end: number;
}
interface Transcript {
  model: string;
  language: string | null;
  duration_seconds: number;
  segments: (Timed & { text: string; words: (Timed & { word: string })[] })[];
}
type Status = { ready: boolean; model: string | null; why?: string };

const speech = makeWav(
  joinSounds(makeSilence(2), makeVoice(16), makeSilence(3), makeVoice(16), makeSilence(1)),
);
const remark = makeWav(joinSounds(makeSilence(1), makeVoice(4), makeSilence(1)));
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

/** Once it is known whether the recogniser can be loaded. */
async function readStatus(): Promise<Status> {
  const health = async () => {
    const { ok, abilities } = await readJson<{ ok: boolean; abilities: { speech: Status } }>(
      await engine.fetch("/health"),
    );
    expect(ok).toBe(true);
    return abilities.speech;
  };
  await expect.poll(health, { timeout: 20_000 }).not.toHaveProperty("why", "loading");
  return health();
}

async function transcribe(bytes: Buffer<ArrayBuffer>, query = ""): Promise<Transcript> {
  const response = await engine.post(`/transcribe${query}`, bytes);
  expect(response.status).toBe(200);
  return readJson<Transcript>(response);
}

async function findVoice(bytes: Buffer<ArrayBuffer>): Promise<Timed[]> {
  return (await readJson<{ spans: Timed[] }>(await engine.post("/voice", bytes))).spans;
}

/** A folder of models with this file in it. */
async function placeWhisper(bytes: Uint8Array): Promise<string> {
  const models = await mkdtemp(join(folder, "it's: a, [model]-"));
  await mkdir(join(models, "whisper-tiny"));
  await writeFile(join(models, "whisper-tiny", "ggml-tiny.bin"), bytes);
  return models;
}

/** Looks for it as the system does. */
function hasVulkan(): boolean {
  if (process.platform !== "linux") return true;
  try {
    process.dlopen({ exports: {} }, "libvulkan.so.1");
    return true;
  } catch (error) {
    return !String(error).includes("cannot open shared object");
  }
}

function isInstalled(): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const model = "/usr/share/pocketsphinx/model/en-us/en-us.lm.bin";
  return existsSync(model) && folders.some((one) => existsSync(join(one, "pocketsphinx_batch")));
}

describe("a Whisper model", () => {
  const script = { words: [" Hello", ' "you".'], start: 0.5, end: 1.5, language: 2 };

  it("is loaded where there is one, and says what it needs where it can't be", async () => {
    engine = await startEngine({ MODELS_DIR: await placeWhisper(buildWhisper(script)) });
    const status = await readStatus();
    if (!hasVulkan()) {
      const why = "Whisper needs libvulkan.so.1: install Debian's libvulkan1.";
      expect(status).toEqual({ ready: false, model: "whisper-tiny", why });
      expect(await readRefusal(await engine.post("/transcribe", speech))).toEqual([500, "failed"]);
      return;
    }
    expect(status).toEqual({ ready: true, model: "whisper-tiny" });
    const [heard, spans] = await Promise.all([transcribe(speech), findVoice(speech)]);
    expect(heard).toMatchObject({ model: "whisper-tiny", language: "de", duration_seconds: 38 });
    const [first, second] = [spans.find(({ end }) => end > 2), spans.find(({ end }) => end > 21)];
    expect(heard.segments).toEqual(
      [first?.start, second?.start].map((start = 0) => ({
        start: expect.closeTo(start + script.start),
        end: expect.closeTo(start + script.end),
        text: 'Hello "you".',
        words: [],
      })),
    );
    expect(await transcribe(speech, "?language=fr")).toMatchObject({ language: "fr" });
    const unknown = await engine.post("/transcribe?language=xx", speech);
    expect(await readRefusal(unknown)).toEqual([400, "bad_request"]);
    expect(await transcribe(silence)).toMatchObject({ language: null, segments: [] });
  });

  it.each<[string, (whole: Buffer) => Buffer]>([
    ["cut off in its weights", (whole) => whole.subarray(0, whole.length - 100_000)],
    ["cut off before them", (whole) => whole.subarray(0, 100)],
    ["noise", (whole) => Buffer.from(whole.map((byte, at) => (at < 4 ? byte : (at * 37) & 255)))],
  ])("that is %s is not ready, and the engine lives", async (_, damage) => {
    const models = await placeWhisper(damage(buildWhisper(script)));
    engine = await startEngine({ MODELS_DIR: models });
    const why = hasVulkan() ? "ggml-tiny.bin is damaged" : "Whisper needs libvulkan.so.1";
    expect(await readStatus()).toMatchObject({ ready: false, why: expect.stringContaining(why) });
    expect(await readRefusal(await engine.post("/transcribe", remark))).toEqual([500, "failed"]);
    expect(await findVoice(silence)).toEqual([]);
  });
});

describe("without a model", () => {
  it("what is installed recognises words", async () => {
    engine = await startEngine();
    const status = await readStatus();
    if (!isInstalled()) {
      expect(status).toMatchObject({ ready: false, model: null });
      return;
    }
    expect(status).toEqual({ ready: true, model: "pocketsphinx-en-us" });
    const [{ language, segments }, spans] = [await transcribe(remark), await findVoice(remark)];
    expect([language, segments.length > 0]).toEqual(["en", true]);
    for (const { start, end, text, words } of segments) {
      expect(text).toBe(words.map(({ word }) => word).join(" "));
      expect([words[0]?.start, words.at(-1)?.end]).toEqual([start, end]);
      const middle = (start + end) / 2;
      expect(spans.some((span) => span.start <= middle && middle < span.end)).toBe(true);
    }
    expect(await transcribe(remark, "?language=de")).toMatchObject({
      language: "en",
      segments: [],
    });
  });

  it("and with nothing installed the ability is absent, and the rest of the engine is well", async () => {
    engine = await startEngine({ PATH: "" });
    const why = expect.stringMatching(/npm run models .* pocketsphinx-en-us/);
    expect(await readStatus()).toEqual({ ready: false, model: null, why });
    const refused = await engine.post("/transcribe", remark);
    expect(await readRefusal(refused)).toEqual([501, "model_missing"]);
    expect(await findVoice(remark)).not.toEqual([]);
    const language = await engine.post("/transcribe?language=english", remark);
    expect(await readRefusal(language)).toEqual([400, "bad_request"]);
  });
});
