import { mapConcurrent } from "../concurrency.ts";
import { ANSWER, LIMITS } from "../config.ts";
import { splitLongCues } from "../ingest/transcript/cue-times.ts";
import { type AnswerStyle, REDUCE_PROMPT, MAP_PROMPT } from "../prompts.ts";
import type { SearchableIndexRef } from "../search/calibration.ts";
import { fieldEvidence, matchFields } from "../search/evidence.ts";
import type { Hit } from "../search/hits.ts";
import { IndexGroup, type SearchTarget } from "../search/index-group.ts";
import { makeSearchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import { FTS_COLUMNS } from "../store/index-database/fulltext.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import { listSegmentsWithin, type AssetTimeRangeMs } from "../store/index-database/segments.ts";
import { getCues } from "../store/transcripts.ts";
import type { Asset, MediaIndexRow, Segment } from "../types.ts";
import {
  type AnswerEvent,
  composeAnswer,
  type Answer,
  type AnswerTask,
  answerEvents,
  generateVerified,
  type GeneratedAnswer,
} from "./compose.ts";
import { extractQuotes, isGenericQuestion, quoteSources } from "./extractive.ts";
import {
  sourceImages,
  gatherSources,
  fitToBudget,
  numberSources,
  type Source,
  toSource,
} from "./sources.ts";

export interface Question extends AnswerStyle {
  query: string;
  /** Maximum number of segments that are searched for evidence. */
  topK: number;
  /** Assets to search; empty for all. */
  assetIds: string[];
}

export interface ImageQuestion extends Question {
  /** The query of the search for evidence. */
  searchTerm: string;
  /** Nucleus sampling; undefined for the model's default. */
  topP: number | undefined;
}

/** Answers from the text of one or several indices: speech, on-screen text and captions. */
export async function* answerFromText(
  env: Env,
  target: SearchTarget,
  { query: question, topK, assetIds, ...style }: Question,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const request = makeSearchRequest({ query: question, topK, assetIds });
  const { hits } = await search(env, target, request);
  const sources = gatherSources(hits);
  const findRelated = async () => hits;
  const scope = target instanceof IndexGroup ? ("indices" as const) : SCOPE;
  const task = { question, sources, images: NO_IMAGES, style, scope, findRelated };
  yield* composeAnswer(env, task, () => extractQuotes(env, question, hits), signal);
}

const SCOPE = "index" as const;
const NO_IMAGES: ReadonlyMap<number, Uint8Array> = new Map();

/** Answers from the text and the images of an index. */
export async function* answerFromImages(
  env: Env,
  index: SearchableIndexRef,
  { query: question, searchTerm, topK, topP, assetIds, ...style }: ImageQuestion,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const request = makeSearchRequest({ query: searchTerm, topK, assetIds });
  const { hits } = await search(env, index, request);
  const sources = gatherSources(hits);
  const quoteQuery = searchTerm === question ? question : `${question} ${searchTerm}`;
  const images = await sourceImages(env, [...sources].slice(0, ANSWER.maxImages));
  const task = {
    question,
    sources,
    images,
    style,
    scope: SCOPE,
    findRelated: async () => hits,
    ...(topP !== undefined && { topP }),
  };
  yield* composeAnswer(env, task, () => extractQuotes(env, quoteQuery, hits), signal);
}

export interface VideoQuestion extends AnswerStyle {
  query: string;
  /** The time range of the video that the question is about. */
  startMs: number;
  endMs: number;
  /** The calibration of the video's index. */
  calibration: MediaIndexRow["calibration"];
}

/**
 * Answers about a time range of a ready video from its text and evenly spaced keyframes. A long
 * range is split into windows: each is answered separately (map), and the answers are combined
 * (reduce).
 */
export async function* answerAboutVideo(
  env: Env,
  asset: Asset,
  { query: question, startMs, endMs, calibration, ...style }: VideoQuestion,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const range = { assetId: asset.assetId, startMs, endMs };
  const segments = await listSegmentsCutTo(env, asset, range);
  const { maxSources, maxCount } = ANSWER.window;
  const sources = numberSources(groupIntoSources(segments, asset, maxSources * maxCount));
  let found: Promise<Hit[]> | null = null;
  const findRelated = () => (found ??= searchSegments(env, question, asset, segments, calibration));
  const quote = async () =>
    isGenericQuestion(question)
      ? quoteSources([...sources.values()])
      : extractQuotes(env, question, await findRelated());
  const seen = new Set<number>();
  const toTask = async (window: ReadonlyMap<number, Source>): Promise<AnswerTask> => {
    const images = await sourceImages(env, window);
    for (const marker of images.keys()) seen.add(marker);
    const evidence = { sources: fitToBudget(window), images };
    return { question, ...evidence, style, scope: "video", findRelated };
  };
  if (sources.size <= maxSources) {
    yield* composeAnswer(env, await toTask(sources), quote, signal);
    return;
  }
  const windows = splitIntoWindows(sources, maxSources);
  const generated = await answerWindows(env, windows, toTask, signal);
  const grounded = generated.flatMap(({ answer }) => (answer?.grounded ? [answer] : []));
  const [only] = grounded;
  const events =
    only && grounded.length === 1
      ? answerEvents(only)
      : composeAnswer(env, toReduceTask(grounded), quote, signal);
  for await (const event of events) {
    yield "done" in event ? { done: addWindowUsage(event.done, generated) } : event;
  }

  function toReduceTask(answers: readonly Answer[]): AnswerTask {
    const cited = answers.flatMap(({ citations }) => citations.map(({ marker }) => marker));
    return {
      question,
      sources: new Map(cited.map((marker) => [marker, sources.get(marker)!])),
      images: new Map(),
      seenBefore: seen,
      style,
      scope: "video",
      findRelated,
      instruction: REDUCE_PROMPT,
      notes: answers.map(({ text }) => text),
      failure: generated.find(({ failure }) => failure)?.failure ?? null,
    };
  }
}

/**
 * Lists the segments that overlap a time range. Cuts them to the range, and their speech by cues.
 */
async function listSegmentsCutTo(
  env: Env,
  asset: Asset,
  range: AssetTimeRangeMs,
): Promise<Segment[]> {
  const segments = await listSegmentsWithin(indexDatabase(env, asset), range);
  const isInside = ({ startMs, endMs }: Segment) =>
    startMs! >= range.startMs && endMs! <= range.endMs;
  if (segments.every(isInside)) return segments;
  const cues = splitLongCues(await getCues(env.MEDIA, asset), asset.durationMs / 1000);
  const cut = (segment: Segment): Segment => {
    const startMs = Math.max(range.startMs, segment.startMs!);
    const endMs = Math.min(range.endMs, segment.endMs!);
    const spoken = cues.filter(({ start, end }) => start * 1000 < endMs && end * 1000 > startMs);
    return { ...segment, startMs, endMs, transcript: spoken.map(({ text }) => text).join(" ") };
  };
  return segments.map((segment) => (isInside(segment) ? segment : cut(segment)));
}

/** Groups segments into at most `maxCount` sources, each of the same number of segments. */
export function groupIntoSources(
  segments: readonly Segment[],
  asset: Asset,
  maxCount: number,
): Source[] {
  const runLength = Math.max(1, Math.ceil(segments.length / maxCount));
  const hits = segments.map((segment, i) => toHit(segment, asset, i + 1));
  const runs = Array.from({ length: Math.ceil(hits.length / runLength) }, (_, i) =>
    hits.slice(i * runLength, (i + 1) * runLength),
  );
  return runs.map((run) => toSource(run, run[Math.floor(run.length / 2)]!));
}

/** Makes a hit with score 1 of a segment that was selected by its time. */
function toHit(segment: Segment, asset: Asset, rank: number): Hit {
  return {
    segment,
    asset,
    rank,
    score: 1,
    generalScore: 1,
    signals: {},
    evidence: [],
    timeRange: null,
    duplicates: [],
    boxes: null,
    mask: null,
  };
}

function splitIntoWindows(
  sources: ReadonlyMap<number, Source>,
  windowSize: number,
): Map<number, Source>[] {
  const entries = [...sources];
  return Array.from(
    { length: Math.ceil(entries.length / windowSize) },
    (_, i) => new Map(entries.slice(i * windowSize, (i + 1) * windowSize)),
  );
}

/** Generates an answer about each window, in order. */
function answerWindows(
  env: Env,
  windows: readonly ReadonlyMap<number, Source>[],
  toTask: (sources: ReadonlyMap<number, Source>) => Promise<AnswerTask>,
  signal?: AbortSignal,
): Promise<GeneratedAnswer[]> {
  return mapConcurrent(windows, ANSWER.window.concurrency, async (window) => {
    const task = { ...(await toTask(window)), instruction: MAP_PROMPT };
    const events = generateVerified(env, task, signal);
    let step = await events.next();
    while (!step.done) step = await events.next();
    return step.value;
  });
}

/**
 * Adds the windows' token usage to the final answer's. A fallback in a window makes it one, too.
 */
function addWindowUsage(answer: Answer, generated: readonly GeneratedAnswer[]): Answer {
  const windowAnswers = generated.flatMap((window) => window.answer ?? []);
  const answers = windowAnswers.includes(answer) ? windowAnswers : [answer, ...windowAnswers];
  const sum = (name: "inputTokens" | "outputTokens") =>
    answers.reduce((total, { usage }) => total + usage[name], 0);
  return {
    ...answer,
    usage: { inputTokens: sum("inputTokens"), outputTokens: sum("outputTokens") },
    isFallback: answer.isFallback || generated.some((window) => window.failure),
  };
}

/** Searches a video, and matches the query again in segments whose transcript was cut. */
async function searchSegments(
  env: Env,
  question: string,
  asset: Asset,
  segments: readonly Segment[],
  calibration: MediaIndexRow["calibration"],
): Promise<Hit[]> {
  const { accountId, indexId, indexName: name } = asset;
  const { hits, query } = await search(
    env,
    { accountId, indexId, name, shards: [asset], calibration },
    makeSearchRequest({
      query: question,
      assetIds: [asset.assetId],
      topK: LIMITS.topK,
      collapse: false,
    }),
  );
  const byId = new Map(segments.map((segment) => [segment.segmentId, segment]));
  return hits.flatMap((hit) => {
    const segment = byId.get(hit.segment.segmentId);
    if (!segment) return [];
    if (segment.transcript === hit.segment.transcript) return [{ ...hit, segment }];
    const scope = { columns: FTS_COLUMNS, useBoxLabels: false };
    const fields = matchFields(segment, query.terms, scope);
    const evidence = fields.map((field) => fieldEvidence(field, query.terms));
    return [{ ...hit, segment, evidence }];
  });
}
