import { ANSWER } from "../config.ts";
import { CHARACTERS_PER_TOKEN } from "../models/tokens.ts";
import type { Hit } from "../search/hits.ts";

/** A moment, or a few in a row, that can prove a claim. */
export interface Source {
  /** The best of its moments; `span` is all of them, in ms of the video. */
  hit: Hit;
  said: string;
  written: string;
  shown: string;
}

/** A source as an answer cites it: `[marker]`. */
export interface Citation {
  marker: number;
  hit: Hit;
}

/**
 * What hits have to say, by marker, the likeliest first: those that are likely enough, neighbours of one
 * video as one, as many as `ANSWER.evidenceTokens` hold.
 */
export function gatherSources(hits: readonly Hit[]): Map<number, Source> {
  const likely = hits.filter(({ score }) => score >= ANSWER.leastScore);
  const videos = Map.groupBy(likely, ({ asset }) => asset.assetId);
  const sources = [...videos.values()].flatMap((some) =>
    inRuns(some).map((run) => toSource(run, bestOf(run))),
  );
  sources.sort((a, b) => b.hit.score - a.hit.score || a.hit.rank - b.hit.rank);
  return fit(numbered(sources));
}

/** Hits of one asset whose segments follow one another, in order; no run is longer than some seconds. */
function inRuns(hits: readonly Hit[]): Hit[][] {
  const runs: Hit[][] = [];
  for (const hit of hits.toSorted((a, b) => a.segment.position - b.segment.position)) {
    const run = runs.at(-1);
    const isNext = run?.at(-1)?.segment.position === hit.segment.position - 1;
    if (run && isNext && run.length < ANSWER.neighbours) run.push(hit);
    else runs.push([hit]);
  }
  return runs;
}

function bestOf(run: Hit[]): Hit {
  return run.reduce((best, hit) => (hit.score > best.score ? hit : best));
}

/** Segments in a row, in order, as one source; `best` stands for them. */
export function toSource(run: readonly Hit[], best: Hit): Source {
  const spans = run.map(({ segment, span }) => span ?? segment);
  const [startMs, endMs] = [spans[0]!.startMs, spans.at(-1)!.endMs];
  return {
    hit: { ...best, span: startMs === null || endMs === null ? null : { startMs, endMs } },
    said: join(run.map(({ segment }) => segment.transcript)),
    written: join(run.map(({ segment }) => segment.onScreenText)),
    shown: join(run.map(({ segment }) => segment.caption)),
  };
}

function join(texts: readonly string[]): string {
  return [...new Set(texts)].filter(Boolean).join(" ");
}

/** The first is `[1]`. */
export function numbered(sources: readonly Source[]): Map<number, Source> {
  return new Map(sources.map((source, i) => [i + 1, source]));
}

/** Those that fit into the budget, in order; what doesn't, is cut, and nothing follows. */
export function fit(
  sources: ReadonlyMap<number, Source>,
  characters = ANSWER.evidenceTokens * CHARACTERS_PER_TOKEN,
): Map<number, Source> {
  let left = characters;
  const cut = (text: string) => {
    const isWhole = text.length <= left;
    const some = isWhole ? text : text.slice(0, Math.max(0, text.lastIndexOf(" ", left)));
    left = isWhole ? left - text.length : 0;
    return some;
  };
  const kept = new Map<number, Source>();
  for (const [marker, { hit, said, written, shown }] of sources) {
    if (left <= 0) break;
    kept.set(marker, { hit, said: cut(said), written: cut(written), shown: cut(shown) });
  }
  return kept;
}

/** All the words of a source: what a quotation must stand in. */
export function wordsOfSource({ hit, said, written, shown }: Source): string {
  return [hit.asset.title, said, written, shown].filter(Boolean).join("\n");
}
