import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Font, type Glyph, parse } from "opentype.js/dist/opentype.mjs";
import sharp from "sharp";

export interface TextStyle {
  /** Width in pixels. */
  width?: number;
  /** Height in pixels. */
  height?: number;
  /** CSS colour. */
  background?: string;
  /** CSS colour. */
  color?: string;
  /** Font size in pixels. Default: a twelfth of the shorter side, or what fits. */
  size?: number;
}

const LINE_HEIGHT = 1.35;
/** Maximum font size as a share of the shorter side, which OCR recognises well. */
const MAX_TYPE_SHARE = 1 / 12;
/** Share of the image that text may fill. */
const FILL_SHARE = 0.84;

let font: Font | undefined;

/**
 * Draws `lines` in Inter, centred, as JPEG. Glyphs are drawn as outlines, since a machine may have
 * no fonts; the same arguments give the same bytes. Covers Western European letters; throws on a
 * character that the font lacks.
 */
export async function drawText(lines: string[], style: TextStyle = {}): Promise<Buffer> {
  const { width = 960, height = 540, background = "#f7f5ef", color = "#1b1b1f" } = style;
  font ??= loadFont();
  const maxWidth = Math.max(...lines.map((line) => layOutLine(line, 0, 0, 1).width), 1e-6);
  const size =
    style.size ??
    Math.min(
      (width * FILL_SHARE) / maxWidth,
      (height * FILL_SHARE) / (lines.length * LINE_HEIGHT),
      Math.min(width, height) * MAX_TYPE_SHARE,
    );
  const baselineOffset = (font.ascender + font.descender) / font.unitsPerEm / 2;
  const top = height / 2 - ((lines.length - 1) / 2) * size * LINE_HEIGHT + baselineOffset * size;
  const paths = lines.map((line, row) => {
    const x = (width - layOutLine(line, 0, 0, size).width) / 2;
    return layOutLine(line, x, top + row * size * LINE_HEIGHT, size).path;
  });
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<rect width="100%" height="100%" fill="${background}"/>` +
    `<path fill="${color}" d="${paths.join("")}"/></svg>`;
  return sharp(Buffer.from(svg)).flatten({ background }).jpeg({ quality: 90 }).toBuffer();
}

/**
 * Lays out a line with its baseline at `y`, from `x` to the right. Returns SVG path data and the
 * width in pixels.
 */
function layOutLine(line: string, x: number, y: number, size: number) {
  const lineFont = (font ??= loadFont());
  const scale = size / lineFont.unitsPerEm;
  let cursor = x;
  let path = "";
  let previous: Glyph | undefined;
  for (const character of line) {
    const glyph = lineFont.charToGlyph(character);
    if (glyph.index === 0) throw new Error(`The font has no "${character}" to draw "${line}".`);
    if (previous) cursor += lineFont.getKerningValue(previous, glyph) * scale;
    path += glyph.getPath(cursor, y, size).toPathData(2);
    cursor += glyph.advanceWidth * scale;
    previous = glyph;
  }
  return { path, width: cursor - x };
}

function loadFont(): Font {
  const file = import.meta.resolve("@fontsource/inter/files/inter-latin-600-normal.woff");
  const bytes = readFileSync(fileURLToPath(file));
  return parse(new Uint8Array(bytes).buffer);
}
