import { join } from "node:path";
import {
  findModels,
  type InstalledModels,
  modelsFolder,
} from "../../local/engine/installed-models.ts";
import { commandLine } from "../../local/engine/packages.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { type Column, formatRow, sanitizeText } from "../../tools/terminal.ts";
import { confirm } from "../command-line.ts";
import { formatBytes, pullModel } from "../models/pull.ts";
import { type Model, modelBytes, readRegistry } from "../models/registry.ts";

/** What a pulled model adds to what is found without it. */
const GAINS = {
  speech: "recognises speech, in 99 languages",
  embeddings: "finds pictures by any words",
} as const;
type Gain = keyof typeof GAINS;

const COLUMNS: Column[] = [
  { title: "NAME", width: 24 },
  { title: "SIZE", width: 9, align: "right" },
  { title: "LICENCE", width: 10 },
  { title: "WHAT", width: 40 },
];

/** Lists the models that this machine lacks: the first of each capability that has a gain. */
export function listMissing(
  installed: Pick<InstalledModels, Gain>,
  models: readonly Model[],
): Model[] {
  const lacked = (Object.keys(GAINS) as Gain[]).filter((gain) => installed[gain] === null);
  return lacked.flatMap((gain) => models.find(({ capability }) => capability === gain) ?? []);
}

/** Says what is found without the missing models, and lists them with size and licence. */
export function formatOffer(missing: readonly Model[]): string {
  const lacks = (gain: Gain) => missing.some(({ capability }) => capability === gain);
  const limits = [
    ...(lacks("embeddings")
      ? [
          "In pictures, it finds 80 kinds of objects (people, animals, vehicles, furniture, food …)",
          "and written text. Name objects in English; other words find pictures only roughly.",
        ]
      : []),
    ...(lacks("speech")
      ? ["Speech is found by transcripts beside the videos, and recognised badly or not at all."]
      : []),
  ];
  const rows = missing.map((model) => {
    const { name, capability, licence } = model;
    return formatRow(COLUMNS, [
      name,
      formatBytes(modelBytes(model)),
      licence,
      GAINS[capability as Gain],
    ]);
  });
  return [
    "This runs on this machine alone, with small models.",
    ...limits,
    "Better models are downloaded once, and a download that stops continues later:",
    ...rows.map((row) => `  ${row}`),
  ].join("\n");
}

/**
 * Says what this machine finds with the models it has, and offers better ones before the wait: by a
 * question on a terminal. `isWanted` downloads them without it. A failed download is reported, and
 * the demo goes on without the model.
 */
export async function offerModels(isWanted: boolean, signal: AbortSignal): Promise<void> {
  const missing = listMissing(findModels(), await readRegistry(join(PROJECT, "local/models.json")));
  if (missing.length === 0) return;
  console.log(`${formatOffer(missing)}\n`);
  if (!isWanted && !process.stdin.isTTY) return console.log("--models downloads them first.\n");
  if (!isWanted && !(await confirm("Download them now?", signal))) return;
  for (const model of missing) {
    try {
      await pullModel(modelsFolder(), model, signal);
    } catch (error) {
      signal.throwIfAborted();
      console.log(sanitizeText(`${(error as Error).message}\nGoing on without ${model.name}.`));
    }
  }
}

/** Says how a language model writes the answers. */
export const CHAT_ADVICE =
  "This lets a language model write the answers (Ollama, or another server):\n" +
  `  LOCAL_LLM_URL=http://127.0.0.1:11434/v1 ${commandLine("demo", "path…")}`;
