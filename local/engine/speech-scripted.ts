import { readFile } from "node:fs/promises";
import type { FoundRecognizer, SpokenSegment } from "./speech.ts";

/**
 * Returns a recogniser for tests that ignores the audio: the n-th interval of speech gets the n-th
 * line of a text file, its words spread evenly. Intervals beyond the last line get no text. Tests
 * don't depend on the recognisers that are installed.
 */
export function findScripted(file: string): FoundRecognizer {
  return {
    model: "scripted",
    async load() {
      const lines = (await readFile(file, "utf8")).split("\n").filter(Boolean);
      return {
        async recognize(_samples, ranges, language) {
          const segments = ranges.flatMap((range, index) => {
            const text = lines[index];
            return text === undefined ? [] : [toSegment(text, range.start, range.end)];
          });
          return { language: language ?? "en", segments };
        },
      };
    },
  };
}

function toSegment(text: string, start: number, end: number): SpokenSegment {
  const words = text.split(" ");
  const secondsPerWord = (end - start) / words.length;
  return {
    start,
    end,
    text,
    words: words.map((word, index) => ({
      word,
      start: start + index * secondsPerWord,
      end: start + (index + 1) * secondsPerWord,
      score: 1,
    })),
  };
}
