import { MODELS } from "../config.ts";

/** What the calls through a meter have used so far. */
export interface ModelUse {
  modelCalls: number;
  /** Estimated: what is billed is the platform's own count. */
  neurons: number;
}

const CHARACTERS_PER_TOKEN = 4;

/** The same models, with a count of what is used, also by calls that fail after they were made. */
export function meter(ai: Ai): { ai: Ai; used: ModelUse } {
  const used: ModelUse = { modelCalls: 0, neurons: 0 };
  const run = async (model: keyof AiModels, input: object) => {
    used.modelCalls += 1;
    const answer: unknown = await ai.run(model, input);
    used.neurons += neuronsOf(model, input, answer);
    return answer;
  };
  const metered: Ai = Object.create(ai, { run: { value: run } });
  return { ai: metered, used };
}

function neuronsOf(model: string, input: object, answer: unknown): number {
  const priced = Object.values(MODELS).find(({ id }) => id === model);
  if (!priced) return 0;
  if ("neuronsPerMinute" in priced) return (soundSeconds(answer) / 60) * priced.neuronsPerMinute;
  const { prompt_tokens, completion_tokens, input_tokens, output_tokens } = tokensOf(answer);
  const asked = prompt_tokens ?? input_tokens ?? estimate(input);
  const answered = completion_tokens ?? output_tokens ?? 0;
  return (asked * priced.neurons[0] + answered * priced.neurons[1]) / 1_000_000;
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

/** For models that don't say: of the texts that were sent. */
function estimate(input: object): number {
  const texts: unknown = Reflect.get(input, "text");
  return Math.ceil([texts].flat().join("").length / CHARACTERS_PER_TOKEN);
}
