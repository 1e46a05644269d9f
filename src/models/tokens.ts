import type { ChatChunk } from "./chat-events.ts";

/** What models that don't say are taken to read and write. */
export const CHARACTERS_PER_TOKEN = 4;
const PICTURE_TOKENS = 256; // what Gemma makes of one picture

export interface TokenUse {
  inputTokens: number;
  outputTokens: number;
}

/** For models that don't say: of the texts and pictures (`data:` addresses) in what is sent to one. */
export function estimateInput(input: object): number {
  const said: unknown[] = [Reflect.get(input, "text"), Reflect.get(input, "messages")];
  return Math.ceil(estimate(said));
}

function estimate(value: unknown): number {
  if (typeof value === "string") {
    return value.startsWith("data:image/") ? PICTURE_TOKENS : value.length / CHARACTERS_PER_TOKEN;
  }
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + estimate(part), 0);
}

/** What a chat that is still answering has used: as the model says, else estimated. */
export class ChatTokens {
  readonly #input: object;
  #told: TokenUse | null = null;
  #characters = 0;

  constructor(input: object) {
    this.#input = input;
  }

  add({ usage, text, thought }: ChatChunk): void {
    this.#told = usage ?? this.#told;
    this.#characters += text.length + thought.length;
  }

  get used(): TokenUse {
    if (this.#told) return this.#told;
    const outputTokens = Math.ceil(this.#characters / CHARACTERS_PER_TOKEN);
    return { inputTokens: estimateInput(this.#input), outputTokens };
  }
}
