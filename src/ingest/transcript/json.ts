import * as z from "zod";
import { boundedList } from "../../bounded-list.ts";
import { LIMITS } from "../../config.ts";
import { MAX_CUE_SECONDS } from "../../cues.ts";
import type { Cue } from "../../types.ts";
import { areMilliseconds, fromMilliseconds } from "./cue-times.ts";

/** Limits of cues that are result of words: the pause that ends one, its length and its text. */
const CUE_LIMITS = { pauseSeconds: 1, maxSeconds: 10, maxCharacters: 120 } as const;
const ENDS_SENTENCE = /[.!?。！？…]["'”’»)\]]*$/u;

const seconds = z.number().min(-MAX_CUE_SECONDS).max(MAX_CUE_SECONDS);
const missingEnd = seconds.nullish().transform((end) => end ?? NaN);
const missingStart = missingEnd;
const withoutNulls = (items: unknown) =>
  Array.isArray(items) ? items.filter((item) => item !== null) : items;
const list = <Item extends z.ZodType>(item: Item) =>
  z.preprocess(withoutNulls, boundedList(item, LIMITS.transcriptCues, 1));
const cues = list(
  z.object({
    start: missingStart,
    end: missingEnd,
    duration: missingEnd,
    text: z.string(),
    stop: z.undefined().optional(), // instead of the end: of a program that counts otherwise
  }),
).transform((items) =>
  items.map(({ start, end, duration, text }) => {
    return { start, end: Number.isNaN(end) ? start + duration : end, text };
  }),
);

const words = list(
  z.object({
    word: z.string(),
    punctuated_word: z.string().optional(),
    start: seconds,
    end: missingEnd,
  }),
).transform((items) =>
  wordsToCues(items.map(({ word, punctuated_word, ...times }) => [punctuated_word ?? word, times])),
);

const language = z
  .string()
  .nullish()
  .transform((name) => name ?? null)
  .catch(null);

const utterances = list(
  z.object({ start: seconds, end: missingEnd, transcript: z.string() }),
).transform((items) => items.map(({ transcript, ...times }) => ({ ...times, text: transcript })));

const paragraphs = z
  .object({ paragraphs: list(z.object({ sentences: cues })) })
  .transform((result) => result.paragraphs.flatMap(({ sentences }) => sentences));

/** A Deepgram channel, whose first alternative is the most likely one. */
const channel = z
  .object({
    detected_language: language,
    alternatives: z.tuple(
      [
        z.union([
          z.object({ paragraphs }).transform((result) => result.paragraphs),
          z.object({ words }).transform((result) => result.words),
          z.object({ words: z.array(z.unknown()).max(0) }).transform((): Cue[] => []),
        ]),
      ],
      z.unknown(),
    ),
  })
  .transform(({ detected_language, alternatives: [first] }) => {
    return { language: detected_language, cues: first };
  });

/** Cues of whisper.cpp, with offsets in ms. */
const offsets = list(
  z.object({ offsets: z.object({ from: z.number(), to: z.number() }), text: z.string() }),
).transform((items) =>
  fromMilliseconds(
    items.map(({ offsets: { from, to }, text }) => ({ start: from, end: to, text })),
  ),
);

/** Cues of Whisper in Transformers. The last end may be missing. */
const chunks = list(
  z.object({ timestamp: z.tuple([missingStart, missingEnd]), text: z.string() }),
).transform((items) => items.map(({ timestamp: [start, end], text }) => ({ start, end, text })));

/** Events of YouTube's captions, with times in ms. Those without text move lines. */
const events = list(
  z.object({
    tStartMs: z.number().default(0),
    dDurationMs: z.number().optional(),
    segs: z.array(z.object({ utf8: z.string().default("") })).default([]),
  }),
).transform((items) =>
  items.map(({ tStartMs, dDurationMs = NaN, segs }) => ({
    start: tStartMs / 1000,
    end: (tStartMs + dDurationMs) / 1000,
    text: segs.map(({ utf8 }) => utf8).join(""),
  })),
);

const untagged = (items: Cue[]) => ({ language: null, cues: items });
const file = z.union([
  cues.transform(untagged),
  z.object({ cues, language }),
  z
    .object({ segments: cues, language })
    .transform(({ segments, ...rest }) => ({ ...rest, cues: segments })),
  z
    .object({ transcription: offsets, result: z.object({ language }).default({ language: null }) })
    .transform(({ transcription, result }) => ({ ...result, cues: transcription })),
  z.object({ chunks }).transform((fields) => untagged(fields.chunks)),
  z.object({ events }).transform((fields) => untagged(fields.events)),
  z.object({ words, language }).transform((fields) => ({ ...fields, cues: fields.words })),
  z
    .object({ results: z.object({ utterances }) })
    .transform(({ results }) => untagged(results.utterances)),
  z.object({ results: z.object({ channels: list(channel) }) }).transform(({ results }) => ({
    language: results.channels[0]!.language,
    cues: results.channels.flatMap((result) => result.cues),
  })),
]);

/**
 * Parses a transcript in JSON. Null for other JSON. Accepts a list of `{start, end, text}` in
 * seconds, `{cues}` or Whisper's `{segments}` with such a list, `{words}`, what whisper.cpp and
 * Transformers write, YouTube's `{events}`, and a response of Deepgram: its utterances, or the
 * sentences or words of all channels. Cues that must be in milliseconds, but for chapters, are. A
 * missing end is NaN. A cue without a start begins where the one before ends, and is one of
 * `undated`. Entries that are null are left out.
 */
export function parseJsonTranscript(
  value: unknown,
): { language: string | null; cues: Cue[]; undated: Cue[] } | null {
  const parsed = file.safeParse(value);
  if (!parsed.success) return null;
  const { language: named, cues: given } = parsed.data;
  const isContiguous = given.every(({ start }, i) => i === 0 || start === given[i - 1]!.end);
  const isInMs = areMilliseconds(given) && !isContiguous;
  const found = isInMs ? fromMilliseconds(given) : given;
  const undated = found.filter(({ start }) => Number.isNaN(start));
  if (undated.length === found.length) return null;
  let last = 0;
  for (const cue of found) {
    if (Number.isNaN(cue.start)) cue.start = last;
    last = Number.isNaN(cue.end) ? cue.start : cue.end;
  }
  return { language: named, cues: found, undated };
}

/** Joins words into cues: a sentence each, shorter at pauses and beyond `CUE_LIMITS`. */
function wordsToCues(items: [word: string, times: { start: number; end: number }][]): Cue[] {
  const hasSpaces = items.some(([word]) => /^\s/.test(word)); // as in Whisper's tokens
  const result: Cue[] = [];
  for (const [word, { start, end }] of items) {
    const last = result.at(-1);
    const continues =
      last !== undefined &&
      !ENDS_SENTENCE.test(last.text.trim()) &&
      start - (Number.isNaN(last.end) ? start : last.end) < CUE_LIMITS.pauseSeconds &&
      start - last.start < CUE_LIMITS.maxSeconds &&
      last.text.length < CUE_LIMITS.maxCharacters;
    if (!continues) result.push({ start, end, text: word });
    else {
      const text = `${last.text}${hasSpaces ? "" : " "}${word}`;
      result[result.length - 1] = { ...last, end, text };
    }
  }
  return result;
}
