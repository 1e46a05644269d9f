import { basename } from "node:path";
import { buildSamplePack, type SampleFile } from "../../tools/sample/pack.ts";

export const SAMPLE_INDEX = "valley";

/** A video with a transcript, and photographs of the years 1865 and 1870. */
const NAMES = new Set(["story.mp4", "nagasaki.jpg", "alps.jpg"]);

/** Returns the files of `SAMPLE_INDEX`. */
export async function sampleFiles(): Promise<SampleFile[]> {
  const { files } = await buildSamplePack();
  return files.filter(({ path }) => NAMES.has(basename(path)));
}

/** Returns the path of a file of `SAMPLE_INDEX`. */
export async function samplePath(name: string): Promise<string> {
  const file = (await sampleFiles()).find(({ path }) => basename(path) === name);
  if (!file) throw new Error(`The sample index has no ${name}.`);
  return file.path;
}
