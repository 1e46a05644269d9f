import { encodeFilm, type Scene } from "../../scripts/sample/film.ts";
import { narrate } from "../../scripts/sample/narration.ts";
import { photograph } from "../../scripts/sample/pictures.ts";
import { drawWords } from "../../scripts/sample/words-picture.ts";

const SCREEN = { width: 640, height: 360, fps: 25 } as const;
const PHOTOS = ["nagasaki-boats", "dust-bowl-home", "french-alpine-landscape"] as const;
const PAGES = ["MORNING NEWS", "SECOND CHAPTER", "THE END OF IT"];
/** Of one scene after another, in seconds: a minute. */
const LENGTHS = [2, 7, 3, 5, 4, 9, 2, 6, 3, 8, 5, 6];
const DISSOLVE = 0.6;

/**
 * Writes a film of so many minutes, without encoding more than the first: in each of them twelve scenes of 2 to 9 s,
 * photographs that are panned over and pages of words, every third giving way to the next in a dissolve, and
 * four sentences that someone says.
 */
export async function writeMinutes(file: string, minutes: number): Promise<void> {
  const pages = await Promise.all(PAGES.map((text) => drawWords(text.split(" "), SCREEN)));
  const pictures = PHOTOS.flatMap((photo, i) => [photograph(photo), pages[i]!]);
  const scenes = LENGTHS.map((seconds, i): Scene => {
    const dissolve = i % 3 === 2 ? DISSOLVE : 0;
    return { picture: pictures[i % pictures.length]!, seconds, motion: "pan", dissolve };
  });
  const audio = await narrate([
    { start: 1, text: "The boats are tied up in the harbour for the night." },
    { start: 17, text: "Nobody has lived in the wooden house since the storm." },
    { start: 33, text: "Beyond the valley the mountains are covered with snow." },
    { start: 48, text: "This is where the story of the three travellers ends." },
  ]);
  await encodeFilm(file, scenes, { ...SCREEN, audio, rounds: minutes });
}
