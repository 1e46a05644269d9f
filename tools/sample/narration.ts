import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const FLITE_SCRIPT = join(import.meta.dirname, "flite.ts");
const WAV_HEADER_BYTES = 44;
const SAMPLE_RATE = 16_000;

/** A sentence and its start in seconds. */
export interface NarrationLine {
  start: number;
  text: string;
}

/** Synthesises the lines: mono samples at 16 kHz, with silence in between. */
export async function narrate(lines: readonly NarrationLine[]): Promise<Float32Array> {
  const spoken = await synthesize(lines.map(({ text }) => text));
  const ends = spoken.map((samples, i) => startSample(lines[i]) + samples.length);
  const narration = new Float32Array(Math.max(0, ...ends));
  for (const [i, samples] of spoken.entries()) narration.set(samples, startSample(lines[i]));
  return narration;
}

function startSample(line: NarrationLine | undefined): number {
  return Math.round((line?.start ?? 0) * SAMPLE_RATE);
}

/** Runs speech synthesis in a child process, to silence Node's warning about experimental WASI. */
async function synthesize(texts: string[]): Promise<Float32Array[]> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-speech-"));
  try {
    await writeFile(join(folder, "texts.json"), JSON.stringify(texts));
    const args = ["--disable-warning=ExperimentalWarning", FLITE_SCRIPT, folder];
    await promisify(execFile)(process.execPath, args);
    return await Promise.all(
      texts.map(async (_, i) => readSamples(await readFile(join(folder, `${i}.wav`)))),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads the samples of a WAV file with 16 bits per sample. */
function readSamples(wav: Buffer): Float32Array {
  const length = Math.floor((wav.length - WAV_HEADER_BYTES) / 2);
  return Float32Array.from(
    { length },
    (_, i) => wav.readInt16LE(WAV_HEADER_BYTES + 2 * i) / 32_768,
  );
}
