import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FF_ENCODER_LIBVPX_VP9, FF_ENCODER_MPEG4 } from "node-av/constants";
import sharp from "sharp";
import { drawClock } from "../../tools/sample/drawn-objects.ts";
import { photographPath } from "../../tools/sample/images.ts";
import { narrate } from "../../tools/sample/narration.ts";
import { drawText } from "../../tools/sample/text-image.ts";
import { encodeVideo } from "../../tools/sample/video.ts";
import { shiftClock, withEdits } from "../support/patched-media.ts";
import { writeAudioFiles } from "./audio-files.ts";
import { writeImageFormats } from "./image-files.ts";
import { NARRATION } from "./narration.ts";

/** Time of the first frame of H.264 in its stream: frames are stored in another order. */
const FIRST_FRAME_SECONDS = 0.2;

/** Samples a second of narration. */
const SPEECH_RATE = 16_000;
/** Time of the voice in `old.avi`. */
const OLD_VOICE_SECONDS = 60.5;

const SMALL = { width: 320, height: 180, fps: 10 } as const;

/**
 * Writes the media that tests read from the file server to a folder:
 *
 * - `clip.mp4`: 6 s, text and then a house; a tone. `truncated.mp4`: its first 300 bytes
 * - `glance.mp4`: 7 s of the house; after 3 s, `glance.jpg` (boats) for 0.8 s
 * - `speech.mp4`: 9 s of the house with two spoken sentences
 * - `house.vtt`: captions with a text of their own
 * - `vp9.mp4`: a codec that the media binding rejects. `mpeg4.mp4`: one that only a
 *   conversion makes readable.
 *   `long.mp4`: over the binding's limit of ten minutes
 * - `old.avi`: 70 s of MPEG-4, the text for 30 s and then the house; its voice begins at 60.5 s
 * - `trimmed.mov`: the house for 3 s; an edit list leaves out 3 s of text after it
 * - `cuts.mov`: 2 s of the text, then 2 s of the house before it, by an edit list
 * - `film.mkv`: `clip.mp4` as Matroska, which browsers don't play
 * - `cut.ts`: the first 70 percent of a recording of 6 s, in the middle of a packet
 * - `joined.ts`: twice 6 s of text and the house, whose clocks start at about 1,000 and 20 s
 * - `incomplete.mp4`, `incomplete.avi`: the first 70 % of `clip.mp4`, the first half of `old.avi`
 * - `words.jpg`: the text LANTERN FESTIVAL, also in the formats of `writeImageFormats`
 * - `clock.jpg`: a drawn clock, round, in the centre
 * - `boats.jpg`: a photo. `truncated.jpg`: its first 300 bytes. `rotated.jpg`: 200 × 400, stored as
 *   400 × 200 with an EXIF orientation
 * - `boats-mirror.jpg`, `boats-crop.jpg`, `boats-grey.jpg` (small), `boats-barred.jpg`: edits of
 *   the photo. `boats-all.jpg`: all edits but the bars
 */
