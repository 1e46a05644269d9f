import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Font, type Glyph, parse } from "opentype.js/dist/opentype.mjs";
import sharp from "sharp";

export interface WordsStyle {
  /** Pixels. */
  width?: number;
  /** Pixels. */
  height?: number;
  /** Any CSS colour. */
  background?: string;
  /** Any CSS colour. */
  color?: string;
  /** Height of the type in pixels. Default: a twelfth of the shorter side, or what fits. */
  size?: number;
}

const LINE_HEIGHT = 1.35;
/** Height of the type at most, as a share of the shorter side: what readers of pictures are good at. */
const LARGEST = 1 / 12;
/** Share of the picture that words may fill. */
const FILL = 0.84;

let font: Font | undefined;

/**
 * A JPEG with `lines` set in Inter, centred. The letters are drawn as outlines, because a machine
 * may have no fonts; the same arguments give the same bytes. Covers Western European letters and
 * throws on a character the font lacks.
 */
export async function drawWords(lines: string[], style: WordsStyle = {}): Promise<Buffer> {
  const { width = 960, height = 540, background = "#f7f5ef", color = "#1b1b1f" } = style;
  font ??= loadFont();
  const widest = Math.max(...lines.map((line) => setLine(line, 0, 0, 1).width), 1e-6);
  const size =
    style.size ??
    Math.min(
      (width * FILL) / widest,
      (height * FILL) / (lines.length * LINE_HEIGHT),
      Math.min(width, height) * LARGEST,
    );
  const rise = (font.ascender + font.descender) / font.unitsPerEm / 2;
  const top = height / 2 - ((lines.length - 1) / 2) * size * LINE_HEIGHT + rise * size;
  const paths = lines.map((line, row) => {
    const left = (width - setLine(line, 0, 0, size).width) / 2;
    return setLine(line, left, top + row * size * LINE_HEIGHT, size).path;
  });
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<rect width="100%" height="100%" fill="${background}"/>` +
    `<path fill="${color}" d="${paths.join("")}"/></svg>`;
  return sharp(Buffer.from(svg)).flatten({ background }).jpeg({ quality: 90 }).toBuffer();
}

/** One line with its baseline at `y`, from `x` to the right: SVG path data and its width in pixels. */
function setLine(line: string, x: number, y: number, size: number) {
  const face = (font ??= loadFont());
  const scale = size / face.unitsPerEm;
  let at = x;
  let path = "";
  let previous: Glyph | undefined;
  for (const character of line) {
    const glyph = face.charToGlyph(character);
    if (glyph.index === 0) throw new Error(`The font has no "${character}" to draw "${line}".`);
    if (previous) at += face.getKerningValue(previous, glyph) * scale;
    path += glyph.getPath(at, y, size).toPathData(2);
    at += glyph.advanceWidth * scale;
    previous = glyph;
  }
  return { path, width: at - x };
}

function loadFont(): Font {
  const file = import.meta.resolve("@fontsource/inter/files/inter-latin-600-normal.woff");
  const bytes = readFileSync(fileURLToPath(file));
  return parse(new Uint8Array(bytes).buffer);
}
