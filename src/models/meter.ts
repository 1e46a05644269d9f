import { MODELS } from "../config.ts";
import { ChatEvents } from "./chat-events.ts";
import { ChatTokens, estimateInput, type TokenUse } from "./tokens.ts";

/** What the calls through a meter have used so far. */
export interface ModelUse {
  modelCalls: number;
  /** Estimated: what is billed is the platform's own count. */
  neurons: number;
}

/**
 * The same models, with a count of what is used, also by calls that fail after they were made. A
 * stream's neurons are counted once it has ended, failed or been cancelled.
 */
export function meter(ai: Ai): { ai: Ai; used: ModelUse } {
  const used: ModelUse = { modelCalls: 0, neurons: 0 };
  const run = async (model: keyof AiModels, input: object) => {
    used.modelCalls += 1;
    const answer: unknown = await ai.run(model, input);
    if (answer instanceof ReadableStream) {
      return meterChat(answer, input, (tokens) => {
        used.neurons += neuronsOfTokens(model, tokens);
      });
    }
    used.neurons += neuronsOf(model, input, answer);
    return answer;
  };
  const metered: Ai = Object.create(ai, { run: { value: run } });
  return { ai: metered, used };
}

/** The same bytes, each handed on before the next is asked for. */
function meterChat(
  answer: ReadableStream<Uint8Array>,
  input: object,
  onEnd: (tokens: TokenUse) => void,
): ReadableStream<Uint8Array> {
  const reader = answer.getReader();
  const events = new ChatEvents();
  const tokens = new ChatTokens(input);
  let isOver = false;
  const finish = () => {
    if (!isOver) onEnd(tokens.used);
    isOver = true;
  };
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          finish();
          throw error;
        });
        if (isOver) return; // cancelled meanwhile
        const said = done ? events.end() : events.feed(value);
        for (const event of said) if (typeof event === "object") tokens.add(event);
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

function neuronsOf(model: string, input: object, answer: unknown): number {
  const priced = priceOf(model);
  if (!priced) return 0;
  if ("neuronsPerMinute" in priced) return (soundSeconds(answer) / 60) * priced.neuronsPerMinute;
  const { prompt_tokens, completion_tokens, input_tokens, output_tokens } = tokensOf(answer);
  return neuronsOfTokens(model, {
    inputTokens: prompt_tokens ?? input_tokens ?? estimateInput(input),
    outputTokens: completion_tokens ?? output_tokens ?? 0,
  });
}

function neuronsOfTokens(model: string, { inputTokens, outputTokens }: TokenUse): number {
  const priced = priceOf(model);
  if (!priced || !("neurons" in priced)) return 0;
  return (inputTokens * priced.neurons[0] + outputTokens * priced.neurons[1]) / 1_000_000;
}

function priceOf(model: string) {
  return Object.values(MODELS).find(({ id }) => id === model);
}

interface Tokens {
  prompt_tokens?: number;
  completion_tokens?: number;
  input_tokens?: number;
  output_tokens?: number;
}

/** Chat models tell under one name, Moondream under another. */
function tokensOf(answer: unknown): Tokens {
  return { ...partOf(answer, "metrics"), ...partOf(answer, "usage") };
}

function soundSeconds(answer: unknown): number {
  const { duration }: { duration?: number } = partOf(answer, "transcription_info");
  return duration ?? 0;
}

function partOf(answer: unknown, name: string): object {
  const part: unknown = typeof answer === "object" && answer && Reflect.get(answer, name);
  return typeof part === "object" && part ? part : {};
}
