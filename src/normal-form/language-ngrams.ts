import { type Language, LANGUAGES } from "./function-words.ts";
import json from "./language-ngrams.json" with { type: "json" };

/**
 * N-grams of each language by the steps of their score, front-coded: a digit says how many letters
 * one shares with the last. Made by `npm run word-forms`.
 */
export type NgramData = Record<Language, string[]>;

/** What a step of a score is worth. */
export const SCORE_STEP = 32;
/** Bytes of an n-gram, and from one to the next: those of Nito-ELD. */
const LENGTH = 4;
const STRIDE = 3;
const MAX_BYTES = 70;
/** Letters for bytes that aren't ASCII. */
const FIRST_LETTER = 0x100;

/** Writes bytes of UTF-8 as letters, those of ASCII as they are. */
export function toByteLetters(bytes: Uint8Array): string {
  let letters = "";
  for (const byte of bytes)
    letters += String.fromCharCode(byte < 0x80 ? byte : FIRST_LETTER + byte);
  return letters;
}

const ENCODER = new TextEncoder();
const scores = new Map<string, number[]>();

function readScores(): void {
  const data: NgramData = json;
  for (const [place, language] of LANGUAGES.entries()) {
    for (const [steps, coded] of data[language].entries()) {
      let ngram = "";
      for (const [, shared, rest] of coded.matchAll(/(\d)(\D+)/g)) {
        ngram = ngram.slice(0, Number(shared)) + rest!;
        const own = scores.get(ngram);
        if (own) own.push(place, steps * SCORE_STEP);
        else scores.set(ngram, [place, steps * SCORE_STEP]);
      }
    }
  }
}

/** Adds the scores of a word's n-grams to those of languages, by their place in `LANGUAGES`. */
export function addNgramScores(word: string, sums: Float32Array): void {
  if (scores.size === 0) readScores();
  const lower = word.toLowerCase();
  const isAscii = /^[\0-\x7F]*$/.test(lower);
  const letters = (isAscii ? lower : toByteLetters(ENCODER.encode(lower))).slice(0, MAX_BYTES);
  const add = (ngram: string) => {
    const own = scores.get(ngram) ?? [];
    for (let i = 0; i < own.length; i += 2) sums[own[i]!]! += own[i + 1]!;
  };
  let at = 0;
  for (; at + LENGTH < letters.length; at += STRIDE) {
    add((at === 0 ? " " : "") + letters.slice(at, at + LENGTH));
  }
  add((at === 0 ? " " : "") + letters.slice(-LENGTH) + " ");
}
