import type { ChatOutput } from "./chat.ts";
import type { ImageEmbeddings } from "./image-embeddings.ts";

export type Embedding = Ai_Cf_Baai_Bge_M3_Output_Embedding & {
  data: number[][];
  shape: number[];
};
/** Output of a model of the stand-in. */
export type ModelOutput =
  | Embedding
  | ImageEmbeddings
  | ChatOutput
  | Ai_Cf_Moondream_Moondream3_1_9B_A2B_Output
  | Ai_Cf_Openai_Whisper_Large_V3_Turbo_Output;

/** Replies that a chat model damages, by fault. */
const REPLIES: Record<string, (content: string) => string> = {
  malformed: (content) => content.slice(content.length / 2),
  cut: (content) => content.slice(0, content.length / 2),
  fenced: (content) => `\`\`\`json\n${content}\n\`\`\``,
  prose: (content) => `Here is the JSON {as requested}:\n${content}\nIs there {more} to do?`,
};

/**
 * Damages an output. `malformed` drops a vector, the times, the boxes or the first half of a reply,
 * or cuts a stream. The other faults of `REPLIES` are for replies only.
 */
export function damage(output: ModelOutput, fault: string): ModelOutput {
  if (output instanceof ReadableStream) {
    return fault === "malformed" ? output.pipeThrough(firstChunkOnly()) : output;
  }
  if ("choices" in output) return damageReply(output, fault);
  if (fault !== "malformed") return output;
  if ("shape" in output) return { ...output, data: output.data.slice(1) };
  if ("data" in output) return { ...output, data: output.data.slice(1) };
  if ("metrics" in output) return { finish_reason: "stop", metrics: output.metrics };
  return { ...output, segments: [{ text: output.text }] };
}

function damageReply(output: ChatCompletionsOutput, fault: string): ChatCompletionsOutput {
  const reply = REPLIES[fault];
  if (!reply) return output;
  const choices = output.choices.map((choice) => {
    const message = { ...choice.message, content: reply(choice.message.content ?? "") };
    const finish_reason = fault === "cut" ? ("length" as const) : choice.finish_reason;
    return { ...choice, message, finish_reason };
  });
  return { ...output, choices };
}

function firstChunkOnly(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.slice(0, chunk.length / 2));
      controller.terminate();
    },
  });
}
