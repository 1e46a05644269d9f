import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { drawClock } from "./drawn-objects.ts";
import { photographPath } from "./images.ts";
import { narrate } from "./narration.ts";
import { drawText } from "./text-image.ts";
import { encodeVideo, type Scene } from "./video.ts";

const NARRATION: [start: number, end: number, text: string][] = [
  [0.5, 4.6, "Welcome. Today we walk from the valley up to the high pastures."],
  [5.2, 9.8, "The glacier above these trees has shrunk by half since my grandmother was a girl."],
  [10.4, 16, "A carpenter built this cabin alone, and he left when the well dried up."],
  [16.6, 19.8, "Nobody lives in it now but swallows."],
  [20.4, 24.6, "This is a wild onion. Bees come at dawn for its nectar, before the heat."],
  [25.2, 29.6, "Nobody hurries in our kitchen: the cheese decides when we eat."],
];

/** Writes a video of six scenes with cuts and a dissolve, and the transcript of its narration. */
export async function writeStory(folder: string): Promise<void> {
  const scenes: Scene[] = [
    { image: await drawText(["ALPINE", "NOTEBOOK"], PAPER), seconds: 5 },
    { image: photographPath("french-alpine-landscape"), seconds: 5, motion: "pan", dissolve: 0.8 },
    { image: photographPath("dust-bowl-home"), seconds: 10, motion: "pan" },
    { image: photographPath("allium-oreophilum"), seconds: 5, motion: "pan" },
    { image: await drawClock(), seconds: 5 },
    { image: await drawText(["Until next time"], PAPER), seconds: 3 },
  ];
  const audio = await narrate(NARRATION.map(([start, , text]) => ({ start, text })));
  await encodeVideo(join(folder, "story.mp4"), scenes, { audio });
  const cues = NARRATION.map(
    ([start, end, text], i) =>
      `${i + 1}\n${formatSrtTime(start)} --> ${formatSrtTime(end)}\n${text}\n`,
  );
  await writeFile(join(folder, "story.srt"), cues.join("\n"));
}

const PAPER = { width: 1280, height: 720, background: "#23395b", color: "#f4efe1" };

/** Writes a silent slide show: all of its content is on-screen text. */
export async function writeSlides(folder: string): Promise<void> {
  const slides = [
    ["Observatory evening", "an introduction"],
    ["What to bring", "warm gloves", "a red torch"],
    ["Saturn rises", "at 22:40", "look south-east"],
  ];
  const scenes = slides.map(async (lines) => ({ image: await drawText(lines), seconds: 5 }));
  await encodeVideo(join(folder, "slides.mp4"), await Promise.all(scenes));
}

/** Formats SubRip's `hh:mm:ss,mmm`. */
function formatSrtTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(11, 23).replace(".", ",");
}
