import sharp from "sharp";
import { createRandom } from "../tools/random-numbers.ts";
import { drawText } from "../tools/sample/text-image.ts";

const WIDTH = 960;
const HEIGHT = 540;
const LINES = 4;
const WORDS_A_LINE = 5;

/** An image of a page of text, and the text. */
export interface DrawnPage {
  kind: string;
  jpeg: Buffer;
  text: string;
}

type Draw = (lines: string[], photo: string) => Promise<Buffer>;

const small = { width: WIDTH, height: HEIGHT, size: HEIGHT * 0.028 };

/** Styles of pages. The type is as large as fits, unless it is small. */
const KINDS: Record<string, Draw> = {
  "dark on light": (lines) => drawText(lines),
  "light on dark": (lines) => drawText(lines, { background: "#23395b", color: "#f4efe1" }),
  "small type": (lines) => drawText(lines, small),
  "rotated by 3°": async (lines) =>
    sharp(await drawText(lines))
      .rotate(3, { background: "#f7f5ef" })
      .jpeg()
      .toBuffer(),
  "JPEG of quality 20": async (lines) =>
    sharp(await drawText(lines))
      .jpeg({ quality: 20 })
      .toBuffer(),
  "over a photo": async (lines, photo) => {
    const words = await drawText(lines, { background: "#000", color: "#fff" });
    return sharp(photo)
      .resize(WIDTH, HEIGHT, { fit: "cover" })
      .linear(0.6)
      .composite([{ input: words, blend: "screen" }])
      .jpeg()
      .toBuffer();
  },
};

/**
 * Draws `count` pages of each style with words of the captions. The same arguments give the same
 * pages.
 */
export async function drawPages(
  captions: readonly string[],
  photos: readonly string[],
  count: number,
): Promise<DrawnPage[]> {
  const random = createRandom(1);
  const words = captions.flatMap((caption) => caption.match(/[A-Za-z]+/g) ?? []);
  const pages: DrawnPage[] = [];
  for (const [kind, draw] of Object.entries(KINDS)) {
    for (let page = 0; page < count; page += 1) {
      const start = Math.floor(random() * (words.length - LINES * WORDS_A_LINE));
      const lines = Array.from({ length: LINES }, (_, line) =>
        words.slice(start + line * WORDS_A_LINE, start + (line + 1) * WORDS_A_LINE).join(" "),
      );
      const photo = photos[Math.floor(random() * photos.length)] ?? "";
      pages.push({ kind, jpeg: await draw(lines, photo), text: lines.join("\n") });
    }
  }
  return pages;
}
