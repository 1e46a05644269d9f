import { z } from "zod";
import type { Cue } from "../../types.ts";

/** Limits of cues that are result of words: the pause that ends one, its length and its text. */
const CUE_LIMITS = { pauseSeconds: 1, maxSeconds: 10, maxCharacters: 120 } as const;
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
    wordsToCues(
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

const file = z.union([
  cues.transform((list) => ({ language: null, cues: list })),
  z.object({ cues, language }),
  z
    .object({ segments: cues, language })
    .transform(({ segments, ...rest }) => ({ ...rest, cues: segments })),
  z.object({ words, language }).transform((list) => ({ ...list, cues: list.words })),
  z
    .object({ results: z.object({ utterances }) })
    .transform(({ results }) => ({ language: null, cues: results.utterances })),
  z
    .object({ results: z.object({ channels: z.array(channel).min(1) }) })
    .transform(({ results }) => ({
      language: results.channels[0]!.language,
      cues: results.channels.flatMap((result) => result.cues),
    })),
]);

/**
 * Parses a transcript in JSON. Null for other JSON. Accepts a list of `{start, end, text}` in
 * seconds, `{cues}` or Whisper's `{segments}` with such a list, `{words}`, and a response of
 * Deepgram: its utterances, or the sentences or words of all channels. A missing end is NaN.
 */
export function parseJsonTranscript(
  value: unknown,
): { language: string | null; cues: Cue[] } | null {
  const parsed = file.safeParse(value);
  return parsed.success ? { language: parsed.data.language, cues: parsed.data.cues } : null;
}

/** Joins words into cues: a sentence each, shorter at pauses and beyond `CUE_LIMITS`. */
function wordsToCues(list: [word: string, times: { start: number; end: number }][]): Cue[] {
  const hasSpaces = list.some(([word]) => /^\s/.test(word)); // as in Whisper's tokens
  const result: Cue[] = [];
  for (const [word, { start, end }] of list) {
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
