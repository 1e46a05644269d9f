import { mapConcurrent } from "../concurrency.ts";
import { ANSWER, LIMITS } from "../config.ts";
import { splitLongCues } from "../ingest/transcript/cue-times.ts";
import { inGroups } from "../lists.ts";
import { type AnswerStyle, MAP_PROMPT, REDUCE_PROMPT } from "../prompts.ts";
import { fieldEvidence, matchFields } from "../search/evidence.ts";
import type { Hit } from "../search/hits.ts";
import { IndexGroup, type SearchTarget } from "../search/index-group.ts";
import { makeSearchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import type { Condition } from "../store/index-database/asset-scope.ts";
import { FTS_COLUMNS } from "../store/index-database/fulltext.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import { type AssetTimeRangeMs, listSegmentsWithin } from "../store/index-database/segments.ts";
import { getCues } from "../store/transcripts.ts";
import type { Asset, Segment } from "../types.ts";
import {
  type Answer,
  type AnswerEvent,
  answerEvents,
  type AnswerTask,
  composeAnswer,
  type GeneratedAnswer,
  generateVerified,
} from "./compose.ts";
import {
  fitToBudget,
  gatherSources,
  numberSources,
  type Source,
  sourceImages,
  toSource,
} from "./sources.ts";

export interface Question extends AnswerStyle {
  query: string;
  /** The query of the search for evidence, if that isn't the question. */
  searchTerm?: string;
  /** Maximum number of segments that are searched for evidence. */
  topK: number;
  /** Assets to search; empty for all. */
  assetIds: string[];
  /** Rules that the assets must match. */
  conditions?: Condition[];
  /** Whether the model sees images of the evidence, too. */
  useImages?: boolean;
  /** Nucleus sampling. Default: the model's. */
  topP?: number;
}

/** Answers from what a search finds in one or several indices: from its texts, and its images. */
export async function* answerFromIndex(
  env: Env,
  target: SearchTarget,
  { query: question, useImages, topP, ...asked }: Question,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const { searchTerm = question, topK, assetIds, conditions = [], ...style } = asked;
  const { hits } = await search(
    env,
    target,
    makeSearchRequest({ query: searchTerm, topK, assetIds, conditions }),
  );
  const sources = gatherSources(hits);
  const shown = useImages ? [...sources].slice(0, ANSWER.maxImages) : [];
  const task: AnswerTask = {
    question,
    searchTerm: searchTerm === question ? "" : searchTerm,
    sources,
    images: await sourceImages(env, shown),
    style,
    scope: target instanceof IndexGroup ? "indices" : "index",
    findRelated: async () => hits,
    ...(topP !== undefined && { topP }),
  };
  yield* composeAnswer(env, task, signal);
}

export interface VideoQuestion extends AnswerStyle {
  query: string;
  /** The time range of the video that the question is about. */
  startMs: number;
  endMs: number;
}

/**
 * Answers about a time range of a ready video from its text and evenly spaced keyframes. A long
 * range is split into windows: each is answered separately (map), and the answers are combined
 * (reduce).
 */
export async function* answerAboutVideo(
  env: Env,
  asset: Asset,
  { query: question, startMs, endMs, ...style }: VideoQuestion,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const range = { assetId: asset.assetId, startMs, endMs };
  const segments = await listSegmentsCutTo(env, asset, range);
  const { maxSources, maxCount } = ANSWER.window;
  const sources = numberSources(groupIntoSources(segments, asset, maxSources * maxCount));
  let found: Promise<Hit[]> | null = null;
  const findRelated = () => (found ??= searchSegments(env, question, asset, segments));
  const seen = new Set<number>();
  const toTask = async (window: ReadonlyMap<number, Source>): Promise<AnswerTask> => {
    const images = await sourceImages(env, window);
    for (const marker of images.keys()) seen.add(marker);
    const evidence = { sources: fitToBudget(window), images };
    return { question, ...evidence, style, scope: "video", findRelated };
  };
  if (sources.size <= maxSources) {
    yield* composeAnswer(env, await toTask(sources), signal);
    return;
  }
  const windows = inGroups([...sources], maxSources).map((window) => new Map(window));
  const generated = await answerWindows(env, windows, toTask, signal);
  const grounded = generated.flatMap(({ answer }) => (answer?.grounded ? [answer] : []));
  const [only] = grounded;
  const events =
    only && grounded.length === 1
      ? answerEvents(only)
      : composeAnswer(env, toReduceTask(grounded), signal);
  for await (const event of events) {
    yield "done" in event ? { done: addWindowUsage(event.done, generated) } : event;
  }

  function toReduceTask(answers: readonly Answer[]): AnswerTask {
    const isRefused = generated.every(({ answer }) => answer?.grounded === false);
    const cited = answers.flatMap(({ citations }) => citations.map(({ marker }) => marker));
    const citable = isRefused || answers.length > 0 ? cited : sources.keys();
    return {
      question,
      sources: new Map(Array.from(citable, (marker) => [marker, sources.get(marker)!])),
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
 * What their neighbours outside of it say is left out.
 */
async function listSegmentsCutTo(
  env: Env,
  asset: Asset,
  range: AssetTimeRangeMs,
): Promise<Segment[]> {
  const segments = await listSegmentsWithin(indexDatabase(env, asset), range);
  const isInside = ({ startMs, endMs }: Segment) =>
    startMs! >= range.startMs && endMs! <= range.endMs;
  const [first, last] = [segments[0], segments.at(-1)];
  if (first) first.speechBefore = "";
  if (last) last.speechAfter = "";
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
  return inGroups(hits, runLength).map((run) => toSource(run, run[Math.floor(run.length / 2)]!));
}

/** Makes a hit with score 1 of a segment that was selected by its time. */
function toHit(segment: Segment, asset: Asset, rank: number): Hit {
  return {
    segment,
    asset,
    rank,
    score: 1,
    signals: {},
    evidence: [],
    timeRange: null,
    duplicates: [],
    boxes: null,
    mask: null,
  };
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

/** Adds the windows' token usage to the final answer's. */
function addWindowUsage(answer: Answer, generated: readonly GeneratedAnswer[]): Answer {
  const windowAnswers = generated.flatMap((window) => window.answer ?? []);
  const answers = windowAnswers.includes(answer) ? windowAnswers : [answer, ...windowAnswers];
  const sum = (name: "inputTokens" | "outputTokens") =>
    answers.reduce((total, { usage }) => total + usage[name], 0);
  return {
    ...answer,
    usage: { inputTokens: sum("inputTokens"), outputTokens: sum("outputTokens") },
  };
}

/** Searches a video, and matches the query again in segments whose transcript was cut. */
async function searchSegments(
  env: Env,
  question: string,
  asset: Asset,
  segments: readonly Segment[],
): Promise<Hit[]> {
  const { accountId, indexId, indexName: name } = asset;
  const { hits, query } = await search(
    env,
    { accountId, indexId, name, shards: [asset] },
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
