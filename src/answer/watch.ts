import { mapAtOnce } from "../at-once.ts";
import { ANSWER, LIMITS } from "../config.ts";
import { spreadCues } from "../ingest/transcript.ts";
import type { Hit } from "../search/hits.ts";
import { evidenceOfPassage, findPassages } from "../search/evidence.ts";
import { tellingWords } from "../search/query.ts";
import { searchFor } from "../search/request.ts";
import { search } from "../search/search.ts";
import { Terms } from "../search/terms.ts";
import { getCues } from "../store/transcripts.ts";
import { WORD_COLUMNS } from "../store/words.ts";
import { listSegmentsWithin, type Span } from "../store/segments.ts";
import type { Asset, Segment } from "../types.ts";
import {
  type Answer,
  type AnswerEvent,
  compose,
  type Task,
  tell,
  write,
  type Written,
} from "./compose.ts";
import { asksForAll, extractQuotes, quotesOf } from "./extract.ts";
import { JOIN, NOTES, type Style } from "../prompts.ts";
import { picturesOf } from "./pictures.ts";
import { fit, numbered, type Source, toSource } from "./sources.ts";

export interface VideoQuestion extends Style {
  query: string;
  /** The stretch that is asked about, in ms. */
  startMs: number;
  endMs: number;
}

/**
 * Answers about a stretch of a video: its words, and pictures taken evenly over it. A long one is
 * looked at window by window, and what they bring is joined to one answer.
 */
export async function* answerFromVideo(
  env: Env,
  asset: Asset,
  { query: question, startMs, endMs, ...style }: VideoQuestion,
  signal?: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const region = { assetId: asset.assetId, startMs, endMs };
  const segments = asset.state === "ready" ? await segmentsIn(env, asset, region) : [];
  const { sources: each, most } = ANSWER.window;
  const sources = numbered(spread(segments, asset, each * most));
  const quote = async () =>
    asksForAll(question)
      ? quotesOf([...sources.values()])
      : extractQuotes(question, await findAmong(env, question, asset, segments));
  const taskOf = async (some: ReadonlyMap<number, Source>): Promise<Task> => {
    return { question, sources: fit(some), pictures: await picturesOf(env, some), style };
  };
  if (sources.size <= each) {
    yield* compose(env, await taskOf(sources), quote, signal);
    return;
  }
  const written = await takeNotes(env, inWindows(sources, each), taskOf, signal);
  const notes = written.flatMap(({ answer }) => (answer?.grounded ? [answer] : []));
  const [note] = notes;
  const events = note && notes.length === 1 ? tell(note) : compose(env, join(notes), quote, signal);
  for await (const event of events) {
    yield "done" in event ? { done: addUp(event.done, written) } : event;
  }

  function join(some: readonly Answer[]): Task {
    const cited = some.flatMap(({ citations }) => citations.map(({ marker }) => marker));
    return {
      question,
      sources: new Map(cited.map((marker) => [marker, sources.get(marker)!])),
      pictures: new Map(),
      style,
      remark: JOIN,
      notes: some.map(({ text }) => text),
    };
  }
}

/** The segments that share time with a region, cut to it, with what is said while it lasts. */
async function segmentsIn(env: Env, asset: Asset, region: Span): Promise<Segment[]> {
  const segments = await listSegmentsWithin(env.DB, region);
  const isInside = ({ startMs, endMs }: Segment) =>
    startMs! >= region.startMs && endMs! <= region.endMs;
  if (segments.every(isInside)) return segments;
  const cues = spreadCues(await getCues(env.MEDIA, asset), asset.durationMs / 1000);
  const cut = (segment: Segment): Segment => {
    const startMs = Math.max(region.startMs, segment.startMs!);
    const endMs = Math.min(region.endMs, segment.endMs!);
    const said = cues.filter(({ start, end }) => start * 1000 < endMs && end * 1000 > startMs);
    return { ...segment, startMs, endMs, transcript: said.map(({ text }) => text).join(" ") };
  };
  return segments.map((segment) => (isInside(segment) ? segment : cut(segment)));
}

/** Segments of a video as at most so many sources, of equal numbers of segments. */
export function spread(segments: readonly Segment[], asset: Asset, most: number): Source[] {
  const length = Math.max(1, Math.ceil(segments.length / most));
  const hits = segments.map((segment, i) => toHit(segment, asset, i + 1));
  const runs = Array.from({ length: Math.ceil(hits.length / length) }, (_, i) =>
    hits.slice(i * length, (i + 1) * length),
  );
  return runs.map((run) => toSource(run, run[Math.floor(run.length / 2)]!));
}

/** What was asked about by its time is a hit for sure. */
function toHit(segment: Segment, asset: Asset, rank: number): Hit {
  return {
    segment,
    asset,
    rank,
    score: 1,
    signals: {},
    evidence: [],
    span: null,
    duplicates: [],
    boxes: null,
    mask: null,
  };
}

function inWindows(sources: ReadonlyMap<number, Source>, each: number): Map<number, Source>[] {
  const all = [...sources];
  return Array.from(
    { length: Math.ceil(all.length / each) },
    (_, i) => new Map(all.slice(i * each, (i + 1) * each)),
  );
}

/** What the model makes of each window, in order. */
function takeNotes(
  env: Env,
  windows: readonly ReadonlyMap<number, Source>[],
  taskOf: (sources: ReadonlyMap<number, Source>) => Promise<Task>,
  signal?: AbortSignal,
): Promise<Written[]> {
  return mapAtOnce(windows, ANSWER.window.atOnce, async (window) => {
    const told = write(env, { ...(await taskOf(window)), remark: NOTES }, signal);
    let step = await told.next();
    while (!step.done) step = await told.next();
    return step.value;
  });
}

/** The answer with what its notes took, too; no better than they are. */
function addUp(answer: Answer, written: readonly Written[]): Answer {
  const notes = written.flatMap((one) => one.answer ?? []);
  const all = notes.includes(answer) ? notes : [answer, ...notes];
  const sum = (name: "inputTokens" | "outputTokens") =>
    all.reduce((total, { usage }) => total + usage[name], 0);
  return {
    ...answer,
    usage: { inputTokens: sum("inputTokens"), outputTokens: sum("outputTokens") },
    isMakeshift: answer.isMakeshift || written.some((one) => one.isMakeshift),
  };
}

/** What search finds of a question among segments, which may be cut: then only what is left of them counts. */
async function findAmong(
  env: Env,
  query: string,
  asset: Asset,
  segments: readonly Segment[],
): Promise<Hit[]> {
  const wish = { query, assetIds: [asset.assetId], topK: LIMITS.topK, collapse: false };
  const { hits } = await search(env, asset.indexId, searchFor(wish));
  const byId = new Map(segments.map((segment) => [segment.segmentId, segment]));
  const terms = new Terms(tellingWords(query));
  return hits.flatMap((hit) => {
    const segment = byId.get(hit.segment.segmentId);
    if (!segment) return [];
    if (segment.transcript === hit.segment.transcript) return [{ ...hit, segment }];
    const passages = findPassages(segment, terms, { columns: WORD_COLUMNS, boxes: false });
    const evidence = passages.map((passage) => evidenceOfPassage(passage, terms));
    return [{ ...hit, segment, evidence }];
  });
}
