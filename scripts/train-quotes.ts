import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { analyzeQuestion } from "../src/answer/quotes/question.ts";
import lexiconData from "../src/answer/quotes/lexicon.json" with { type: "json" };
import { Lexicon } from "../src/answer/quotes/lexicon.ts";
import { gatherEvidence, type QuoteEvidence, toFeatures } from "../src/answer/quotes/verifier.ts";
import { QUOTES } from "../src/parameters.ts";
import { loadSentences } from "../local/engine/sentences.ts";
import { type Fact, makeFacts } from "../tools/facts/facts.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { readCaptionedPhotos } from "../tools/training/captions.ts";
import { CaptionQuestions } from "../tools/training/quotes/caption-questions.ts";
import { TRAINING_KINDS } from "../tools/training/quotes/fact-table.ts";
import {
  fitLogisticRegression,
  probabilityOf,
} from "../tools/training/quotes/logistic-regression.ts";
import { createRandom, shuffle } from "../tools/training/random.ts";
import { runCommand } from "./command-line.ts";

const USAGE = `Usage: npm run train-quotes -- [options]

Fits which sentences answer a question in other words (src/answer/quotes/quote-model.json), on
questions made from the captions of <DIR>/photos-train and on facts of its own. Prints how a fit on
one half of photos and facts does on the other half; the file is fitted on both. Five minutes.

  --data DIR      folder with photos-train (default ../shared/data)
  --photos N      number of photos (default 400)
  --errors        print what a fit on the other half gets wrong: wrong answers, facts not quoted
  --dry-run       only print the figures
  --help          print this help
`;

const OUT = join(PROJECT, "src/answer/quotes/quote-model.json");
const SEED = 1;
const BATCH = 256;
const EMBED_MS = 600_000;
/** Weight of a caption of another photo, which is easy to tell, and of the answer to a fact. */
const WEIGHT = { unrelated: 0.3, fact: 4 };

/** A question with a sentence that answers it or doesn't. */
interface Pair {
  type: string;
  question: string;
  sentence: string;
  isAnswer: boolean;
  isFact: boolean;
  /** 0 or 1. */
  half: number;
}

type ComparedPair = Pair & { evidence: QuoteEvidence };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: "string", default: join(PROJECT, "../shared/data") },
      photos: { type: "string", default: "400" },
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
  const pairs = [
    ...makeCaptionPairs(
      photos.map(({ captions }) => captions),
      lexicon,
      Number(values.photos),
    ),
    ...makeFactPairs(),
  ];
  const compared = pairs.flatMap((pair) => {
    const question = analyzeQuestion(pair.question, lexicon);
    const evidence = gatherEvidence(pair.sentence, question, lexicon);
    return evidence ? [{ ...pair, evidence }] : [];
  });
  const examples = await addFeatures(compared);
  const held = fitWeights(examples.filter(({ half }) => half === 0));
  console.table(
    measure(
      examples.filter(({ half }) => half === 1),
      held,
    ),
  );
  if (values.errors)
    printErrors(
      examples.filter(({ half }) => half === 1),
      held,
    );
  if (values["dry-run"]) return;
  const names = Object.keys(toFeatures(compared[0]!.evidence, 0));
  const weights = fitWeights(examples).map((weight) => Math.round(weight * 1000) / 1000);
  const model = Object.fromEntries(names.map((name, i) => [name, weights[i]]));
  await writeFile(OUT, `${JSON.stringify(model, null, 2)}\n`);
  console.log(OUT);
}

function makeCaptionPairs(
  photos: readonly (readonly string[])[],
  lexicon: Lexicon,
  count: number,
): Pair[] {
  const random = createRandom(SEED);
  const questions = new CaptionQuestions(photos, lexicon, random);
  const chosen = shuffle(photos.length, random).slice(0, count);
  return chosen.flatMap((at, i) =>
    [...questions.examplesOf(photos[at]!)].map(({ type, question, sentence, isAnswer }) => {
      return { type, question, sentence, isAnswer, isFact: false, half: i % 2 };
    }),
  );
}

