import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sightline } from "sightline";
import type { MediaFile } from "../../tools/media-files.ts";
import { type Service, withService } from "../../tools/service.ts";
import type { Suite, SuiteOptions } from "../../tools/suite.ts";
import type { AnswerCase } from "./case.ts";
import { type AnswerFigures, type AnswerOutcome, summarizeOutcomes } from "./outcomes.ts";
import { requestAnswer, requestImageAnswer, requestRangeAnswer } from "./request-answer.ts";

/**
 * Every twentieth question is also asked with images, which takes longer. An account has a thousand
 * answers a day.
 */
const IMAGE_QUESTION_STEP = 20;

/** Files of an index, and questions about them. */
export interface AnswerMaterial {
  indexName: string;
  files: MediaFile[];
  cases: AnswerCase[];
}

/** Outcomes by endpoint. */
type OutcomesByEndpoint = Record<
  "answer" | "answer_vqa" | "answer_vqa of a video",
  AnswerOutcome[]
>;

async function requestAnswers(
  sightline: Sightline,
  { indexName, cases }: AnswerMaterial,
  outcomes: OutcomesByEndpoint,
): Promise<void> {
  const index = sightline.index(indexName);
  for (const answerCase of cases) outcomes.answer.push(await requestAnswer(index, answerCase));
  const imageCases = cases.filter((_, i) => i % IMAGE_QUESTION_STEP === 0);
  for (const answerCase of imageCases)
    outcomes.answer_vqa.push(await requestImageAnswer(index, answerCase));
  const { items: videos } = await index.videos.list({ limit: 100 });
  const answered = imageCases.filter(({ right }) => right.length > 0);
  for (const answerCase of answered) {
    const other =
      answered.find(({ right }) => right[0]!.file !== answerCase.right[0]!.file) ?? answerCase;
    const rangeOutcomes = await requestRangeAnswer(index, [answerCase, other], videos);
    outcomes["answer_vqa of a video"].push(...rangeOutcomes);
  }
}

function listFigures(outcomes: OutcomesByEndpoint): AnswerFigures[] {
  const sets = [...Map.groupBy(outcomes.answer, ({ set }) => set)];
  return [
    ...sets.map(([set, answers]) => summarizeOutcomes(set, "answer", answers)),
    ...Object.entries(outcomes).map(([by, answers]) => summarizeOutcomes("all", by, answers)),
  ];
}

async function run(
  { sightline, ingest }: Service,
  materials: readonly AnswerMaterial[],
  log: (line: string) => void,
) {
  const outcomes: OutcomesByEndpoint = { answer: [], answer_vqa: [], "answer_vqa of a video": [] };
  for (const material of materials) {
    log(`${material.indexName}:`);
    const ended = await ingest(material.indexName, material.files);
    const failed = ended.filter(({ state }) => state === "failed");
    if (failed.length > 0) throw new Error(`${failed.length} files of the material failed.`);
    log(`${material.cases.length} questions`);
    await requestAnswers(sightline, material, outcomes);
  }
  return listFigures(outcomes);
}

/** Makes a suite of the questions about files that `writeMaterials` writes into a folder. */
export function answerSuite(
  summary: string,
  writeMaterials: (folder: string, options: SuiteOptions) => Promise<AnswerMaterial[]>,
): Suite {
  return {
    summary,
    async run(options) {
      const folder = await mkdtemp(join(tmpdir(), "sightline-bench-"));
      if (!process.env["LOCAL_LLM_URL"]) {
        options.log("LOCAL_LLM_URL isn't set: all answers are extractive, `generated` is 0.");
      }
      try {
        const materials = await writeMaterials(folder, options);
        const answers = await withService(options, (service) =>
          run(service, materials, options.log),
        );
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
}
