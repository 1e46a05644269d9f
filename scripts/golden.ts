import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { NewWatch } from "sightline";
import { drawScenes } from "../tools/calibration/drawn-scenes.ts";
import { addFile } from "../tools/ingest-files.ts";
import type { MediaFile } from "../tools/media-files.ts";
import { createRandom } from "../tools/random-numbers.ts";
import { buildSamplePack } from "../tools/sample/pack.ts";
import { encodeVideo } from "../tools/sample/video.ts";
import { type Service, withService } from "../tools/service.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";

const USAGE = `Usage: npm run golden -- record FILE | compare FILE FILE

Records what a local service answers to searches, conditions, sequences, facets, counts,
watches, questions, walks and exports, over the sample pack and generated films, with ids,
times and tokens replaced. Comparing lists what differs between two such files.
`;
const INDEX = "golden";
const FILMS = { count: 3, scenes: 6, sceneSeconds: 4, seed: 62 };
/** Longest wait for the matches of a watch. */
const MATCHES_MS = 30_000;
const DAY_MS = 86_400_000;
const SEARCHES: object[] = [
  ...["glacier", "lantern", "sourdough", "Saturn", "boat", "clock"].map((query) => ({ query })),
  ...["who built the cabin", "carpentr", "zeppelin over the opera"].map((query) => ({ query })),
  { query: '"red torch" -gloves' },
  { query: "two fish on yellow sand", top_k: 10 },
  { query: "in the snow", group_by: "asset" },
  { query: "sea", modes: ["image"], top_p: 0.5 },
  { query: "cabin", modes: ["speech"], facets: ["asset_type", "label"] },
  { query: "boat", filter: { title: "nagasaki.jpg" }, use_boxes: true, use_masks: true },
  { query: "sea", all: ["boat"] },
  { query: "cabin", none: ["carpenter"], scope_seconds: 30 },
  { query: "night", all: ["stars"], none: ["snow"] },
  { sequence: ["glacier", "carpenter"], within_seconds: 60 },
  { sequence: ["wild onion", "kitchen", "until next time"], within_seconds: 120 },
];
const COUNTS: object[] = [
  {},
  { unit: "seconds", group_by: "asset" },
  { group_by: "label", top: 5 },
  { query: "cabin", group_by: "asset" },
  { query: "snow", unit: "assets" },
  { query: "sea", unit: "seconds", group_by: "asset" },
];

const QUESTIONS = ["Who constructed the cabin?", "What colour is it?", "When does Saturn rise?"];

const WATCHES: NewWatch[] = [
  { name: "umbrella", query: "umbrella", min_probability: 0.5 },
  { name: "snow", query: "in the snow", min_probability: 0.5 },
  { name: "spoken", query: "orange hat", modes: ["speech"], min_probability: 0.5 },
];

/** Writes films of drawn scenes, whose captions are spoken. */
async function writeFilms(folder: string): Promise<MediaFile[]> {
  const scenes = await drawScenes(FILMS.count * FILMS.scenes, createRandom(FILMS.seed));
  const files: MediaFile[] = [];
  for (let film = 0; film < FILMS.count; film++) {
    const shown = scenes.splice(0, FILMS.scenes);
    const path = join(folder, `film-${film}.mp4`);
    const images = shown.map((_, i) => join(folder, `scene-${film}-${i}.jpg`));
    await Promise.all(images.map((image, i) => writeFile(image, shown[i]!.image)));
    const seconds = FILMS.sceneSeconds;
    const options = { width: 384, height: 384 };
    await encodeVideo(
      path,
      images.map((image) => ({ image, seconds })),
      options,
    );
    const cues = shown.map(({ captions }, i) => {
      return { start: (i + 0.1) * seconds, end: (i + 0.9) * seconds, text: captions[0]! };
    });
    const transcript = `${path}.json`;
    await writeFile(transcript, JSON.stringify(cues));
    files.push({ path, kind: "video", transcript, metadata: { film } });
  }
  return files;
}

