import { stemmer } from "stemmer";
import { fold, foldPlural, uniqueWords } from "../search/query.ts";
import type { TimeRangeMs } from "../time-range.ts";
import { hasUnsegmentedScript } from "../unsegmented-scripts.ts";
import { detectLanguage } from "./claim-language.ts";
import { numberForms } from "./claim-numbers.ts";
import { normalizeClaimText } from "./claim-text.ts";

/** What a claim may rest on. */
export interface ClaimEvidence {
  title: string;
  speech: string;
  onScreenText: string;
  caption: string;
  /** Whether the model was shown an image of the source. */
  hasImage: boolean;
  /** Null for an image. */
  timeRange: TimeRangeMs | null;
}

/** Sources that one sentence cites, prepared for look-ups. */
export class CitedText {
  readonly text: string;
  readonly hasImage: boolean;
  /** Whether there is speech, on-screen text or a caption. */
  readonly hasText: boolean;
  /** Whether an image was shown of which nothing says in words what is in it. */
  readonly hasUndescribedImage: boolean;
  readonly count: number;
  readonly numbers: ReadonlySet<string>;
  /** Folded words, title included. */
  readonly words: ReadonlySet<string>;
  /** Languages of the fields with text; `en` for a text in Latin script that is too short. */
  readonly languages: ReadonlySet<string>;
  readonly #stems: ReadonlySet<string>;
  readonly #letters: string;
  /** Offsets in `#letters` at which a word starts or ends. */
  readonly #boundaries: ReadonlySet<number>;
  readonly #timeRanges: TimeRangeMs[];

  constructor(sources: readonly ClaimEvidence[]) {
    const texts = sources.flatMap(({ speech, onScreenText, caption }) => {
      return [speech, onScreenText, caption].filter(Boolean);
    });
    const titles = sources.map(({ title }) => title);
    this.text = normalizeClaimText([...titles, ...texts].join("\n"));
    this.hasImage = sources.some(({ hasImage }) => hasImage);
    this.hasText = texts.length > 0;
    this.hasUndescribedImage = sources.some(({ hasImage, caption }) => hasImage && caption === "");
    this.count = sources.length;
    this.numbers = numberForms(this.text);
    this.words = new Set(uniqueWords(this.text));
    this.languages = new Set(texts.map((text) => detectLanguage(text) ?? "en"));
    this.#stems = new Set([...this.words].map(toStem));
    this.#timeRanges = sources.flatMap(({ timeRange }) => timeRange ?? []);
    const boundaries = new Set([0]);
    let letters = "";
    for (const word of wordsOf(this.text)) {
      letters += word;
      boundaries.add(letters.length);
    }
    this.#letters = letters;
    this.#boundaries = boundaries;
  }

  /** Tests whether the words of a phrase are in the sources in a row; spaces and marks aside. */
  hasPhrase(phrase: string): boolean {
    const letters = wordsOf(phrase).join("");
    for (
      let at = this.#letters.indexOf(letters);
      at >= 0;
      at = this.#letters.indexOf(letters, at + 1)
    ) {
      if (this.#boundaries.has(at) && this.#boundaries.has(at + letters.length)) return true;
    }
    return false;
  }

  /** Tests whether the sources have a word, or another form of it ("boats", "boat"). */
  hasWord(word: string): boolean {
    if (this.words.has(word) || this.#stems.has(toStem(word))) return true;
    return hasUnsegmentedScript(word) && this.#letters.includes(word);
  }

  /** Tests whether a time of the video, in seconds, is within a second of a cited source. */
  hasTime(seconds: number): boolean {
    return this.#timeRanges.some(({ startMs, endMs }) => {
      return seconds * 1000 > startMs - 1000 && seconds * 1000 < endMs + 1000;
    });
  }
}

/** Returns the words of a text in order, folded; each part of a compound is a word. */
function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** Stems a word as the full-text index does, and folds the plural first. */
export function toStem(word: string): string {
  return stemmer(foldPlural(word));
}
