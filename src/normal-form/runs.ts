import { toWord, type Word } from "./languages.ts";

const WORD = /[\p{L}\p{N}\p{M}\u0640]+/gu;
const ONLY_ASCII = /^[\0-\x7F]*$/;

/** Runs of letters and digits, and where each starts in the text. */
export interface Runs {
  words: Word[];
  starts: number[];
}

/** Splits a text into runs. */
export function readRuns(text: string): Runs {
  const runs: Runs = { words: [], starts: [] };
  const add = (start: number, end: number) => {
    runs.words.push(toWord(text.slice(start, end)));
    runs.starts.push(start);
  };
  if (!ONLY_ASCII.test(text)) {
    const word = new RegExp(WORD);
    for (let run = word.exec(text); run; run = word.exec(text)) add(run.index, word.lastIndex);
    return runs;
  }
  let start = -1;
  for (let at = 0; at < text.length; at++) {
    const isInRun = isAsciiWord(text.charCodeAt(at));
    if (isInRun && start < 0) start = at;
    if (!isInRun && start >= 0) {
      add(start, at);
      start = -1;
    }
  }
  if (start >= 0) add(start, text.length);
  return runs;
}

/** Tests for the code of an ASCII letter or digit. */
function isAsciiWord(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39)
  );
}
