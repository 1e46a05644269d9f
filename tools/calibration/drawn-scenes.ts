import sharp from "sharp";
import { type Random } from "../random-numbers.ts";
import { shuffle } from "../training/random.ts";

/** A drawing and sentences that describe it. */
export interface DrawnScene {
  image: Buffer;
  /** The same things and place, drawn anew. */
  otherImage: Buffer;
  captions: string[];
}

const SIDE = 384;

/** Shapes in a square of 100 units, filled with the colour of the scene. */
const SHAPES: Record<string, string> = {
  house: '<path d="M10 50 50 12 90 50V92H10Z"/><path fill="#333" d="M42 92V62h16v30z"/>',
  tree: '<circle cx="50" cy="34" r="30"/><path fill="#6b4a2b" d="M44 60h12v34H44z"/>',
  boat: '<path d="M8 66h84L78 88H22z"/><path fill="#eee" d="M48 10v50H20z"/>',
  car: '<path d="M6 70V52l16-4 12-18h34l14 18 12 4v18z"/><circle fill="#222" cx="28" cy="72" r="11"/><circle fill="#222" cx="74" cy="72" r="11"/>',
  fish: '<path d="M8 50q30-36 62 0-32 36-62 0M64 50l28-22v44z"/><circle fill="#222" cx="26" cy="46" r="4"/>',
  cup: '<path d="M16 28h54v34q0 24-27 24T16 62z"/><path fill="none" stroke="#444" stroke-width="7" d="M70 38q20 0 16 16T70 66"/>',
  flower:
    '<circle cx="50" cy="18" r="13"/><circle cx="70" cy="36" r="13"/><circle cx="30" cy="36" r="13"/><circle cx="62" cy="54" r="13"/><circle cx="38" cy="54" r="13"/><circle fill="#fc3" cx="50" cy="37" r="11"/><path fill="#2a7a2a" d="M47 62h6v34h-6z"/>',
  star: '<path d="m50 6 12 30 32 2-25 20 9 32-28-18-28 18 9-32L6 38l32-2z"/>',
  balloon:
    '<ellipse cx="50" cy="38" rx="28" ry="34"/><path fill="none" stroke="#444" stroke-width="2" d="M50 72q-8 12 2 26"/>',
  umbrella:
    '<path d="M8 52q4-40 42-40t42 40z"/><path fill="none" stroke="#333" stroke-width="5" d="M50 50v34q0 10-12 8"/>',
  flag: '<path d="M24 10h62L70 30l16 20H24z"/><path fill="#444" d="M18 8h6v88h-6z"/>',
  mushroom: '<path d="M8 54q4-42 42-42t42 42z"/><path fill="#eee2c8" d="M38 54h24l4 38H34z"/>',
  heart: '<path d="M50 90Q2 52 12 28q16-24 38 4 22-28 38-4 10 24-38 62"/>',
  chair: '<path d="M26 8h10v44h40v10h-4v32h-8V62H36v32H26z"/>',
  bottle: '<path d="M42 6h16v22q14 8 14 22v42H28V50q0-14 14-22z"/>',
  hat: '<path d="M4 76q46-16 92 0-46 20-92 0"/><path d="M28 70V30q22-14 44 0v40z"/>',
};
export const COLOURS: Record<string, string> = {
  red: "#d22",
  orange: "#f08a1c",
  yellow: "#f5d51f",
  green: "#2c9a3c",
  blue: "#2456d6",
  purple: "#7a35b0",
  pink: "#f28fb5",
  brown: "#7b4f2b",
};
const STARS = '<g fill="#fff"><circle cx="60" cy="50" r="3"/><circle cx="300" cy="80" r="3"/></g>';
/** Backgrounds by two wordings. */
export const SETTINGS: { wordings: [string, string]; svg: string }[] = [
  {
    wordings: ["at night", "under a dark sky with stars"],
    svg: `<rect width="384" height="384" fill="#0b1030"/>${STARS}`,
  },
  {
    wordings: ["on a meadow", "on green grass"],
    svg: '<rect width="384" height="384" fill="#bfe3ff"/><rect y="200" width="384" height="184" fill="#58b048"/>',
  },
  {
    wordings: ["by the sea", "above blue water"],
    svg: '<rect width="384" height="384" fill="#e8f4ff"/><rect y="250" width="384" height="134" fill="#1d6fa8"/>',
  },
  {
    wordings: ["in the desert", "on yellow sand"],
    svg: '<rect width="384" height="384" fill="#ffd9a0"/><path fill="#e0b15c" d="M0 260q96-60 192 0t192 0v124H0z"/>',
  },
  {
    wordings: ["in the snow", "on a white field"],
    svg: '<rect width="384" height="384" fill="#cfd8e4"/><rect y="220" width="384" height="164" fill="#fff"/>',
  },
];
const COUNTS = ["a", "two", "three"] as const;

type Scene = Record<"shape" | "colour", string> & {
  count: number;
  place: (typeof SETTINGS)[number];
};

/** Draws scenes of one to three things; the same random numbers give the same drawings. */
export async function drawScenes(count: number, random: Random): Promise<DrawnScene[]> {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)]!;
  const scenes = Array.from({ length: count }, (): Scene => ({
    shape: pick(Object.keys(SHAPES)),
    colour: pick(Object.keys(COLOURS)),
    count: Math.floor(random() * COUNTS.length),
    place: pick(SETTINGS),
  }));
  const drawn: DrawnScene[] = [];
  for (const scene of scenes) {
    drawn.push({
      image: await draw(scene, random),
      otherImage: await draw(scene, random),
      captions: describe(scene, random),
    });
  }
  return drawn;
}

/** Draws a scene with its things anywhere. */
async function draw({ shape, colour, count, place }: Scene, random: Random): Promise<Buffer> {
  const things = Array.from({ length: count + 1 }, (_, at) => {
    const size = (count === 0 ? 1.9 : 1.15) + 0.4 * random();
    const x = ((at + 0.5) / (count + 1)) * SIDE - size * 50;
    const y = SIDE / 2 - size * 50 + 70 * (random() - 0.5);
    return `<g fill="${COLOURS[colour]}" transform="translate(${x} ${y}) scale(${size})">
      ${SHAPES[shape]}</g>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${SIDE}" height="${SIDE}">
    ${place.svg}${things.join("")}</svg>`;
  return sharp(Buffer.from(svg)).flatten().jpeg({ quality: 88 }).toBuffer();
}

function describe({ shape, colour, count, place }: Scene, random: Random): string[] {
  const thing = `${colour} ${count === 0 ? shape : plural(shape)}`;
  const [place1, place2] = place.wordings;
  const number = count === 0 && /^[aeiou]/.test(thing) ? "an" : COUNTS[count];
  const captions = [
    `A picture of ${number} ${thing} ${place1}.`,
    `${number} ${thing} ${place2}.`,
    `${number} ${thing} ${place1}, drawn in plain shapes.`,
    `There ${count === 0 ? "is" : "are"} ${number} ${thing} ${place2}.`,
    `${number} ${thing}, ${place1}.`,
  ];
  return shuffle(captions.length, random).map((at) => {
    const caption = captions[at]!;
    return caption.charAt(0).toUpperCase() + caption.slice(1);
  });
}

function plural(noun: string): string {
  return noun === "fish" ? noun : `${noun}s`;
}
