import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { drawClock } from "./drawn-objects.ts";
import { encodeFilm, type Scene } from "./film.ts";
import { narrate } from "./narration.ts";
import { photograph } from "./pictures.ts";
import { drawWords } from "./words-picture.ts";

const NARRATION: [start: number, end: number, text: string][] = [
  [0.5, 4.6, "Welcome. Today we walk from the valley up to the high pastures."],
  [5.2, 9.8, "The glacier above these trees has shrunk by half since my grandmother was a girl."],
  [10.4, 16, "A carpenter built this cabin alone, and he left when the well dried up."],
  [16.6, 19.8, "Nobody lives in it now but swallows."],
  [20.4, 24.6, "This is a wild onion. Bees come at dawn for its nectar, before the heat."],
  [25.2, 29.6, "Nobody hurries in our kitchen: the cheese decides when we eat."],
];

/** Six scenes with cuts and a dissolve, and the words spoken over them. */
export async function makeStory(folder: string): Promise<void> {
  const scenes: Scene[] = [
    { picture: await drawWords(["ALPINE", "NOTEBOOK"], PAPER), seconds: 5 },
    { picture: photograph("french-alpine-landscape"), seconds: 5, motion: "pan", dissolve: 0.8 },
    { picture: photograph("dust-bowl-home"), seconds: 10, motion: "pan" },
    { picture: photograph("allium-oreophilum"), seconds: 5, motion: "pan" },
    { picture: await drawClock(), seconds: 5 },
    { picture: await drawWords(["Until next time"], PAPER), seconds: 3 },
  ];
  const audio = await narrate(NARRATION.map(([start, , text]) => ({ start, text })));
  await encodeFilm(join(folder, "story.mp4"), scenes, { audio });
  const cues = NARRATION.map(
    ([start, end, text], i) => `${i + 1}\n${timecode(start)} --> ${timecode(end)}\n${text}\n`,
  );
  await writeFile(join(folder, "story.srt"), cues.join("\n"));
}

const PAPER = { width: 1280, height: 720, background: "#23395b", color: "#f4efe1" };

/** A silent talk: everything it says is on its slides. */
export async function makeSlides(folder: string): Promise<void> {
  const slides = [
    ["Observatory evening", "an introduction"],
    ["What to bring", "warm gloves", "a red torch"],
    ["Saturn rises", "at 22:40", "look south-east"],
  ];
  const scenes = slides.map(async (lines) => ({ picture: await drawWords(lines), seconds: 5 }));
  await encodeFilm(join(folder, "slides.mp4"), await Promise.all(scenes));
}

/** SubRip's `hh:mm:ss,mmm`. */
function timecode(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(11, 23).replace(".", ",");
}
