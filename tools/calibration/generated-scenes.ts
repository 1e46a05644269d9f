import { type Random } from "../random-numbers.ts";
import { shuffle } from "../training/random.ts";
import { ACTIONS, DETAILS, SETTINGS, SUBJECTS, TIMES } from "./scene-concepts.ts";

/** Shares of the scenes whose time is told, and a detail of the subject. */
const SHARES = { time: 0.4, detail: 0.6 };

type Wordings = Record<"subject" | "detail" | "action" | "place" | "time", string>;

/** Makes sentences of wordings. `detail` and `time` may be empty. */
const SENTENCES: ((words: Wordings) => string)[] = [
  ({ subject, detail, action, place }) => `${subject} ${detail} ${action} ${place}.`,
  ({ subject, action, place, time }) => `${place}, ${subject} ${action} ${time}.`,
  ({ subject, detail, action, time }) => `${time} ${subject} ${detail} ${action}.`,
  ({ subject, detail, action, place, time }) => `${subject} ${action} ${place} ${time}, ${detail}.`,
  ({ subject, detail, action, place }) => `we see ${subject} ${detail} who ${action} ${place}.`,
];

/**
 * Generates scenes, each told in five sentences of different words. Scenes share subjects, actions
 * and places with many others, so that most wrong hits are nearly right. The same random numbers
 * give the same scenes.
 */
export function generateScenes(count: number, random: Random): string[][] {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)]!;
  const maybe = (share: number, wordings: readonly string[][]) =>
    random() < share ? pick(wordings) : [""];
  return Array.from({ length: count }, () => {
    const scene = {
      subject: pick(SUBJECTS),
      detail: maybe(SHARES.detail, DETAILS),
      action: pick(ACTIONS),
      place: pick(SETTINGS),
      time: maybe(SHARES.time, TIMES),
    };
    return shuffle(SENTENCES.length, random).map((at) => {
      const words = Object.entries(scene).map(([part, wordings]) => [part, pick(wordings)]);
      const text = SENTENCES[at]!(Object.fromEntries(words) as Wordings).trim();
      const sentence = text.replaceAll(/\s+/g, " ").replaceAll(/ ?,? (?=[,.])|,? ?(?=\.)/g, "");
      return sentence.charAt(0).toUpperCase() + sentence.slice(1);
    });
  });
}
