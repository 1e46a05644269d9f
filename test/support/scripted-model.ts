import type { Reply } from "../../local/scripted-chat.ts";
import { MODELS } from "../../src/config.ts";
import { localAi } from "../local/bindings.ts";

/** Scripts the answer model's replies, one per call. */
export function scriptAnswers(...replies: (string | Reply)[]): Promise<void> {
  const scripted = replies.map((reply) => (typeof reply === "string" ? { text: reply } : reply));
  return localAi().script(MODELS.answer.id, scripted);
}
