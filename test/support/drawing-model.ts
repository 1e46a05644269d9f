import sharp from "sharp";
import { COLOURS, SETTINGS } from "../../tools/calibration/drawn-scenes.ts";

const SIDE = 24;
/** Distance of two colours that count as the same, of 441. */
const SAME = 60;

type Rgb = readonly [number, number, number];

const PALETTE = Object.entries(COLOURS).map(([name, hex]) => ({ name, rgb: toRgb(hex) }));

/** Embeds a sentence about a drawing by the colour and the place that it names. */
export function embedDrawingText(text: string): number[] {
  const colours = PALETTE.map(({ name }) => Number(text.includes(name)));
  const places = SETTINGS.map(({ wordings }) => Number(wordings.some((one) => text.includes(one))));
  return [1, ...colours, ...places];
}

/** Embeds a JPEG by its colours and its background, in the space of `embedDrawingText`. */
export async function embedDrawing(dataUri: string): Promise<number[]> {
  const jpeg = Buffer.from(dataUri.replace(/^data:image\/jpeg;base64,/, ""), "base64");
  const bytes = await sharp(jpeg).resize(SIDE, SIDE).raw().toBuffer();
  const pixels = Array.from({ length: SIDE * SIDE }, (_, at): Rgb => [
    bytes[3 * at]!,
    bytes[3 * at + 1]!,
    bytes[3 * at + 2]!,
  ]);
  const share = ({ rgb }: { rgb: Rgb }) =>
    pixels.filter((pixel) => distance(pixel, rgb) < SAME).length / pixels.length;
  const places = SETTINGS.map(({ svg }) => {
    const [sky] = /fill="(#\w+)"/.exec(svg)?.slice(1) ?? [];
    return Number(distance(pixels[0]!, toRgb(sky!)) < SAME / 4);
  });
  return [1, ...PALETTE.map((colour) => Math.min(1, 8 * share(colour))), ...places];
}

function distance(one: Rgb, other: Rgb): number {
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

function toRgb(hex: string): Rgb {
  const digits = hex.length === 4 ? hex.slice(1).replaceAll(/./g, "$&$&") : hex.slice(1);
  const value = Number.parseInt(digits, 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
