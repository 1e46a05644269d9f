import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import lexiconData from "../local/engine/quotes/lexicon.json" with { type: "json" };
import { Lexicon } from "../local/engine/quotes/lexicon.ts";
import { analyzeQuestion } from "../local/engine/quotes/question.ts";
import { BY_MEANING } from "../local/engine/quotes/quote-by-meaning.ts";
import { similarityLeads, findCandidates, toFeatures } from "../local/engine/quotes/quote-model.ts";
import { gatherEvidence } from "../local/engine/quotes/verifier.ts";
import { loadSentences } from "../local/engine/sentences.ts";
import { dot } from "../tools/retrieval.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { readCaptionedPhotos } from "../tools/training/captions.ts";
import {
  fitLogisticRegression,
  probabilityOf,
} from "../tools/training/quotes/logistic-regression.ts";
import {
  makeCaptionQuestions,
  makeFactQuestions,
  makeThresholdQuestions,
  type TrainingQuestion,
} from "../tools/training/quotes/questions.ts";
import { findSentences } from "../tools/training/quotes/sentence-pool.ts";
import { runCommand } from "./command-line.ts";

const USAGE = `Usage: npm run train-quotes -- [options]

Fits which sentences answer a question in other words (local/engine/quotes/quote-model.json), on
questions made from the captions of <DIR>/photos-train, on invented facts and on statements that
people wrote (tools/training/quotes). Prints how a fit on one half of them does on the other half;
the file is fitted on both. Then prints how it does on statements of its own at several thresholds,
for BY_MEANING.minProbability. Three minutes.

  --data DIR      folder with photos-train (default ../shared/data)
  --photos N      number of photos (default 40)
  --errors        print what a fit on the other half gets wrong about facts and statements
  --dry-run       only print the figures
  --help          print this help
`;

const OUT = join(PROJECT, "local/engine/quotes/quote-model.json");
const BATCH = 256;
const EMBED_MS = 600_000;
/** Sentences that are compared with a question. */
const FOUND_SENTENCES = 12;
/** Share of each source in the fit. */
const SOURCE_WEIGHTS = { captions: 0.2, facts: 0.35, statements: 0.45 };
/** Weight of a sentence that answers, and of one that doesn't. */
const ANSWER_WEIGHT = 3;

const THRESHOLDS = [0.8, 0.85, 0.88, 0.9, 0.92];

/** A sentence that a search would find for a question, with its features. */
interface Example {
  sentence: string;
  features: ReturnType<typeof toFeatures>;
  isRight: boolean;
}
type ComparedQuestion = TrainingQuestion & { examples: Example[] };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: "string", default: join(PROJECT, "../shared/data") },
      photos: { type: "string", default: "40" },
      errors: { type: "boolean" },
      "dry-run": { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const lexicon = new Lexicon(lexiconData);
  const photos = await readCaptionedPhotos(join(values.data, "photos-train"));
  const captions = photos.map((photo) => photo.captions);
  const questions = [
    ...makeCaptionQuestions(captions, lexicon, Number(values.photos)),
    ...makeFactQuestions(),
  ];
  const unseen = makeThresholdQuestions();
  const vectors = await embedTexts([...questions, ...unseen]);
  const compared = questions.map((question) => compare(question, vectors, lexicon));
  const half = compared.filter((question) => question.half === 1);
  const halfWeights = fitWeights(compared.filter((question) => question.half === 0));
  console.table(measure(half, halfWeights));
  if (values.errors) printErrors(half, halfWeights);
  const weights = fitWeights(compared).map((weight) => Math.round(weight * 1000) / 1000);
  const comparedUnseen = unseen.map((question) => compare(question, vectors, lexicon));
  console.table(THRESHOLDS.map((threshold) => measureAt(comparedUnseen, weights, threshold)));
  if (values["dry-run"]) return;
  const names = Object.keys(
    compared.find(({ examples }) => examples.length > 0)!.examples[0]!.features,
  );
  const model = Object.fromEntries(names.map((name, i) => [name, weights[i]]));
  await writeFile(OUT, `${JSON.stringify(model, null, 2)}\n`);
  console.log(OUT);
}

/** Returns the unit vectors of all questions and sentences. */
async function embedTexts(questions: readonly TrainingQuestion[]): Promise<Map<string, number[]>> {
  const texts = [
    ...new Set(questions.flatMap(({ question, sentences }) => [question, ...sentences])),
  ];
  const encoder = await loadSentences();
  const vectors = new Map<string, number[]>();
  for (let i = 0; i < texts.length; i += BATCH) {
    const batch = texts.slice(i, i + BATCH);
    const embedded = await encoder.embed(batch, AbortSignal.timeout(EMBED_MS));
    for (const [k, text] of batch.entries()) vectors.set(text, embedded[k]!);
  }
  return vectors;
}

