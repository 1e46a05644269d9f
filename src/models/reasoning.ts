/**
 * Delimiters of reasoning inside a model's text: of Qwen and DeepSeek, and of Gemma 4, which emits
 * an empty pair even if reasoning is disabled
 * (https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4).
 */
const DELIMITERS = [
  ["<think>", "</think>"],
  ["<|channel>", "<channel|>"],
] as const;

/** Removes reasoning, and leading white space, from a streamed text, however it is split. */
export class ReasoningFilter {
  #pending = "";
  /** The delimiter that ends the current reasoning; null outside of reasoning. */
  #end: string | null = null;
  #hasText = false;

  /**
   * Returns the text that is certainly no reasoning. Reasoning without an end delimiter is dropped.
   */
  remove(chunk: string): string {
    this.#pending += chunk;
    let visible = "";
    for (;;) {
      const delimiter = this.#nextDelimiter();
      if (!delimiter) return this.#trimStart(visible + this.#release());
      const { at, length, end } = delimiter;
      if (this.#end === null) visible += this.#pending.slice(0, at);
      this.#pending = this.#pending.slice(at + length);
      this.#end = end;
    }
  }

  /** Returns the text that was withheld because a delimiter might have started. */
  end(): string {
    const rest = this.#end === null ? this.#pending : "";
    this.#pending = "";
    return this.#trimStart(rest);
  }

  /** Finds the next delimiter. `end` is the delimiter that ends the reasoning which starts here. */
  #nextDelimiter(): { at: number; length: number; end: string | null } | null {
    if (this.#end !== null) {
      const at = this.#pending.indexOf(this.#end);
      return at < 0 ? null : { at, length: this.#end.length, end: null };
    }
    const starts = DELIMITERS.map(([start, end]) => {
      return { at: this.#pending.indexOf(start), length: start.length, end };
    });
    return starts.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at)[0] ?? null;
  }

  /** Releases all text but a possible first part of a delimiter. */
  #release(): string {
    const delimiters = this.#end === null ? DELIMITERS.map(([start]) => start) : [this.#end];
    const overlaps = delimiters.map((delimiter) => overlapLength(this.#pending, delimiter));
    const released = this.#pending.slice(0, this.#pending.length - Math.max(...overlaps));
    this.#pending = this.#pending.slice(released.length);
    return this.#end === null ? released : "";
  }

  #trimStart(visible: string): string {
    const text = this.#hasText ? visible : visible.trimStart();
    this.#hasText ||= text !== "";
    return text;
  }
}

/** Returns the length of the end of `text` that is a proper prefix of `delimiter`. */
function overlapLength(text: string, delimiter: string): number {
  let length = Math.min(text.length, delimiter.length - 1);
  while (!text.endsWith(delimiter.slice(0, length))) length -= 1;
  return length;
}
