import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Page } from "playwright-core";
import type { Asset, Sightline } from "sightline";
import { openFile } from "sightline/node";
import { launchBrowser } from "../../tools/browser.ts";
import { poll } from "../../tools/poll.ts";
import { encodeAudio } from "../../tools/sample/audio.ts";
import { photographPath } from "../../tools/sample/images.ts";
import { narrate } from "../../tools/sample/narration.ts";
import { drawText } from "../../tools/sample/text-image.ts";
import { withService } from "../../tools/service.ts";
import type { Suite } from "../../tools/suite.ts";
import { FORMAT_KINDS, FPS, SIZE, AUDIO_EXTENSIONS, writeKind } from "../format-kinds.ts";

/** A film or sound to add, and what shall come of it; null where that isn't known. */
interface MediaCase {
  name: string;
  path: string;
  seconds: number | null;
  cut: number | null;
  /** A word that is said in it. */
  word: string | null;
  /** Size as it is shown, and text on its first screen. */
  size: { width: number; height: number } | null;
  text: string | null;
}

const SECONDS = 6;
const CUT = 3;
const LINES = [{ start: 0.5, text: "The old carpenter built this house alone." }];
const WORD = "carpenter";
const TEXT = "HELLO";
const TOLERANCE = 1 / FPS;
/** A frame of sound, which codecs don't cut. */
const AUDIO_TOLERANCE = 0.1;
const PLAY_MS = 30_000;
const INGEST_MS = 10 * 60_000;
const SPEECH_RATE = 16_000;
const VIDEO_FILE =
  /\.(?:mp4|m4v|mov|mkv|webm|avi|wmv|asf|flv|mpg|vob|ts|mts|m2ts|mxf|ogv|3gp|rm|dv)$/i;
const AUDIO_FILE = /\.(?:mp3|m4a|m4b|wav|flac|ogg|opus|aac|aiff?|amr|ac3|wma|wv|ape)$/i;

async function writeFilms(folder: string, log: (line: string) => void): Promise<MediaCase[]> {
  const scenesAt = async (size: { width: number; height: number }) => [
    { image: await drawText([TEXT], size), seconds: CUT },
    { image: photographPath("dust-bowl-home"), seconds: SECONDS - CUT },
  ];
  const voice = await narrate(LINES);
  const films: MediaCase[] = [];
  for (const [position, kind] of FORMAT_KINDS.entries()) {
    const { name, extension, audio, size = SIZE } = kind;
    const path = join(folder, `${position}.${extension}`);
    try {
      await writeKind(path, kind, await scenesAt(size), voice);
    } catch (error) {
      log(`${name}: FFmpeg can't write it: ${String(error)}`);
      continue;
    }
    const word = audio && WORD;
    films.push({ name, path, seconds: SECONDS, cut: CUT, word, size, text: TEXT });
  }
  return films;
}

async function writeAudioOnly(folder: string): Promise<MediaCase[]> {
  const voice = new Float32Array(SECONDS * SPEECH_RATE);
  voice.set((await narrate(LINES)).subarray(0, voice.length));
  const cases: MediaCase[] = [];
  for (const extension of AUDIO_EXTENSIONS) {
    const path = join(folder, `sound.${extension}`);
    await encodeAudio(path, voice);
    const name = `sound, ${extension}`;
    cases.push({ name, path, seconds: SECONDS, cut: null, word: WORD, size: null, text: null });
  }
  return cases;
}

async function listMedia(folder: string): Promise<MediaCase[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => VIDEO_FILE.test(name) || AUDIO_FILE.test(name))
    .map((name) => {
      const path = join(folder, name);
      return { name, path, seconds: null, cut: null, word: null, size: null, text: null };
    });
}

/** Adds a file to an index of its own. Returns what it became, with its playable copy. */
async function addMedia(sightline: Sightline, page: Page, media: MediaCase, position: number) {
  const { index_name } = await sightline.indices.create({ index_name: `format-${position}` });
  const index = sightline.index(index_name);
  const adding = index.videos.add({ video_file: await openFile(media.path) });
  const added = await adding.catch((error: unknown) => error as Error);
  if (added instanceof Error) return { state: `refused: ${added.message}` };
  const ready = await poll(INGEST_MS, `${media.name}: its ingest`, async () => {
    const current = await index.videos.get(added.asset_id);
    return current.state === "ready" || current.state === "failed" ? current : undefined;
  });
  if (ready.state !== "ready") return { state: `${ready.error?.code}: ${ready.error?.message}` };
  await poll(INGEST_MS, `${media.name}: its copy`, async () => {
    const { items } = await sightline.jobs.list();
    return items.every(({ state }) => state !== "queued" && state !== "running") || undefined;
  });
  const asset = await index.videos.get(ready.asset_id);
  const { items: segments } = await index.videos.segments(asset.asset_id);
  return {
    state: "ready",
    copy: asset.working_copy?.reason ?? "",
    seconds: asset.duration_seconds!,
    size: asset.width === null ? "" : `${asset.width} × ${asset.height}`,
    text: segments[0]!.on_screen_text,
    cuts: segments.slice(1).map(({ start_seconds: start }) => start!),
    speech: asset.warnings.some(({ code }) => code === "model_not_found")
      ? "no recogniser"
      : await findWord(index, media.word),
    plays: await play(page, asset, asset.duration_seconds! / 2),
  };
}

