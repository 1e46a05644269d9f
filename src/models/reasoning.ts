/** Start delimiters of reasoning inside a model's text. */
const STARTS = ["<think>", "<|channel>"] as const;
/**
 * Reasoning, closed or not: of Qwen and DeepSeek, and of Gemma 4, which emits an empty pair even if
 * reasoning is disabled (https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4).
 */
const REASONING = // bounded: a reply of at most MODELS.answer.maxTokens
  /<think>[^]*?(<\/think>|$)|<\|channel>[^]*?(<channel\|>|$)/g;

/** Removes reasoning, and leading white space, from a streamed text, however it is split. */
export class ReasoningFilter {
  /** Reasoning that isn't closed, or what may be the first part of a delimiter. */
  #pending = "";
  #hasText = false;

  /**
   * Returns the text that is certainly no reasoning. Reasoning without an end delimiter is dropped.
   */
  remove(chunk: string): string {
    const text = this.#pending + chunk;
    const last = text.slice(Math.max(0, text.lastIndexOf("<")));
    const partial = STARTS.some((start) => start.startsWith(last)) ? last : "";
    this.#pending = partial;
    const decided = text.slice(0, text.length - partial.length);
    const visible = decided.replaceAll(REASONING, (reasoning, ...ends: (string | undefined)[]) => {
      if (ends[0] === "" || ends[1] === "") this.#pending = reasoning + partial;
      return "";
    });
    return this.#trimStart(visible);
  }

  /** Returns the text that was withheld because a delimiter might have started. */
  end(): string {
    const isReasoning = STARTS.some((start) => this.#pending.startsWith(start));
    return this.#trimStart(isReasoning ? "" : this.#pending);
  }

  #trimStart(visible: string): string {
    const text = this.#hasText ? visible : visible.trimStart();
    this.#hasText ||= text !== "";
    return text;
  }
}
