import { MODELS } from "../config.ts";
import { ChatEvents } from "./chat-events.ts";
import { ChatTokenCounter, estimateInputTokens, type TokenUsage } from "./token-usage.ts";

/** Usage of all calls through a meter so far. */
export interface ModelUsage {
  modelCalls: number;
  /** Estimated from tokens and prices; the platform bills its own count. */
  neurons: number;
}

/**
 * Wraps the AI binding to count calls and neurons, including those of calls that fail. The neurons
 * of a stream are counted when it ends, fails or is cancelled.
 */
export function meter(ai: Ai): { ai: Ai; used: ModelUsage } {
  const used: ModelUsage = { modelCalls: 0, neurons: 0 };
  const run = async (model: keyof AiModels, input: object) => {
    used.modelCalls += 1;
    const response: unknown = await ai.run(model, input);
    if (response instanceof ReadableStream) {
      return meterStream(response, input, (tokens) => {
        used.neurons += tokenNeurons(model, tokens);
      });
    }
    used.neurons += responseNeurons(model, input, response);
    return response;
  };
  const metered: Ai = Object.create(ai, { run: { value: run } });
  return { ai: metered, used };
}

/** Passes on a chat stream unchanged, without reading ahead, and counts its tokens. */
function meterStream(
  stream: ReadableStream<Uint8Array>,
  input: object,
  onEnd: (tokens: TokenUsage) => void,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  const events = new ChatEvents();
  const tokens = new ChatTokenCounter(input);
  let isFinished = false;
  const finish = () => {
    if (!isFinished) onEnd(tokens.usage);
    isFinished = true;
  };
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          finish();
          throw error;
        });
        if (isFinished) return; // cancelled while reading
        const parsed = done ? events.end() : events.feed(value);
        for (const event of parsed) if (typeof event === "object") tokens.add(event);
        if (!done) return controller.enqueue(value);
        finish();
        controller.close();
      },
      cancel(reason) {
        finish();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function responseNeurons(model: string, input: object, response: unknown): number {
  const settings = findSettings(model);
  if (!settings) return 0;
  if ("neuronsPerMinute" in settings) {
    return (audioSeconds(response) / 60) * settings.neuronsPerMinute;
  }
  const { prompt_tokens, completion_tokens, input_tokens, output_tokens } =
    readTokenCounts(response);
  return tokenNeurons(model, {
    inputTokens: prompt_tokens ?? input_tokens ?? estimateInputTokens(input),
    outputTokens: completion_tokens ?? output_tokens ?? 0,
  });
}

function tokenNeurons(model: string, { inputTokens, outputTokens }: TokenUsage): number {
  const settings = findSettings(model);
  if (!settings || !("neurons" in settings)) return 0;
  const [perInput, perOutput] = settings.neurons; // per million tokens
  return (inputTokens * perInput + outputTokens * perOutput) / 1_000_000;
}

function findSettings(model: string) {
  return Object.values(MODELS).find(({ id }) => id === model);
}

interface TokenCounts {
  prompt_tokens?: number;
  completion_tokens?: number;
  input_tokens?: number;
  output_tokens?: number;
}

/** Reads the token counts of chat models (`usage`) and of Moondream (`metrics`). */
function readTokenCounts(response: unknown): TokenCounts {
  return { ...readObject(response, "metrics"), ...readObject(response, "usage") };
}

function audioSeconds(response: unknown): number {
  const { duration }: { duration?: number } = readObject(response, "transcription_info");
  return duration ?? 0;
}

/** Reads a property that is an object; empty if it is missing. */
function readObject(response: unknown, name: string): object {
  const value: unknown = typeof response === "object" && response && Reflect.get(response, name);
  return typeof value === "object" && value ? value : {};
}
