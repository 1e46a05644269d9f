import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import { samplePackFolder } from "../../tools/stack/local-state.ts";

/** A file as a browser's form has it; unlike on a disk, its name may be of any length. */
export interface FormFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** File names that break layouts: long, unspaced, right to left, with emoji, with markup. */
const NAMES = [
  `IMG_${"20261123".repeat(25)}`,
  "עותק של סרטון הטיול המשפחתי הארוך ביותר שלנו בהרים בקיץ האחרון — الجزء الثاني",
  "👩‍👩‍👧‍👦🏔️🇨🇭".repeat(12),
  "<img src=x onerror=alert(1)>&amp;<b>bold<i>",
  "invoice\u202Egpj.exe",
  "A very long name with spaces that someone typed on a phone to say what happens in it ".repeat(2),
  "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
];

const TYPES = new Map([
  [".mp4", "video/mp4"],
  [".jpg", "image/jpeg"],
  [".png", "image/png"],
  [".webp", "image/webp"],
]);

/**
 * Returns the sample pack with awkward names, without the transcripts, and two videos that can't be
 * read: one is refused at the upload, one fails afterwards.
 */
export async function awkwardFiles(): Promise<FormFile[]> {
  const { files } = await buildSamplePack(samplePackFolder());
  const media = await Promise.all(
    files.map(async ({ path }, i) => {
      const extension = extname(path);
      return {
        name: `${NAMES[i % NAMES.length]!.trim()}${i >= NAMES.length ? ` ${i}` : ""}${extension}`,
        mimeType: TYPES.get(extension) ?? "",
        buffer: await readFile(path),
      };
    }),
  );
  const { buffer } = media[0]!;
  const header = buffer.subarray(0, 32);
  return [
    ...media,
    { name: `header-${NAMES[0]}.mp4`, mimeType: "video/mp4", buffer: header },
    { name: `not-${NAMES[0]}.mp4`, mimeType: "video/mp4", buffer: Buffer.from("not a video") },
  ];
}
