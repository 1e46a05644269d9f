import { ANSWER } from "../config.ts";
import { traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { extractFrameAt } from "../media/frames.ts";
import { CHARACTERS_PER_TOKEN } from "../models/run.ts";
import type { PromptEvidence } from "../prompts.ts";
import type { Hit } from "../search/hits.ts";
import { NO_KEYFRAME_MS } from "../store/index-database/segments.ts";
import { getKeyframe, mediaKey } from "../store/r2/object-keys.ts";
import { endsSentence, hasSentenceEnd } from "../text/sentences.ts";
import { type Segment, TEMPLATE } from "../types.ts";
import { SCREEN_BREAK } from "./extractive.ts";

/** Evidence for an answer: a segment, or consecutive segments of one video. */
export interface Source {
  /** The best segment; `timeRange` covers all segments. */
  hit: Hit;
  /** The sentence before the speech, which often names what that is about. */
  saidBefore: string;
  speech: string;
  onScreenText: string;
  caption: string;
}

/** A source that an answer cites as `[marker]`. */
export interface Citation {
  marker: number;
  hit: Hit;
}

/**
 * Converts hits to numbered sources, best first. Drops hits without evidence or with a score below
 * `ANSWER.minScore`, merges consecutive segments of a video, and keeps to the budget of
 * `ANSWER.evidenceTokens`.
 */
export function gatherSources(hits: readonly Hit[]): Map<number, Source> {
  const relevant = hits.filter(({ score, evidence }) => {
    return score >= ANSWER.minScore && evidence.length > 0;
  });
  const hitsByAsset = Map.groupBy(relevant, ({ asset }) => asset.assetId);
  const sources = [...hitsByAsset.values()].flatMap((assetHits) =>
    groupIntoRuns(assetHits).map((run) => toSource(run, bestOf(run))),
  );
  sources.sort((a, b) => b.hit.score - a.hit.score || a.hit.rank - b.hit.rank);
  return fitToBudget(numberSources(sources));
}

/** Groups hits of one asset into runs of at most `ANSWER.maxNeighbours` consecutive segments. */
function groupIntoRuns(hits: readonly Hit[]): Hit[][] {
  const runs: Hit[][] = [];
  for (const hit of hits.toSorted((a, b) => a.segment.position - b.segment.position)) {
    const run = runs.at(-1);
    const isNext = run?.at(-1)?.segment.position === hit.segment.position - 1;
    if (run && isNext && run.length < ANSWER.maxNeighbours) run.push(hit);
    else runs.push([hit]);
  }
  return runs;
}

function bestOf(run: Hit[]): Hit {
  return run.reduce((best, hit) => (hit.score > best.score ? hit : best));
}

/** Merges consecutive segments into a source that is represented by `best`. */
export function toSource(run: readonly Hit[], best: Hit): Source {
  const { speechBefore } = run[0]!.segment;
  const [saidBefore, start] = endsSentence(speechBefore) ? [speechBefore, ""] : ["", speechBefore];
  const speech = run.map(({ segment }) => segment.transcript);
  const whole = [start, ...speech, run.at(-1)!.segment.speechAfter];
  const ranges = run.map(({ segment, timeRange }) => timeRange ?? segment);
  const [startMs, endMs] = [ranges[0]!.startMs, ranges.at(-1)!.endMs];
  return {
    hit: { ...best, timeRange: startMs === null || endMs === null ? null : { startMs, endMs } },
    saidBefore,
    speech: whole.some(hasSentenceEnd) ? joinDistinct(whole) : joinDistinct(speech, "\n"),
    onScreenText: joinDistinct(
      run.map(({ segment }) => segment.onScreenText),
      SCREEN_BREAK,
    ),
    caption: joinDistinct(run.map(({ segment }) => captionOf(segment))),
  };
}

function joinDistinct(texts: readonly string[], separator = " "): string {
  return [...new Set(texts)].filter(Boolean).join(separator);
}

/** What stands between two labels of a template caption. */
const NEXT_LABEL =
  /(?:,| and) ((?:an?|one|two|three|four|five|six|seven|eight|nine|ten|many|words)\b)/gu;

/**
 * Returns a caption, and of a template caption a sentence for each label: the detector found them
 * one by one. Sentences before a template caption are the image's alternative text.
 */
function captionOf({ caption, captionModel }: Segment): string {
  if (captionModel !== TEMPLATE) return caption;
  const from = caption.lastIndexOf(". ") + 1;
  const split = (_: string, word: string) => `. ${word[0]!.toUpperCase()}${word.slice(1)}`;
  return caption.slice(0, from) + caption.slice(from).replaceAll(NEXT_LABEL, split);
}

/** Numbers sources from 1, by marker. */
export function numberSources(sources: readonly Source[]): Map<number, Source> {
  return new Map(sources.map((source, i) => [i + 1, source]));
}

/** Keeps the first sources whose text fits into the budget; the last one may be shortened. */
export function fitToBudget(
  sources: ReadonlyMap<number, Source>,
  maxCharacters = ANSWER.evidenceTokens * CHARACTERS_PER_TOKEN,
): Map<number, Source> {
  let remaining = maxCharacters;
  const cut = (text: string) => {
    const fits = text.length <= remaining;
    const shortened = text.slice(0, Math.max(0, text.lastIndexOf(" ", remaining)));
    remaining = fits ? remaining - text.length : 0;
    return fits ? text : shortened;
  };
  const fitting = new Map<number, Source>();
  for (const [marker, { hit, saidBefore, speech, onScreenText, caption }] of sources) {
    if (remaining <= 0) break;
    fitting.set(marker, {
      hit,
      saidBefore,
      speech: cut(speech),
      onScreenText: cut(onScreenText),
      caption: cut(caption),
    });
  }
  return fitting;
}

/** Returns what the model gets of a source, and claims about it are verified against. */
export function toEvidence({ hit, ...texts }: Source): PromptEvidence {
  return { title: hit.asset.title, timeRange: hit.timeRange, ...texts };
}

/**
 * Reads an image of each source, by marker: its keyframe, or the middle frame of a segment that was
 * cut to a time range without its keyframe. Sources whose image is unavailable are left out.
 */
export async function sourceImages(
  env: Env,
  sources: Iterable<readonly [number, Source]>,
): Promise<Map<number, Uint8Array>> {
  const images = await Promise.all(
    Array.from(sources, async ([marker, { hit }]) => {
      const jpeg = await readImage(env, hit).catch((error: unknown) => {
        log("warn", "answer.image_unavailable", { cause: traceOf(error) });
        return null;
      });
      return jpeg ? [[marker, jpeg] as const] : [];
    }),
  );
  return new Map(images.flat());
}

async function readImage(env: Env, { segment, asset }: Hit): Promise<Uint8Array | null> {
  const { startMs, endMs, keyframeMs, error } = segment;
  if (keyframeMs === NO_KEYFRAME_MS) return null;
  if (startMs !== null && endMs !== null && (keyframeMs < startMs || keyframeMs >= endMs)) {
    return extractFrameAt(env, mediaKey(asset), (startMs + endMs) / 2000);
  }
  return error ? null : getKeyframe(env.MEDIA, asset, keyframeMs);
}
