import type { Reply } from "../local/scripted-chat.ts";
import { MODELS } from "../src/config.ts";
import { localAi } from "./local/bindings.ts";

/** Lets the model that answers say this, one reply a call. */
export function script(...replies: (string | Reply)[]): Promise<void> {
  const all = replies.map((reply) => (typeof reply === "string" ? { text: reply } : reply));
  return localAi().script(MODELS.answer.id, all);
}
