import { MODELS } from "../config.ts";
import { ChatEvents } from "../models/chat-events.ts";
import type { RunOptions } from "../models/run.ts";
import { ChatTokenCounter, estimateInputTokens, type TokenUsage } from "../models/token-usage.ts";
import type { CountUsage } from "./usage-meter.ts";

/**
 * Wraps the AI binding to count calls, also those that fail, their tokens, seconds of audio and
 * neurons. The tokens of a stream are counted when it ends, fails or is cancelled. Neurons are
 * estimated from tokens and prices: the platform bills its own count.
 */
export function meterAi(ai: Ai, count: CountUsage): Ai {
  const run = async (model: keyof AiModels, input: object, options?: RunOptions) => {
    count("modelCalls", 1);
    const response: unknown = await ai.run(model, input, options);
    if (response instanceof ReadableStream) {
      return meterStream(response, input, (tokens) => countTokens(model, tokens, count));
    }
    countResponse(model, input, response, count);
    return response;
  };
  return Object.create(ai, { run: { value: run } }) as Ai;
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

function countResponse(model: string, input: object, response: unknown, count: CountUsage): void {
  const settings = findSettings(model);
  if (settings && "neuronsPerMinute" in settings) {
    const seconds = readAudioSeconds(response);
    count("audioSeconds", seconds);
    return count("neurons", (seconds / 60) * settings.neuronsPerMinute);
  }
  const { prompt_tokens, completion_tokens, input_tokens, output_tokens } =
    readTokenCounts(response);
  const inputTokens = prompt_tokens ?? input_tokens ?? estimateInputTokens(input);
  const outputTokens = completion_tokens ?? output_tokens ?? 0;
  countTokens(model, { inputTokens, outputTokens }, count);
}

function countTokens(
  model: string,
  { inputTokens, outputTokens }: TokenUsage,
  count: CountUsage,
): void {
  count("inputTokens", inputTokens);
  count("outputTokens", outputTokens);
  const settings = findSettings(model);
  if (!settings || !("neurons" in settings)) return;
  const [perInput, perOutput] = settings.neurons; // per million tokens
  count("neurons", (inputTokens * perInput + outputTokens * perOutput) / 1_000_000);
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

function readAudioSeconds(response: unknown): number {
  const { duration }: { duration?: number } = readObject(response, "transcription_info");
  return duration ?? 0;
}

/** Reads a property that is an object; empty if it is missing. */
function readObject(response: unknown, name: string): object {
  const value: unknown = typeof response === "object" && response && Reflect.get(response, name);
  return typeof value === "object" && value ? value : {};
}
