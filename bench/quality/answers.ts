import { join } from "node:path";
import { makeFacts } from "../../tools/facts/facts.ts";
import { createRandom } from "../../tools/random-numbers.ts";
import { answerSuite } from "../answers/answer-suite.ts";
import { KINDS } from "../answers/fact-kinds.ts";
import { writeFactMedia } from "../answers/fact-media.ts";
import { readNarrations } from "../answers/narrations.ts";

const SEED = 1;

export const suite = answerSuite(
  "are the right moments cited, and unanswerable questions refused?",
  async (folder, { dataDir }) => {
    const facts = await writeFactMedia(folder, makeFacts(KINDS, createRandom(SEED)));
    const narrations = await readNarrations(join(dataDir, "speech"));
    return [
      { indexName: "facts", ...facts },
      ...narrations.map(({ files, cases }, i) => ({ indexName: `speech-${i + 1}`, files, cases })),
    ];
  },
);
