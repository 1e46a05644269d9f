import { photographPath } from "../../tools/sample/images.ts";
import { narrate } from "../../tools/sample/narration.ts";
import { drawText } from "../../tools/sample/text-image.ts";
import { encodeVideo, type Scene } from "../../tools/sample/video.ts";

const SCREEN = { width: 640, height: 360, fps: 25 } as const;
const PHOTOS = ["nagasaki-boats", "dust-bowl-home", "french-alpine-landscape"] as const;
const SLIDES = ["MORNING NEWS", "SECOND CHAPTER", "THE END OF IT"];
/** Durations of the scenes of one minute, in seconds. */
const SCENE_SECONDS = [2, 7, 3, 5, 4, 9, 2, 6, 3, 8, 5, 6];
const DISSOLVE_SECONDS = 0.6;

/**
 * Writes a video of the given minutes; only the first minute is encoded, the others repeat it. A
 * minute has twelve scenes of 2 to 9 s, panned photos and text slides in turn, a dissolve after
 * every third, and four spoken sentences.
 */
export async function writeGeneratedVideo(file: string, minutes: number): Promise<void> {
  const slides = await Promise.all(SLIDES.map((text) => drawText(text.split(" "), SCREEN)));
  const images = PHOTOS.flatMap((photo, i) => [photographPath(photo), slides[i]!]);
  const scenes = SCENE_SECONDS.map((seconds, i): Scene => {
    const dissolve = i % 3 === 2 ? DISSOLVE_SECONDS : 0;
    return { image: images[i % images.length]!, seconds, motion: "pan", dissolve };
  });
  const audio = await narrate([
    { start: 1, text: "The boats are tied up in the harbour for the night." },
    { start: 17, text: "Nobody has lived in the wooden house since the storm." },
    { start: 33, text: "Beyond the valley the mountains are covered with snow." },
    { start: 48, text: "This is where the story of the three travellers ends." },
  ]);
  await encodeVideo(file, scenes, { ...SCREEN, audio, rounds: minutes });
}
