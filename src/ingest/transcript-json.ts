import { z } from "zod";
import type { Cue } from "../types.ts";

/** A pause after which a new cue begins, and what one holds at most where words come one by one. */
const WORDS = { pauseSeconds: 1, seconds: 10, characters: 120 } as const;
const ENDS_SENTENCE = /[.!?。！？…]["'”’»)\]]*$/u;

const seconds = z.number().min(-1e6).max(1e6);
const missingEnd = seconds.nullish().transform((end) => end ?? NaN);
const cues = z.array(z.object({ start: seconds, end: missingEnd, text: z.string() })).min(1);

const words = z
  .array(
    z.object({
      word: z.string(),
      punctuated_word: z.string().optional(),
      start: seconds,
      end: missingEnd,
    }),
  )
  .min(1)
  .transform((list) =>
    cuesOfWords(
      list.map(({ word, punctuated_word, ...times }) => [punctuated_word ?? word, times]),
    ),
  );

const language = z
  .string()
  .nullish()
  .transform((name) => name ?? null)
  .catch(null);

const utterances = z
  .array(z.object({ start: seconds, end: missingEnd, transcript: z.string() }))
  .min(1)
  .transform((list) => list.map(({ transcript, ...times }) => ({ ...times, text: transcript })));

const paragraphs = z
  .object({ paragraphs: z.array(z.object({ sentences: cues })).min(1) })
  .transform((found) => found.paragraphs.flatMap(({ sentences }) => sentences));

/** The likeliest reading of a channel comes first. */
const channel = z
  .object({
    detected_language: language,
    alternatives: z.tuple(
      [
        z.union([
          z.object({ paragraphs }).transform((one) => one.paragraphs),
          z.object({ words }).transform((one) => one.words),
          z.object({ words: z.array(z.unknown()).max(0) }).transform((): Cue[] => []),
        ]),
      ],
      z.unknown(),
    ),
  })
  .transform(({ detected_language, alternatives: [first] }) => {
    return { language: detected_language, cues: first };
  });

const file = z.union([
  cues.transform((list) => ({ language: null, cues: list })),
  z.object({ cues, language }),
  z.object({ segments: cues, language }).transform((one) => ({ ...one, cues: one.segments })),
  z.object({ words, language }).transform((one) => ({ ...one, cues: one.words })),
  z
    .object({ results: z.object({ utterances }) })
    .transform(({ results }) => ({ language: null, cues: results.utterances })),
  z
    .object({ results: z.object({ channels: z.array(channel).min(1) }) })
    .transform(({ results }) => ({
      language: results.channels[0]!.language,
      cues: results.channels.flatMap((one) => one.cues),
    })),
]);

/**
 * The cues of a transcript in JSON: a list of `{start, end, text}`, seconds, or `{cues}` or `{segments}`
 * with such a list, the latter being Whisper's; `{words}`, or an answer of Deepgram's: its utterances, its
 * paragraphs' sentences, or its words, of all channels. An end that isn't given is NaN. Null of other JSON.
 */
export function readJsonTranscript(
  value: unknown,
): { language: string | null; cues: Cue[] } | null {
  const parsed = file.safeParse(value);
  return parsed.success ? { language: parsed.data.language, cues: parsed.data.cues } : null;
}

/** Words as cues of a sentence each, or less where there is a pause or the sentence is long. */
function cuesOfWords(list: [word: string, times: { start: number; end: number }][]): Cue[] {
  const isSpaced = list.some(([word]) => /^\s/.test(word)); // as Whisper's tokens are
  const made: Cue[] = [];
  for (const [word, { start, end }] of list) {
    const last = made.at(-1);
    const goesOn =
      last !== undefined &&
      !ENDS_SENTENCE.test(last.text.trim()) &&
      start - (Number.isNaN(last.end) ? start : last.end) < WORDS.pauseSeconds &&
      start - last.start < WORDS.seconds &&
      last.text.length < WORDS.characters;
    if (!goesOn) made.push({ start, end, text: word });
    else
      made[made.length - 1] = { ...last, end, text: `${last.text}${isSpaced ? "" : " "}${word}` };
  }
  return made;
}
