import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const SPEAKER = join(import.meta.dirname, "flite.ts");
const WAV_HEADER = 44;
const RATE = 16_000;

/** A sentence, and when it begins, in seconds. */
export interface Line {
  start: number;
  text: string;
}

/** A voice that reads the lines: mono samples at 16 kHz, silence in between. */
export async function narrate(lines: readonly Line[]): Promise<Float32Array> {
  const spoken = await speak(lines.map(({ text }) => text));
  const ends = spoken.map((samples, i) => startOf(lines[i]) + samples.length);
  const narration = new Float32Array(Math.max(0, ...ends));
  for (const [i, samples] of spoken.entries()) narration.set(samples, startOf(lines[i]));
  return narration;
}

function startOf(line: Line | undefined): number {
  return Math.round((line?.start ?? 0) * RATE);
}

/** In a process of its own: WASI in Node warns that it is young. */
async function speak(texts: string[]): Promise<Float32Array[]> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-speech-"));
  try {
    await writeFile(join(folder, "texts.json"), JSON.stringify(texts));
    const args = ["--disable-warning=ExperimentalWarning", SPEAKER, folder];
    await promisify(execFile)(process.execPath, args);
    return await Promise.all(
      texts.map(async (_, i) => readSamples(await readFile(join(folder, `${i}.wav`)))),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Of a WAV file with 16 bits a sample. */
function readSamples(wav: Buffer): Float32Array {
  const length = Math.floor((wav.length - WAV_HEADER) / 2);
  return Float32Array.from({ length }, (_, i) => wav.readInt16LE(WAV_HEADER + 2 * i) / 32_768);
}
