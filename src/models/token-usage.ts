/** Estimate for models that don't report token counts. */
export const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 256; // of Gemma

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
}

/** The fields of a chat chunk from which tokens are counted. */
interface TokenReport {
  text: string;
  reasoning: string;
  usage: TokenUsage | null;
}

/** Estimates the tokens of a model's input: of its texts, and of images as `data:` URLs. */
export function estimateInputTokens(input: object): number {
  const parts: unknown[] = [Reflect.get(input, "text"), Reflect.get(input, "messages")];
  return Math.ceil(estimateTokens(parts));
}

function estimateTokens(value: unknown): number {
  if (typeof value === "string") {
    return value.startsWith("data:image/") ? TOKENS_PER_IMAGE : value.length / CHARACTERS_PER_TOKEN;
  }
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + estimateTokens(part), 0);
}

/** Counts the tokens of a chat stream: as the model reports them, or estimated. */
export class ChatTokenCounter {
  readonly #input: object;
  #reported: TokenUsage | null = null;
  #characters = 0;

  constructor(input: object) {
    this.#input = input;
  }

  add({ usage, text, reasoning }: TokenReport): void {
    this.#reported = usage ?? this.#reported;
    this.#characters += text.length + reasoning.length;
  }

  get usage(): TokenUsage {
    if (this.#reported) return this.#reported;
    const outputTokens = Math.ceil(this.#characters / CHARACTERS_PER_TOKEN);
    return { inputTokens: estimateInputTokens(this.#input), outputTokens };
  }
}
