import { MODELS } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { type Generated, generate } from "../models/generate.ts";
import { AnswerCheck } from "./check.ts";
import type { Quote } from "./extract.ts";
import { escapeMarkdown, toPlain, toSafeMarkdown } from "./markup.ts";
import {
  evidenceText,
  NO_ANSWER,
  noteText,
  questionText,
  RULES,
  type Style,
  systemText,
} from "../prompts.ts";
import { type Citation, type Source, wordsOfSource } from "./sources.ts";

export interface Answer {
  /** Claims with markers: `[1]`. Plain text or Markdown, as wished. */
  text: string;
  /** False where the index doesn't say; then there are no citations. */
  grounded: boolean;
  /** In the order in which the text first names them. */
  citations: Citation[];
  /** `extractive` where no model wrote it. */
  model: string;
  usage: { inputTokens: number; outputTokens: number };
  /** Another time it may be better: a model was there, and failed. */
  isMakeshift: boolean;
}

/** An answer as it comes into being: what it may cite, its text piece by piece, and all of it. */
export type AnswerEvent = { citations: Citation[] } | { delta: string } | { done: Answer };

/** What is asked of the model. */
export interface Task {
  question: string;
  /** By marker. */
  sources: ReadonlyMap<number, Source>;
  /** JPEGs of some sources, by marker. */
  pictures: ReadonlyMap<number, Uint8Array>;
  style: Style;
  topP?: number;
  /** What is special about it: `NOTES` or `JOIN`. */
  remark?: string;
  /** What stands in place of the evidence: what was found in parts of it. */
  notes?: readonly string[];
}

const NOTHING = "Nothing in this index answers that.";
const EXTRACTIVE = "extractive";

/**
 * Answers from the sources, each claim proved by one. Where no model answers, or nothing that it says
 * holds, the answer is what `quote` finds, word for word; where that is nothing, that nothing answers it. Never
 * throws for a model's failure. Throws the reason of `signal` once that aborts.
 */
export async function* compose(
  env: Env,
  task: Task,
  quote: () => Quote[] | Promise<Quote[]>,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const written = task.sources.size > 0 ? yield* write(env, task, signal) : NOT_ASKED;
  if (written.answer) {
    yield { done: written.answer };
    return;
  }
  yield* tell(extract(await quote(), task.style.markdown, written.isMakeshift));
}

/** The events of an answer that is whole already. */
export function* tell(answer: Answer): Generator<AnswerEvent> {
  if (answer.grounded) yield { citations: answer.citations };
  yield { delta: answer.text };
  yield { done: answer };
}

/** What a model made of a task: no answer where nothing of it holds. */
export interface Written {
  answer: Answer | null;
  /** The model was there, and failed. */
  isMakeshift: boolean;
}

const NOT_ASKED: Written = { answer: null, isMakeshift: false };

/** Asks the model, and lets through what is proved. Throws as `compose`. */
export async function* write(
  env: Env,
  task: Task,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent, Written> {
  const { sources, style } = task;
  const citations = [...sources].map(([marker, { hit }]) => ({ marker, hit }));
  const words = [...sources].map(([marker, source]) => [marker, wordsOfSource(source)] as const);
  const check = new AnswerCheck(new Map(words), RULES);
  const clean = style.markdown ? toSafeMarkdown : toPlain;
  let [said, text] = ["", ""];
  const release = function* (checked: string): Generator<AnswerEvent> {
    const delta = clean(checked);
    if (delta.trim() === "" || delta.includes(NO_ANSWER)) return;
    if (text === "") yield { citations };
    text += delta;
    yield { delta };
  };
  let generated: Generated | null = null;
  let isMakeshift = false;
  try {
    const pieces = generate(env.AI, promptOf(task), signal);
    let next = await pieces.next();
    for (; !next.done; next = await pieces.next()) {
      said += next.value;
      yield* release(check.push(next.value));
    }
    generated = next.value;
    if (generated.isComplete) yield* release(check.end()); // else its last sentence was cut off
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    isMakeshift = error.code !== "model_missing";
    log("warn", "answer.without_model", { code: error.code, cause: traceOf(error) });
  }
  const { model, usage } = generated ?? { model: MODELS.answer.id, usage: NO_USAGE };
  const rest = { model, usage, isMakeshift };
  if (text !== "") {
    const cited = check.cited.map((marker) => ({ marker, hit: sources.get(marker)!.hit }));
    const answer = { text: text.trim(), grounded: true, citations: cited, ...rest };
    return { answer, isMakeshift };
  }
  if (!said.includes(NO_ANSWER)) return { answer: null, isMakeshift };
  yield { delta: NOTHING };
  return { answer: { text: NOTHING, grounded: false, citations: [], ...rest }, isMakeshift };
}

const NO_USAGE = { inputTokens: 0, outputTokens: 0 };

function promptOf({ question, sources, pictures, style, topP, remark, notes }: Task) {
  const evidence = [...sources].flatMap(([marker, source]) => {
    const { hit, said, written, shown } = source;
    const { startMs, endMs } = hit.span ?? hit.segment;
    const { title } = hit.asset;
    const text = evidenceText(marker, { title, startMs, endMs, said, written, shown });
    const jpeg = pictures.get(marker);
    return jpeg ? [{ text }, { jpeg }] : [{ text }];
  });
  const shown = notes?.map((note) => ({ text: noteText(note) })) ?? evidence;
  return {
    system: systemText(style, remark),
    content: [{ text: "Evidence:" }, ...shown, { text: questionText(question) }],
    ...(topP !== undefined && { topP }),
  };
}

/** Is no marker where it is quoted. */
const BRACKETED = /\[(\d{1,3})\]/g;

function extract(quotes: readonly Quote[], markdown: boolean, isMakeshift: boolean): Answer {
  const lines = quotes.map(({ sentence }, i) => {
    const text = markdown ? escapeMarkdown(sentence) : sentence.replaceAll(BRACKETED, "($1)");
    return `${text} [${i + 1}]`;
  });
  return {
    text:
      lines
        .map((line) => (markdown ? `- ${line}\n` : `${line} `))
        .join("")
        .trim() || NOTHING,
    grounded: lines.length > 0,
    citations: quotes.map(({ hit }, i) => ({ marker: i + 1, hit })),
    model: EXTRACTIVE,
    usage: NO_USAGE,
    isMakeshift,
  };
}
