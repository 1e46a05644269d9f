import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { buildSamplePack } from "../../tools/sample/pack.ts";

/** A file as a browser's form has it; unlike on a disk, its name may be of any length. */
export interface FormFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** Name of an index of the greatest length, without a place to break. */
export const AWKWARD_INDEX = "W".repeat(64);

/** File names that break layouts: long, unspaced, right to left, with emoji, with markup. */
const NAMES = {
  "story.mp4": `IMG_${"20261123".repeat(25)}.mp4`,
  "slides.mp4": `${"山の上の古い天文台で撮影した星空の観察会".repeat(8)}.mp4`,
  "poster.jpg": `${"עותק של סרטון הטיול המשפחתי הארוך ביותר — الجزء الثاني ".repeat(3)}.jpg`,
  "nagasaki.jpg": `${"👩‍👩‍👧‍👦🏔️🇨🇭".repeat(12)}.jpg`,
  "notice.jpg": "<img src=x onerror=alert(1)>&amp;<b>bold<i>.jpg",
};

/** Returns videos and images of the sample pack with awkward names, without transcripts. */
export async function awkwardFiles(): Promise<FormFile[]> {
  const { files } = await buildSamplePack();
  const paths = new Map(files.map(({ path }) => [basename(path), path]));
  return Promise.all(
    Object.entries(NAMES).map(async ([file, name]) => ({
      name,
      mimeType: file.endsWith(".mp4") ? "video/mp4" : "image/jpeg",
      buffer: await readFile(paths.get(file)!),
    })),
  );
}

/** Returns the start of a video, which is accepted and then fails. */
export function truncated({ name, mimeType, buffer }: FormFile): FormFile {
  return { name: `A part of ${name}`, mimeType, buffer: buffer.subarray(0, 32) };
}

/** Returns a file that is refused. */
export function unreadable({ name, mimeType }: FormFile): FormFile {
  return { name: `Not ${name}`, mimeType, buffer: Buffer.from("not a video") };
}
