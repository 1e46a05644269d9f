import type { Cue } from "../types.ts";
import { sentencesOf } from "./transcript-plain.ts";

/** A cue that lasts longer is laid sentence by sentence. */
const LONG_SECONDS = 10;
/** What one segment says at most, in characters: more than anyone can. */
const MOST_SAID = 20_000;
/** Of all that is said, what rounding may take. */
const SLACK = 1e-9;

/** A stretch of a video, in seconds. */
interface Stretch {
  start: number;
  end: number;
}

/** A stretch in which so much of all that is said is said, whatever the unit. */
interface Voice extends Stretch {
  share: number;
}

/**
 * Gives cues without times those of `voice`, by how much was said before them: a text of which somebody, or
 * a model, has heard something like it goes as fast and as slowly as that.
 */
export function timeCues(cues: Cue[], voice: Voice[]): Cue[] {
  if (cues.every(({ start }) => !Number.isNaN(start))) return cues;
  return spreadOver(
    cues.map(({ text }) => text),
    voice,
  );
}

/** What was heard, in order and without overlaps, each cue with its number of characters. */
export function voiceOf(heard: Cue[]): Voice[] {
  const voice: Voice[] = [];
  for (const { start, end, text } of heard.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(start, voice.at(-1)?.end ?? 0);
    if (end > from && text !== "") voice.push({ start: from, end, share: text.length });
  }
  return voice;
}

/**
 * Cues as they are laid over a video: none beyond its end, a long one sentence by sentence with their share
 * of its time, each on one line. Cues without times are spread over all of it.
 */
export function spreadCues(cues: Cue[], durationSeconds: number): Cue[] {
  return timeCues(cues, [{ start: 0, end: durationSeconds, share: 1 }]).flatMap((cue) => {
    const { start } = cue;
    const end = Math.max(start, Math.min(cue.end, durationSeconds));
    const whole = { start, end, text: cue.text.replaceAll(/\s+/g, " ") };
    return end - start > LONG_SECONDS
      ? spreadOver(sentencesOf(whole.text), [{ start, end, share: 1 }])
      : whole;
  });
}

/** The words spoken in each of `spans`, which are in order: those of the cues whose middles they hold. */
export function wordsWithin(cues: Cue[], spans: Stretch[]): string[] {
  const said = spans.map((): string[] => []);
  for (const { start, end, text } of cues) {
    const middle = (start + end) / 2;
    const at = spans.findLastIndex((span) => span.start <= middle);
    if (at >= 0 && middle < spans[at]!.end) said[at]!.push(text);
  }
  return said.map((texts) => texts.join(" ").slice(0, MOST_SAID).toWellFormed());
}

function spreadOver(texts: string[], voice: Voice[]): Cue[] {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  const all = voice.reduce((sum, { share }) => sum + share, 0);
  let [said, at] = [0, 0]; // before `voice[at]`
  /** When so much has been said; between two stretches, where the one ends or the other starts. */
  const timeAt = (much: number, edge: keyof Stretch): number => {
    const slack = edge === "end" ? SLACK * all : -SLACK * all;
    while (at < voice.length - 1 && much > said + voice[at]!.share + slack) {
      said += voice[at]!.share;
      at++;
    }
    const { start, end, share } = voice[at]!;
    return start + Math.min(1, Math.max(0, (much - said) / share)) * (end - start);
  };
  let read = 0;
  return texts.map((text) => {
    const start = timeAt((read / characters) * all, "start");
    read += text.length;
    return { start, end: timeAt((read / characters) * all, "end"), text };
  });
}
