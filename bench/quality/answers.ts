import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Api, AssetRecord } from "../../scripts/demo/api-client.ts";
import type { MediaFile } from "../../scripts/demo/media-files.ts";
import { createRandom } from "../../scripts/picture-space/random.ts";
import { askInPictures, askInWords, askOfStretch } from "../answers/ask.ts";
import type { Case } from "../answers/case.ts";
import { layOutFacts } from "../answers/fact-media.ts";
import { makeFacts } from "../answers/facts.ts";
import { readNarrations } from "../answers/narrations.ts";
import { type Figures, type Outcome, sumUp } from "../answers/outcomes.ts";
import { type Service, withService } from "../service.ts";
import type { Suite } from "../suite.ts";

const SEED = 1;
/** With pictures every third question is asked, which is as slow as all others together. */
const STEP = 3;

interface Material {
  indexName: string;
  files: MediaFile[];
  cases: Case[];
}

async function gather(folder: string, dataDir: string): Promise<Material[]> {
  const facts = await layOutFacts(folder, makeFacts(createRandom(SEED)));
  const narrations = await readNarrations(join(dataDir, "speech"));
  return [
    { indexName: "facts", ...facts },
    ...narrations.map(({ files, cases }, i) => ({ indexName: `speech-${i + 1}`, files, cases })),
  ];
}

/** What became of the questions, by what was asked. */
type Asked = Record<"answer" | "answer_vqa" | "answer_vqa of a video", Outcome[]>;

async function askAll(api: Api, { indexName, cases }: Material, asked: Asked): Promise<void> {
  for (const one of cases) asked.answer.push(await askInWords(api, indexName, one));
  const some = cases.filter((_, i) => i % STEP === 0);
  for (const one of some) asked.answer_vqa.push(await askInPictures(api, indexName, one));
  const { videos } = await api.get<{ videos: AssetRecord[] }>(
    `/index/${indexName}/videos?limit=100`,
  );
  const answered = some.filter(({ right }) => right.length > 0);
  for (const one of answered) {
    const other = answered.find(({ right }) => right[0]!.file !== one.right[0]!.file) ?? one;
    const outcomes = await askOfStretch(api, indexName, [one, other], videos);
    asked["answer_vqa of a video"].push(...outcomes);
  }
}

function listFigures(asked: Asked): Figures[] {
  const sets = [...Map.groupBy(asked.answer, ({ set }) => set)];
  return [
    ...sets.map(([set, outcomes]) => sumUp(set, "answer", outcomes)),
    ...Object.entries(asked).map(([by, outcomes]) => sumUp("all", by, outcomes)),
  ];
}

async function run(
  { api, ingest }: Service,
  materials: readonly Material[],
  log: (line: string) => void,
) {
  const asked: Asked = { answer: [], answer_vqa: [], "answer_vqa of a video": [] };
  for (const material of materials) {
    log(`${material.indexName}:`);
    const ended = await ingest(material.indexName, material.files);
    const failed = ended.filter(({ state }) => state === "failed");
    if (failed.length > 0) throw new Error(`${failed.length} files of the material failed.`);
    log(`${material.cases.length} questions`);
    await askAll(api, material, asked);
  }
  return listFigures(asked);
}

export const suite: Suite = {
  summary: "facts told and written, narrated films → right moments cited, the rest refused",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-bench-"));
    if (!process.env["LOCAL_LLM_URL"]) {
      options.log("LOCAL_LLM_URL isn't set: all answers are extractive, `generated` is 0.");
    }
    try {
      const materials = await gather(folder, options.dataDir);
      const answers = await withService(options, (service) => run(service, materials, options.log));
      const all = answers.find(({ set }) => set === "all");
      const { refused, precision, recall, hit_rate } = all ?? {};
      return {
        table: answers.map((row) => ({ ...row })),
        json: { answers, refused, precision, recall, hit_rate },
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
