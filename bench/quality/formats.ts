import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Page } from "playwright-core";
import type { Sightline } from "sightline";
import { openFile } from "sightline/node";
import { launchBrowser } from "../../tools/browser.ts";
import { poll } from "../../tools/poll.ts";
import { photographPath } from "../../tools/sample/images.ts";
import { narrate } from "../../tools/sample/narration.ts";
import { drawText } from "../../tools/sample/text-image.ts";
import { withService } from "../../tools/service.ts";
import type { Suite } from "../../tools/suite.ts";
import { FORMAT_KINDS, FPS, writeKind } from "../format-kinds.ts";

/** A film to add, and what shall come of it; null where that isn't known. */
interface Film {
  name: string;
  path: string;
  seconds: number | null;
  cut: number | null;
  /** A word that is said in it. */
  word: string | null;
}

const SECONDS = 6;
const CUT = 3;
const LINES = [{ start: 0.5, text: "The lantern festival begins at noon." }];
const WORD = "lantern";
const MAX_FRAMES = 2; // FFmpeg writes the first frame of an AVI twice
const TOLERANCE = MAX_FRAMES / FPS;
const PLAY_MS = 30_000;
const INGEST_MS = 10 * 60_000;
const VIDEO = /\.(?:mp4|m4v|mov|mkv|webm|avi|wmv|asf|flv|mpg|vob|ts|mts|m2ts|mxf|ogv|3gp)$/i;

async function writeKinds(folder: string, log: (line: string) => void): Promise<Film[]> {
  const scenes = [
    { image: await drawText(["HELLO"], { width: 640, height: 360 }), seconds: CUT },
    { image: photographPath("dust-bowl-home"), seconds: SECONDS - CUT },
  ];
  const voice = await narrate(LINES);
  const films: Film[] = [];
  for (const [position, kind] of FORMAT_KINDS.entries()) {
    const path = join(folder, `${position}.${kind.extension}`);
    try {
      await writeKind(path, kind, scenes, voice);
    } catch (error) {
      log(`${kind.name}: FFmpeg can't write it: ${String(error)}`);
      continue;
    }
    const word = kind.audio ? WORD : null;
    films.push({ name: kind.name, path, seconds: SECONDS, cut: CUT, word });
  }
  return films;
}

async function listFilms(folder: string): Promise<Film[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => VIDEO.test(name))
    .map((name) => ({ name, path: join(folder, name), seconds: null, cut: null, word: null }));
}

/** Adds a film to an index of its own. Returns what it became. */
async function addFilm(sightline: Sightline, page: Page, film: Film, position: number) {
  const { index_name } = await sightline.indices.create({ index_name: `format-${position}` });
  const index = sightline.index(index_name);
  const media = await openFile(film.path);
  const adding = index.videos.add({ video_file: media });
  const added = await adding.catch((error: unknown) => error as Error);
  if (added instanceof Error) return { state: `refused: ${added.message}` };
  const asset = await poll(INGEST_MS, `${film.name}: its ingest`, async () => {
    const current = await index.videos.get(added.asset_id);
    return current.state === "ready" || current.state === "failed" ? current : undefined;
  });
  if (asset.state !== "ready") return { state: `${asset.error?.code}: ${asset.error?.message}` };
  const { items } = await index.videos.segments(asset.asset_id);
  const cuts = items.slice(1).map(({ start_seconds: start }) => start!);
  const speech = asset.warnings.find(({ code }) => code === "unsupported_audio_codec");
  return {
    state: "ready",
    copy: asset.working_copy?.reason ?? "",
    seconds: asset.duration_seconds!,
    cuts,
    speech: speech ? "unreadable" : await findWord(index, film.word),
    plays: await play(page, asset.media_url!, asset.duration_seconds! / 2),
  };
}

async function findWord(index: ReturnType<Sightline["index"]>, word: string | null) {
  if (word === null) return "";
  const { segments } = await index.search({ query: word, modes: ["video"] });
  const isFound = segments.some(({ evidence }) => evidence.some(({ kind }) => kind === "speech"));
  return isFound ? "found" : "not found";
}

/** Plays a film in a browser, and seeks in it. Returns `yes`, or the error of the element. */
function play(page: Page, url: string, seconds: number): Promise<string> {
  return page.evaluate(`new Promise((resolve) => {
    const video = document.createElement("video");
    const seek = () => { video.currentTime = ${seconds}; };
    video.addEventListener("error", () => resolve(video.error?.message ?? "error"));
    video.addEventListener("canplaythrough", seek, { once: true });
    video.addEventListener("seeked", () => resolve(video.videoWidth > 0 ? "yes" : "no picture"));
    setTimeout(() => resolve("no answer"), ${PLAY_MS});
    video.muted = true;
    video.preload = "auto";
    video.src = ${JSON.stringify(url)};
  })`);
}

type Outcome = Awaited<ReturnType<typeof addFilm>>;

function isRight({ seconds, cut }: Film, { state, ...found }: Outcome): boolean {
  if (state !== "ready") return false;
  const isNear = (a: number, b: number) => Math.abs(a - b) <= TOLERANCE + 1e-6;
  const hasLength = seconds === null || isNear(found.seconds!, seconds);
  return hasLength && (cut === null || found.cuts!.some((start) => isNear(start, cut)));
}

export const suite: Suite = {
  summary:
    "films of some forty kinds, and those of <DIR>/formats: ready, length, cuts, speech, play",
  async run(options) {
    const { dataDir, log } = options;
    const folder = await mkdtemp(join(tmpdir(), "sightline-formats-"));
    const browser = await launchBrowser();
    try {
      const films = [
        ...(await writeKinds(folder, log)),
        ...(await listFilms(join(dataDir, "formats"))),
      ];
      const page = await browser.newPage();
      const table = await withService(options, async ({ sightline, url }) => {
        await page.goto(url);
        const rows: Record<string, string>[] = [];
        for (const [position, film] of films.entries()) {
          const outcome = await addFilm(sightline, page, film, position);
          const { state, copy = "", seconds, cuts = [], speech = "", plays = "" } = outcome;
          const row = {
            film: film.name,
            extension: extname(film.path).slice(1),
            state: state.slice(0, 60),
            converted: copy,
            seconds: seconds?.toFixed(3) ?? "",
            cuts: cuts.map((cut) => cut.toFixed(2)).join(" "),
            speech,
            plays,
            right: isRight(film, outcome) ? "yes" : "no",
          };
          log(Object.values(row).join(" | "));
          rows.push(row);
        }
        return rows;
      });
      const problems = table.filter(({ right }) => right !== "yes").length;
      return { table, json: { films: table.length, wrong: problems, table }, problems };
    } finally {
      await browser.close();
      await rm(folder, { recursive: true });
    }
  },
};