async function writeTestMedia(folder: string): Promise<void> {
  const textImage = await drawText(["HELLO"], { width: 640, height: 360 });
  const scenes = [
    { image: textImage, seconds: 3 },
    { image: photographPath("dust-bowl-home"), seconds: 3 },
  ];
  const words = await drawText(["LANTERN", "FESTIVAL"]);
  await writeFile(join(folder, "words.jpg"), words);
  await writeImageFormats(folder, words);
  await writeFile(join(folder, "clock.jpg"), await drawClock());
  const boats = photographPath("nagasaki-boats");
  await copyFile(boats, join(folder, "boats.jpg"));
  await writeFile(join(folder, "truncated.jpg"), (await readFile(boats)).subarray(0, 300));
  await editBoats(folder, boats);
  const storedSideways = sharp(boats).resize(400, 200).withMetadata({ orientation: 6 });
  await storedSideways.jpeg().toFile(join(folder, "rotated.jpg"));
  await encodeVideo(join(folder, "clip.mp4"), scenes, { ...SMALL, audio: "tone" });
  const clip = await readFile(join(folder, "clip.mp4"));
  await writeFile(join(folder, "incomplete.mp4"), clip.subarray(0, Math.round(clip.length * 0.7)));
  await encodeVideo(join(folder, "trimmed.mov"), scenes.toReversed(), { ...SMALL, audio: "tone" });
  const whole = await readFile(join(folder, "trimmed.mov"));
  const edits = [{ duration: 3, streamStart: FIRST_FRAME_SECONDS, rate: 1 }];
  await writeFile(join(folder, "trimmed.mov"), await withEdits(whole, edits));
  const cuts = [3, 0].map((start) => {
    return { duration: 2, streamStart: start + FIRST_FRAME_SECONDS, rate: 1 };
  });
  await writeFile(join(folder, "cuts.mov"), await withEdits(whole, cuts));
  await encodeVideo(join(folder, "film.mkv"), scenes, { ...SMALL, audio: "tone" });
  await encodeVideo(join(folder, "joined.ts"), scenes, { ...SMALL, audio: "tone" });
  const recording = await readFile(join(folder, "joined.ts"));
  await writeFile(
    join(folder, "cut.ts"),
    recording.subarray(0, Math.round(recording.length * 0.7)),
  );
  const recordings = [shiftClock(recording, 1000), shiftClock(recording, 20)];
  await writeFile(join(folder, "joined.ts"), Buffer.concat(recordings));
  await writeFile(join(folder, "truncated.mp4"), clip.subarray(0, 300));
  await sharp(boats).resize(320, 180).jpeg().toFile(join(folder, "glance.jpg"));
  const glance = [
    { image: photographPath("dust-bowl-home"), seconds: 3 },
    { image: join(folder, "glance.jpg"), seconds: 0.8 },
    { image: photographPath("dust-bowl-home"), seconds: 3.2 },
  ];
  await encodeVideo(join(folder, "glance.mp4"), glance, SMALL);
  const house = [{ image: photographPath("dust-bowl-home"), seconds: 9 }];
  const voice = await narrate(NARRATION);
  await encodeVideo(join(folder, "speech.mp4"), house, { ...SMALL, audio: voice });
  const captions = "WEBVTT\n\n00:01.000 --> 00:04.000\nThe lighthouse keeper lived here.\n";
  await writeFile(join(folder, "house.vtt"), captions);
  await writeOldVideo(join(folder, "old.avi"), textImage, voice);
  const old = await readFile(join(folder, "old.avi"));
  await writeFile(join(folder, "incomplete.avi"), old.subarray(0, Math.round(old.length / 2)));
  await encodeVideo(join(folder, "long.mp4"), scenes, { ...SMALL, rounds: 101 });
  await encodeVideo(join(folder, "vp9.mp4"), scenes, {
    ...SMALL,
    encoder: FF_ENCODER_LIBVPX_VP9,
    encoderOptions: { "cpu-used": "8", deadline: "realtime" },
  });
  await encodeVideo(join(folder, "mpeg4.mp4"), [{ image: textImage, seconds: 1 }], {
    ...SMALL,
    encoder: FF_ENCODER_MPEG4,
    encoderOptions: {},
  });
}

/** Writes a video that the Worker can't read: its pieces of a minute are joined. */
async function writeOldVideo(path: string, text: Buffer, voice: Float32Array): Promise<void> {
  const scenes = [
    { image: text, seconds: 30 },
    { image: photographPath("dust-bowl-home"), seconds: 40 },
  ];
  const audio = new Float32Array(SPEECH_RATE * 70);
  audio.set(voice.subarray(0, SPEECH_RATE * 9), SPEECH_RATE * OLD_VOICE_SECONDS);
  const coding = { encoder: FF_ENCODER_MPEG4, encoderOptions: {} };
  await encodeVideo(path, scenes, { ...SMALL, ...coding, audio });
}

async function editBoats(folder: string, boats: string): Promise<void> {
  const { width, height } = await sharp(boats).metadata();
  const cropArea = (left: number, top: number, share: number) => ({
    left: Math.round(left * width),
    top: Math.round(top * height),
    width: Math.round(share * width),
    height: Math.round(share * height),
  });
  const bar = Math.round(height / 5);
  const edits = {
    mirror: sharp(boats).flop(),
    crop: sharp(boats).extract(cropArea(0.2, 0.1, 0.75)),
    grey: sharp(boats).greyscale().resize(200),
    barred: sharp(boats).extend({ top: bar, bottom: bar, background: "black" }),
    all: sharp(boats)
      .extract(cropArea(0.05, 0.1, 0.8))
      .flop()
      .greyscale(),
  };
  for (const [name, edited] of Object.entries(edits)) {
    await edited.jpeg({ quality: 60 }).toFile(join(folder, `boats-${name}.jpg`));
  }
}

const [folder] = process.argv.slice(2);
if (!folder) throw new Error("Name the folder to write to.");
await writeTestMedia(folder);
await writeAudioFiles(folder);