/** Pairs each question about facts with each fact of its half. */
function makeFactPairs(): Pair[] {
  return [0, 1].flatMap((half) => {
    const kinds = TRAINING_KINDS.filter((_, i) => i % 2 === half);
    const { stated, unanswered } = makeFacts(kinds, createRandom(SEED));
    const pair = (type: string, question: string, fact: Fact, isAnswer: boolean): Pair => {
      return { type, question, sentence: fact.sentence, isAnswer, isFact: true, half };
    };
    const answered = stated.flatMap((fact) =>
      fact.questions.flatMap(({ wording, question }) =>
        stated.map((other) => pair(`fact, ${wording}`, question, other, other === fact)),
      ),
    );
    const others = unanswered.flatMap(({ missing, question }) =>
      stated.map((other) => pair(`no such ${missing}`, question, other, false)),
    );
    return answered.concat(others);
  });
}

type TrainingExample = ComparedPair & { features: number[] };

/** Embeds all questions and sentences, and computes the features of the pairs. */
async function addFeatures(pairs: readonly ComparedPair[]): Promise<TrainingExample[]> {
  const texts = [...new Set(pairs.flatMap(({ question, sentence }) => [question, sentence]))];
  const encoder = await loadSentences();
  const vectors = new Map<string, number[]>();
  for (let i = 0; i < texts.length; i += BATCH) {
    const batch = texts.slice(i, i + BATCH);
    const embedded = await encoder.embed(batch, AbortSignal.timeout(EMBED_MS));
    for (const [k, text] of batch.entries()) vectors.set(text, embedded[k]!);
  }
  return pairs.map((pair) => {
    const question = vectors.get(pair.question)!;
    const sentence = vectors.get(pair.sentence)!;
    const cosine = question.reduce((sum, value, i) => sum + value * sentence[i]!, 0);
    return { ...pair, features: Object.values(toFeatures(pair.evidence, cosine)) };
  });
}

/** Fits on captions and facts, which count half each. */
function fitWeights(examples: readonly TrainingExample[]): number[] {
  const facts = examples.filter(({ isFact }) => isFact).length;
  const factWeight = (examples.length - facts) / Math.max(1, facts) / 2;
  return fitLogisticRegression(
    examples.map(({ features, isAnswer, isFact, type }) => {
      const ofFact = factWeight * (isAnswer ? WEIGHT.fact : 1);
      const weight = isFact ? ofFact : type.endsWith("-random") ? WEIGHT.unrelated : 1;
      return { features, isRight: isAnswer, weight };
    }),
  );
}

/** Returns the share of each type of pairs that counts as an answer. */
function measure(examples: readonly TrainingExample[], weights: readonly number[]) {
  const byType = Map.groupBy(
    examples,
    ({ type, isAnswer }) => `${type}: ${isAnswer ? "right" : "wrong"}`,
  );
  return Object.fromEntries(
    [...byType]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([type, pairs]) => {
        const quoted = pairs.filter(
          ({ features }) => probabilityOf(features, weights) >= QUOTES.minProbability,
        );
        return [
          type,
          { pairs: pairs.length, quoted: Number((quoted.length / pairs.length).toFixed(3)) },
        ];
      }),
  );
}

/** Prints questions that are answered wrongly, and those about facts that aren't answered. */
function printErrors(examples: readonly TrainingExample[], weights: readonly number[]): void {
  for (const { isFact, isAnswer, question, sentence, features } of examples) {
    const probability = probabilityOf(features, weights);
    const isQuoted = probability >= QUOTES.minProbability;
    if (isQuoted === isAnswer || (!isFact && isAnswer)) continue;
    const kind = isAnswer ? "not quoted" : "wrong";
    console.log(`${kind}  ${probability.toFixed(2)}  ${question}  |  ${sentence}`);
  }
}

await runCommand(main, USAGE);
