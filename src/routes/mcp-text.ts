import type { z } from "@hono/zod-openapi";
import { clock } from "../prompts.ts";
import type {
  foundAssets,
  foundIndices,
  foundMoments,
  groundedAnswer,
  moment,
} from "./mcp-record.ts";

/** What the tools' results say to a model that reads text: a line or a few for each thing. */

export function tellIndices({
  indices,
  total,
  next_cursor,
}: z.output<typeof foundIndices>): string {
  const lines = indices.map(({ index_name, description, counts, states, duration_seconds }) => {
    const holds = `${count(counts.videos, "video")} (${clock(duration_seconds * 1000)}), ${count(counts.images, "image")}`;
    const ingest = `${states.ready} ready, ${states.queued + states.processing} under way, ${states.failed} failed`;
    return `- ${index_name}: ${holds}; ${ingest}${description && `. ${inline(description)}`}`;
  });
  return [`${indices.length} of ${total} indices.`, ...lines, ...more(next_cursor)].join("\n");
}

export function tellAssets({ assets, total, next_cursor }: z.output<typeof foundAssets>): string {
  const lines = assets.map((asset) => {
    const length =
      asset.duration_seconds === null ? "" : ` of ${clock(asset.duration_seconds * 1000)}`;
    const problem = asset.error ? ` (${inline(asset.error.message)})` : "";
    const place = asset.media_url ? `: ${asset.media_url}` : "";
    const what = `${asset.asset_type}${length}, ${asset.state}${problem}`;
    return `- ${inline(asset.title)}, ${asset.asset_id}: ${what}${place}`;
  });
  return [`${assets.length} of ${total} assets.`, ...lines, ...more(next_cursor)].join("\n");
}

export function tellMoments({
  segments,
  total,
  next_cursor,
}: z.output<typeof foundMoments>): string {
  if (segments.length === 0) return "Nothing was found.";
  const moments = segments.map((one) => `${one.rank}. ${placeOf(one)}\n${contentOf(one)}`);
  return [`${segments.length} of ${total} found.`, ...moments, ...more(next_cursor)].join("\n");
}

export function tellAnswer({
  answer,
  grounded,
  citations,
}: z.output<typeof groundedAnswer>): string {
  if (!grounded) return answer;
  const proofs = citations.map((one) => `[${one.marker}] ${placeOf(one)}\n${contentOf(one)}`);
  return [answer, "", "Sources:", ...proofs].join("\n");
}

type Moment = z.output<typeof moment>;

/** `film.mp4, 0:04–0:09 (score 0.96: speech)` and where it plays. */
function placeOf({ title, start_seconds, end_seconds, score, evidence, ...rest }: Moment): string {
  const times =
    start_seconds === null || end_seconds === null
      ? ""
      : `, ${clock(start_seconds * 1000)}–${clock(end_seconds * 1000)}`;
  const kinds = [...new Set(evidence.map(({ kind }) => kind))].join(", ");
  const why = `score ${score.toFixed(2)}${kinds && `: ${kinds}`}`;
  return `${inline(title)}${times} (${why}), ${rest.asset_id}, ${rest.segment_id}\n   ${rest.clip_url}`;
}

function contentOf({ caption, transcript, on_screen_text }: Moment): string {
  return Object.entries({ Seen: caption, Said: transcript, Written: on_screen_text })
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `   ${name}: ${inline(text)}`)
    .join("\n");
}

/** On one line: what people say or write begins none of ours. */
function inline(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function count(things: number, noun: string): string {
  return `${things} ${noun}${things === 1 ? "" : "s"}`;
}

function more(cursor: string | null): string[] {
  return cursor === null ? [] : [`There is more: call again with cursor "${cursor}".`];
}