/** Computes the features of the sentences that may answer, as `quoteByMeaning` does. */
function compare(
  question: TrainingQuestion,
  vectors: ReadonlyMap<string, number[]>,
  lexicon: Lexicon,
): ComparedQuestion {
  const { question: text, sentences, answer } = question;
  const found = findSentences(text, sentences, vectors, FOUND_SENTENCES);
  const parts = analyzeQuestion(text, lexicon);
  const likely = findCandidates(text, found, (sentence) =>
    gatherEvidence(sentence, parts, lexicon),
  );
  const similarities = likely.map(({ sentence }) =>
    dot(vectors.get(text)!, vectors.get(sentence)!),
  );
  const leads = similarityLeads(similarities);
  const examples = likely.map(({ sentence, evidence, overlapLead }, i) => {
    const similarity = similarities[i]!;
    const contrast = { similarity, similarityLead: leads[i]!, overlapLead };
    const features = toFeatures(evidence, contrast);
    return { sentence, features, isRight: sentence === answer };
  });
  return { ...question, examples };
}

function fitWeights(questions: readonly ComparedQuestion[]): number[] {
  const bySource = Map.groupBy(questions, ({ source }) => source);
  return fitLogisticRegression(
    [...bySource].flatMap(([source, ofSource]) => {
      const examples = ofSource.flatMap((question) => question.examples);
      return examples.map(({ features, isRight }) => {
        const share = SOURCE_WEIGHTS[source] / examples.length;
        return {
          features: Object.values(features),
          isRight,
          weight: share * (isRight ? ANSWER_WEIGHT : 1),
        };
      });
    }),
  );
}

/** Returns the sentence that a question is answered with; null if none is likely enough. */
function answerOf(
  { examples }: ComparedQuestion,
  weights: readonly number[],
  threshold = BY_MEANING.minProbability,
): Example | null {
  const likely = examples
    .map((example) => ({
      example,
      probability: probabilityOf(Object.values(example.features), weights),
    }))
    .filter(({ probability }) => probability >= threshold)
    .toSorted((a, b) => b.probability - a.probability);
  return likely[0]?.example ?? null;
}

/** Returns the shares of questions of each type that are answered, rightly and wrongly. */
function measure(questions: readonly ComparedQuestion[], weights: readonly number[]) {
  const share = (part: number, whole: number) => Number((part / whole).toFixed(3));
  const byType = Map.groupBy(questions, ({ source, type, answer }) => {
    return `${source}, ${type}${source === "captions" && answer === null ? ": near miss" : ""}`;
  });
  return Object.fromEntries(
    [...byType]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([type, ofType]) => {
        const answers = ofType.flatMap((question) => answerOf(question, weights) ?? []);
        const right = answers.filter(({ isRight }) => isRight).length;
        const figures = {
          questions: ofType.length,
          right: share(right, ofType.length),
          wrong: share(answers.length - right, ofType.length),
        };
        return [type, figures];
      }),
  );
}

/** Returns the share of right answers, and of questions that are rightly refused. */
function measureAt(
  questions: readonly ComparedQuestion[],
  weights: readonly number[],
  threshold: number,
) {
  const refused = (type: string) => {
    const ofType = questions.filter((question) => question.type === type);
    return ofType.filter((one) => !answerOf(one, weights, threshold)).length / ofType.length;
  };
  const answers = questions.flatMap((question) => answerOf(question, weights, threshold) ?? []);
  const right = answers.filter(({ isRight }) => isRight).length;
  return {
    threshold,
    answered: answers.length,
    precision: Number((right / answers.length).toFixed(3)),
    nearMissesRefused: Number(refused("near miss").toFixed(3)),
    unanswerableRefused: Number(refused("unanswerable").toFixed(3)),
  };
}

/** Prints questions about facts and statements that are answered wrongly or not at all. */
function printErrors(questions: readonly ComparedQuestion[], weights: readonly number[]): void {
  for (const question of questions.filter(({ source }) => source !== "captions")) {
    const answer = answerOf(question, weights);
    if ((answer?.sentence ?? null) === question.answer) continue;
    const given = answer ? `wrong: ${answer.sentence}` : "no answer";
    console.log(`${question.question}  |  ${given}  |  right: ${question.answer ?? "none"}`);
  }
}

await runCommand(main, USAGE);