/** Requests the journeys and returns what they answered, by name. */
async function record(service: Service, folder: string): Promise<string> {
  const { sightline, url, key } = service;
  const startedAt = Date.now();
  const responses: Record<string, unknown> = {};
  const names = new Map<string, string>();
  const run = async (name: string, path: string, body?: object) => {
    const response = await fetch(`${url}/index/${INDEX}${path}`, {
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const lines = text.trim().split("\n");
    const content = text.startsWith("{") ? lines.map((line) => JSON.parse(line) as unknown) : lines;
    responses[name] = { status: response.status, content };
    return text;
  };
  await sightline.indices.create({ index_name: INDEX });
  const index = sightline.index(INDEX);
  const videos: { id: string; title: string }[] = [];
  const add = async (files: MediaFile[]) => {
    const ids = [];
    for (const file of files) ids.push((await addFile(index, file)).asset_id); // ids in this order
    for (const { asset_id: id, title, asset_type: type } of await index.waitUntilReady(ids)) {
      names.set(id, `<${title}>`);
      if (type !== "video") continue;
      videos.push({ id, title });
      let at = 0;
      for await (const { segment_id: segment } of index.videos.segments(id)) {
        names.set(segment, `<${title} ${at++}>`);
      }
    }
  };
  const films = await writeFilms(folder);
  await add([...(await buildSamplePack()).files, ...films.slice(0, -1)]);
  const watches = [];
  for (const watch of WATCHES) watches.push(await index.watches.create(watch));
  await add(films.slice(-1));

  for (const { id, title } of videos) {
    await run(`segments of ${title}`, `/video/${id}/segments`);
    await run(`transcript of ${title}`, `/video/${id}/transcript?format=vtt`);
    await run(`EDL of ${title}`, `/video/${id}/edl`);
  }
  const moments = videos.map(({ id }) => ({ asset_id: id, start_seconds: 1, end_seconds: 4 }));
  await run("EDL of moments", "/edl", { moments, title: "Golden" });
  for (const format of ["edl", "fcpxml", "premiere_xml", "otio", "markers_csv", "markers_edl"]) {
    await run(`export as ${format}`, "/exports", { format, fps: 25, search: { query: "a dog" } });
  }
  for (const body of SEARCHES) await run(`search ${JSON.stringify(body)}`, "/search", body);
  for (const body of COUNTS) await run(`count ${JSON.stringify(body)}`, "/aggregate", body);
  for (const question of QUESTIONS) {
    const path = `query=${encodeURIComponent(question)}`;
    await run(`answer ${question}`, `/answer?${path}`);
    await run(`answer of one video ${question}`, `/${videos[0]!.id}/answer_vqa?${path}`);
  }
  const deadline = Date.now() + MATCHES_MS;
  for (const { watch_id: id, name } of watches) {
    const read = () => run(`matches of ${name}`, `/watches/${id}/matches`);
    while (!(await read()).includes("segment_id") && Date.now() < deadline) await wait(500);
    const { job_id: job } = await index.watches.preview(id);
    responses[`preview of ${name}`] = (await sightline.jobs.wait(job)).result;
  }
  await run("assets", "?limit=100");
  await run("walk", "/traverse?limit=100");
  await run("archive", "/export");

  const isNow = (time: number) => Math.abs(time - startedAt) < DAY_MS;
  const replace = (text: string) =>
    text
      .replaceAll(url, "<service>")
      .replaceAll(/(?<=\/media\/)[\w-]+|whsec_[\w+/=]+/g, "<token>")
      .replaceAll(/\b[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}/g, (id) => names.get(id) ?? id.slice(0, 4))
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) =>
        isNow(Date.parse(time)) ? "<time>" : time,
      );
  const toPlain = (name: string, value: unknown) => {
    if (name === "next_cursor" && value !== null) return "<cursor>";
    if (typeof value === "number" && isNow(value)) return "<time>";
    return typeof value === "string" ? replace(value) : value;
  };
  return JSON.stringify(responses, toPlain, 1);
}

/** Lists the leaves of JSON by their paths. */
function flatten(value: unknown, path = "", leaves = new Map<string, unknown>()) {
  if (typeof value !== "object" || value === null) return leaves.set(path, value);
  for (const [key, item] of Object.entries(value)) flatten(item, `${path} / ${key}`, leaves);
  return leaves;
}

async function compare(one: string, other: string): Promise<string[]> {
  const read = async (file: string) => flatten(JSON.parse(await readFile(file, "utf8")));
  const [before, after] = [await read(one), await read(other)];
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    return was === is ? [] : [`${path}: ${JSON.stringify(was)} → ${JSON.stringify(is)}`];
  });
}

const [command, file = "", other = ""] = process.argv.slice(2);
if (command === "record" && file !== "") {
  const folder = await mkdtemp(join(tmpdir(), `${basename(file)}-`));
  const options = { log: (line: string) => console.error(line), signal: onInterrupt() };
  try {
    await writeFile(file, await withService(options, (service) => record(service, folder)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
} else if (command === "compare" && other !== "") {
  const differences = await compare(file, other);
  console.log(differences.join("\n"));
  console.log(`${differences.length} differences`);
  process.exitCode = differences.length > 0 ? 1 : 0;
} else {
  process.stderr.write(USAGE);
  process.exitCode = 2;
}
