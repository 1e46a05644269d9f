import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeAudio } from "../../tools/sample/audio.ts";
import { narrate } from "../../tools/sample/narration.ts";
import { NARRATION } from "./narration.ts";

const RATE = 16_000;
const COVER = { width: 64, height: 36 };

/**
 * Writes sound without pictures to a folder:
 *
 * - `speech.mp3`, `.m4a`, `.wav`, `.flac`, `.ogg`, `.opus`, `.aiff`, `.ac3` and `.wma`: 9 s with
 *   two spoken sentences
 * - `chained.ogg`: `speech.ogg` twice, as two links. `alac.mov`: the speech in Apple's codec
 * - `talk.mp3`: 70 s, a sentence at 0.5, 20 and 45 s
 * - `tone.wav`: 12 s, a tone that grows louder; `tone-short.wav`: its first 2 s
 * - `cover.mp4`: the speech, and a cover picture
 */
export async function writeAudioFiles(folder: string): Promise<void> {
  const voice = new Float32Array(9 * RATE);
  voice.set((await narrate(NARRATION)).subarray(0, voice.length));
  for (const extension of "mp3 m4a wav flac ogg opus aiff ac3 wma".split(" ")) {
    await encodeAudio(join(folder, `speech.${extension}`), voice);
  }
  await encodeAudio(join(folder, "alac.mov"), voice);
  const ogg = await readFile(join(folder, "speech.ogg"));
  await writeFile(join(folder, "chained.ogg"), Buffer.concat([ogg, ogg]));
  const rgb = Buffer.alloc(COVER.width * COVER.height * 3, 200);
  await encodeAudio(join(folder, "cover.mp4"), voice, { ...COVER, rgb });
  const talk = new Float32Array(70 * RATE);
  const [first, second] = NARRATION;
  const starts = [
    { ...first, start: 0.5 },
    { ...second, start: 20 },
    { ...first, start: 45 },
  ];
  talk.set(await narrate(starts));
  await encodeAudio(join(folder, "talk.mp3"), talk);
  const tone = Float32Array.from({ length: 12 * RATE }, (_, at) => {
    return (at / (12 * RATE)) * 0.8 * Math.sin((2 * Math.PI * 440 * at) / RATE);
  });
  await encodeAudio(join(folder, "tone.wav"), tone);
  await encodeAudio(join(folder, "tone-short.wav"), tone.subarray(0, 2 * RATE));
}