async function findWord(index: ReturnType<Sightline["index"]>, word: string | null) {
  if (word === null) return "";
  const { segments } = await index.search(word);
  const isFound = segments.some(({ evidence }) => evidence.some(({ kind }) => kind === "speech"));
  return isFound ? "found" : "not found";
}

/** Plays a file in a browser, and seeks in it. Returns `yes`, or the error of the element. */
function play(
  page: Page,
  { media_url: url, has_video: hasVideo }: Pick<Asset, "media_url" | "has_video">,
  seconds: number,
): Promise<string> {
  return page.evaluate(`new Promise((resolve) => {
    const video = document.createElement("video");
    const seek = () => { video.currentTime = ${seconds}; };
    video.addEventListener("error", () => resolve(video.error?.message ?? "error"));
    video.addEventListener("canplaythrough", seek, { once: true });
    video.addEventListener("seeked", () => resolve(video.videoWidth > 0 || !${hasVideo} ? "yes" : "no picture"));
    setTimeout(() => resolve("no answer"), ${PLAY_MS});
    video.muted = true;
    video.preload = "auto";
    video.src = ${JSON.stringify(url)};
  })`);
}

type Outcome = Awaited<ReturnType<typeof addMedia>>;

/** Lists what isn't as it should be. */
function findFaults(media: MediaCase, { state, ...found }: Outcome): string[] {
  if (state !== "ready") return ["state"];
  const { seconds, cut, word, size, text } = media;
  const tolerance = found.size === "" ? AUDIO_TOLERANCE : TOLERANCE;
  const isNear = (a: number, b: number) => Math.abs(a - b) <= tolerance + 1e-6;
  const isRight = {
    length: seconds === null || isNear(found.seconds!, seconds),
    cut: cut === null || found.cuts!.some((start) => isNear(start, cut)),
    speech: word === null || found.speech !== "not found",
    size: size === null || found.size === `${size.width} × ${size.height}`,
    text: text === null || found.text!.includes(text),
    play: found.plays === "yes",
  };
  return Object.entries(isRight).flatMap(([name, is]) => (is ? [] : [name]));
}

export const suite: Suite = {
  summary:
    "some sixty kinds of films and sound, and those of <DIR>/formats: ready, length, cuts, size, " +
    "text, speech, play",
  async run(options) {
    const { dataDir, log } = options;
    const folder = await mkdtemp(join(tmpdir(), "sightline-formats-"));
    const browser = await launchBrowser();
    try {
      const cases = [
        ...(await writeFilms(folder, log)),
        ...(await writeAudioOnly(folder)),
        ...(await listMedia(join(dataDir, "formats"))),
      ];
      const page = await browser.newPage();
      const table = await withService(options, async ({ sightline, url }) => {
        await page.goto(url);
        const rows: Record<string, string>[] = [];
        for (const [position, media] of cases.entries()) {
          const outcome = await addMedia(sightline, page, media, position);
          const { state, copy = "", seconds, cuts = [] } = outcome;
          const { size = "", speech = "", plays = "" } = outcome;
          const row = {
            file: media.name,
            extension: extname(media.path).slice(1),
            state: state.slice(0, 60),
            copy,
            seconds: seconds?.toFixed(3) ?? "",
            cuts: cuts.map((cut) => cut.toFixed(2)).join(" "),
            size,
            speech,
            plays,
            wrong: findFaults(media, outcome).join(", "),
          };
          log(Object.values(row).join(" | "));
          rows.push(row);
        }
        return rows;
      });
      const problems = table.filter(({ wrong }) => wrong !== "").length;
      return { table, json: { files: table.length, wrong: problems, table }, problems };
    } finally {
      await browser.close();
      await rm(folder, { recursive: true });
    }
  },
};
