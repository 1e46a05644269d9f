/**
 * How models mark what they think aloud inside their text: Qwen and DeepSeek, and Gemma 4, which
 * leaves an empty pair even where it is told not to think
 * (https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4).
 */
const MARKS = [
  ["<think>", "</think>"],
  ["<|channel>", "<channel|>"],
] as const;

/** Takes thoughts out of a text that comes in pieces, however they cut it, and blanks at its start. */
export class Thoughts {
  #held = "";
  #end: string | null = null;
  #hasBegun = false;

  /** What of the text is certain to be spoken; a thought that is never closed stays unspoken. */
  remove(piece: string): string {
    this.#held += piece;
    let spoken = "";
    for (;;) {
      const mark = this.#nextMark();
      if (!mark) return this.#begin(spoken + this.#release());
      const [at, length, end] = mark;
      if (this.#end === null) spoken += this.#held.slice(0, at);
      this.#held = this.#held.slice(at + length);
      this.#end = end;
    }
  }

  /** What was held back because it might have become a mark. */
  end(): string {
    const rest = this.#end === null ? this.#held : "";
    this.#held = "";
    return this.#begin(rest);
  }

  /** Where the next mark stands, its length, and what ends the thought that it begins. */
  #nextMark(): [at: number, length: number, end: string | null] | null {
    if (this.#end !== null) {
      const at = this.#held.indexOf(this.#end);
      return at < 0 ? null : [at, this.#end.length, null];
    }
    const starts = MARKS.map(([start, end]) => ({ at: this.#held.indexOf(start), start, end }));
    const [first] = starts.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at);
    return first ? [first.at, first.start.length, first.end] : null;
  }

  /** All but what might be the first half of a mark. */
  #release(): string {
    const marks = this.#end === null ? MARKS.map(([start]) => start) : [this.#end];
    const kept = Math.max(...marks.map((mark) => overlap(this.#held, mark)));
    const free = this.#held.slice(0, this.#held.length - kept);
    this.#held = this.#held.slice(free.length);
    return this.#end === null ? free : "";
  }

  #begin(spoken: string): string {
    const text = this.#hasBegun ? spoken : spoken.trimStart();
    this.#hasBegun ||= text !== "";
    return text;
  }
}

/** How many characters at the end of `text` are the start of `mark`, but not all of it. */
function overlap(text: string, mark: string): number {
  let length = Math.min(text.length, mark.length - 1);
  while (!text.endsWith(mark.slice(0, length))) length -= 1;
  return length;
}
