export const CHARACTERS_PER_TOKEN = 4;

export interface CompletionParts {
  model: string;
  content: string;
  /** Reasoning tokens, as text. */
  reasoning?: string;
  finishReason?: "stop" | "length";
  usage: CompletionUsage;
}

/** Makes a complete, unstreamed response of a chat model. */
export function completion({
  model,
  content,
  reasoning,
  finishReason = "stop",
  usage,
}: CompletionParts): ChatCompletionsOutput {
  const reasoningContent = reasoning !== undefined && { reasoning_content: reasoning };
  const message = { role: "assistant" as const, content, refusal: null, ...reasoningContent };
  return {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [{ index: 0, message, finish_reason: finishReason, logprobs: null }],
    usage,
  };
}

/** Estimates the tokens of a prompt and a reply from their characters; `otherTokens` are images. */
export function usageOf(
  promptCharacters: number,
  replyCharacters: number,
  otherTokens = 0,
): CompletionUsage {
  const prompt_tokens = otherTokens + Math.ceil(promptCharacters / CHARACTERS_PER_TOKEN);
  const completion_tokens = Math.ceil(replyCharacters / CHARACTERS_PER_TOKEN);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
