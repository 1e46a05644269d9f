import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FF_ENCODER_LIBVPX_VP9, FF_ENCODER_MPEG4 } from "node-av/constants";
import sharp from "sharp";
import { encodeFilm } from "../../scripts/sample/film.ts";
import { drawClock } from "../../scripts/sample/drawn-objects.ts";
import { narrate } from "../../scripts/sample/narration.ts";
import { photograph } from "../../scripts/sample/pictures.ts";
import { drawWords } from "../../scripts/sample/words-picture.ts";

const SMALL = { width: 320, height: 180, fps: 10 } as const;

/**
 * Run with a folder. Makes the media that tests read from the file server:
 *
 * - `clip.mp4`: 6 s of words, then a house; a tone. `cut.mp4`: its first 300 bytes
 * - `glance.mp4`: 7 s of the house, after three with a glance at boats: `glance.jpg`
 * - `told.mp4`: 9 s of the house, over which a voice says two sentences
 * - `house.vtt`: captions of another voice, that only they have
 * - `vp9.mp4`: what the media binding refuses. `mpeg4.mp4`: what nobody decodes. `long.mp4`: more than its ten minutes
 * - `words.jpg`: LANTERN FESTIVAL
 * - `clock.jpg`: a drawn clock, round, in the middle
 * - `boats.jpg`: a photograph. `cut.jpg`: its first 300 bytes. `turned.jpg`: 200 × 400, stored lying
 * - `boats-mirror.jpg`, `boats-crop.jpg`, `boats-grey.jpg` (small), `boats-barred.jpg`, `boats-all.jpg`: the
 *   photograph edited, and edited in all of these ways but the bars
 */
async function makeFilms(folder: string): Promise<void> {
  const words = await drawWords(["HELLO"], { width: 640, height: 360 });
  const scenes = [
    { picture: words, seconds: 3 },
    { picture: photograph("dust-bowl-home"), seconds: 3 },
  ];
  await writeFile(join(folder, "words.jpg"), await drawWords(["LANTERN", "FESTIVAL"]));
  await writeFile(join(folder, "clock.jpg"), await drawClock());
  const boats = photograph("nagasaki-boats");
  await copyFile(boats, join(folder, "boats.jpg"));
  await writeFile(join(folder, "cut.jpg"), (await readFile(boats)).subarray(0, 300));
  await editBoats(folder, boats);
  const lying = sharp(boats).resize(400, 200).withMetadata({ orientation: 6 });
  await lying.jpeg().toFile(join(folder, "turned.jpg"));
  await encodeFilm(join(folder, "clip.mp4"), scenes, { ...SMALL, audio: "tone" });
  const clip = await readFile(join(folder, "clip.mp4"));
  await writeFile(join(folder, "cut.mp4"), clip.subarray(0, 300));
  await sharp(boats).resize(320, 180).jpeg().toFile(join(folder, "glance.jpg"));
  const glance = [
    { picture: photograph("dust-bowl-home"), seconds: 3 },
    { picture: join(folder, "glance.jpg"), seconds: 0.8 },
    { picture: photograph("dust-bowl-home"), seconds: 3.2 },
  ];
  await encodeFilm(join(folder, "glance.mp4"), glance, SMALL);
  const house = [{ picture: photograph("dust-bowl-home"), seconds: 9 }];
  const voice = await narrate([
    { start: 0.5, text: "The old carpenter built this house alone." },
    { start: 5, text: "Every window looks toward the river." },
  ]);
  await encodeFilm(join(folder, "told.mp4"), house, { ...SMALL, audio: voice });
  const captions = "WEBVTT\n\n00:01.000 --> 00:04.000\nThe lighthouse keeper lived here.\n";
  await writeFile(join(folder, "house.vtt"), captions);
  await encodeFilm(join(folder, "long.mp4"), scenes, { ...SMALL, rounds: 101 });
  await encodeFilm(join(folder, "vp9.mp4"), scenes, {
    ...SMALL,
    encoder: FF_ENCODER_LIBVPX_VP9,
    encoderOptions: { "cpu-used": "8", deadline: "realtime" },
  });
  await encodeFilm(join(folder, "mpeg4.mp4"), [{ picture: words, seconds: 1 }], {
    ...SMALL,
    encoder: FF_ENCODER_MPEG4,
    encoderOptions: {},
  });
}

async function editBoats(folder: string, boats: string): Promise<void> {
  const { width, height } = await sharp(boats).metadata();
  const part = (left: number, top: number, share: number) => ({
    left: Math.round(left * width),
    top: Math.round(top * height),
    width: Math.round(share * width),
    height: Math.round(share * height),
  });
  const bar = Math.round(height / 5);
  const edits = {
    mirror: sharp(boats).flop(),
    crop: sharp(boats).extract(part(0.2, 0.1, 0.75)),
    grey: sharp(boats).greyscale().resize(200),
    barred: sharp(boats).extend({ top: bar, bottom: bar, background: "black" }),
    all: sharp(boats)
      .extract(part(0.05, 0.1, 0.8))
      .flop()
      .greyscale(),
  };
  for (const [name, edited] of Object.entries(edits)) {
    await edited.jpeg({ quality: 60 }).toFile(join(folder, `boats-${name}.jpg`));
  }
}

const [folder] = process.argv.slice(2);
if (!folder) throw new Error("Name the folder to write to.");
await makeFilms(folder);
