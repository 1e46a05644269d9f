import { formatBytes } from "../models/pull.ts";
import { type Model, modelBytes } from "../models/registry.ts";

export interface Capabilities {
  /** Whether speech is recognised. */
  hasSpeech: boolean;
  /** Whether a pulled model embeds images. */
  hasPulledEmbeddings: boolean;
  /** Whether a language model writes answers. */
  hasChat: boolean;
}

/** Formats the commands that add what this machine lacks; empty if it lacks nothing. */
export function formatAdvice(capabilities: Capabilities, models: readonly Model[]): string {
  const lines: string[] = [];
  const missing = [
    !capabilities.hasSpeech && models.find(({ capability }) => capability === "speech"),
    !capabilities.hasPulledEmbeddings &&
      models.find(({ capability }) => capability === "embeddings"),
  ].filter((model) => model !== undefined && model !== false);
  if (missing.length > 0) {
    const gains = missing.map(({ capability }) =>
      capability === "speech" ? "recognises speech" : "searches images better",
    );
    const size = formatBytes(missing.reduce((sum, model) => sum + modelBytes(model), 0));
    lines.push(`This ${gains.join(" and ")} from the next start on (${size}):`);
    lines.push(`  npm run models -- pull ${missing.map(({ name }) => name).join(" ")}`);
  }
  if (!capabilities.hasChat) {
    lines.push("This lets a language model write the answers (Ollama, or another server):");
    lines.push("  LOCAL_LLM_URL=http://127.0.0.1:11434/v1 npm run demo");
  }
  return lines.join("\n");
}
