const CHARACTERS_PER_TOKEN = 4;

export interface Said {
  model: string;
  content: string;
  /** What a model that reasons says to itself. */
  reasoning?: string;
  finish?: "stop" | "length";
  usage: CompletionUsage;
}

/** A whole answer of a chat model. */
export function completion({
  model,
  content,
  reasoning,
  finish = "stop",
  usage,
}: Said): ChatCompletionsOutput {
  const thought = reasoning !== undefined && { reasoning_content: reasoning };
  const message = { role: "assistant" as const, content, refusal: null, ...thought };
  return {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [{ index: 0, message, finish_reason: finish, logprobs: null }],
    usage,
  };
}

/** Tokens that texts of so many characters, and so much else, may have taken. */
export function usageOf(asked: number, answered: number, otherTokens = 0): CompletionUsage {
  const prompt_tokens = otherTokens + Math.ceil(asked / CHARACTERS_PER_TOKEN);
  const completion_tokens = Math.ceil(answered / CHARACTERS_PER_TOKEN);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
