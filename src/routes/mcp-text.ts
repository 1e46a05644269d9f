import type { z } from "@hono/zod-openapi";
import { formatClock } from "../prompts.ts";
import type { aggregateRecord } from "./records/aggregate-record.ts";
import type {
  mcpAnswer,
  mcpAssetPage,
  mcpIndexPage,
  mcpMatchPage,
  mcpMoment,
  mcpSearchResult,
  mcpWatch,
  mcpWatchPage,
} from "./records/mcp-record.ts";

/* Formats the results of MCP tools as text for a language model: a few lines for each item. */

export function formatIndices({
  indices,
  total,
  next_cursor,
}: z.output<typeof mcpIndexPage>): string {
  const lines = indices.map(({ index_name, description, counts, states, duration_seconds }) => {
    const length = formatClock(duration_seconds * 1000);
    const videos = `${formatCount(counts.videos, "video")} (${length})`;
    const images = formatCount(counts.images, "image");
    const pending = states.queued + states.processing;
    const ingest = `${states.ready} ready, ${pending} in progress, ${states.failed} failed`;
    const suffix = description && `. ${toSingleLine(description)}`;
    return `- ${index_name}: ${videos}, ${images}; ${ingest}${suffix}`;
  });
  return formatPage(`${indices.length} of ${total} indices.`, lines, next_cursor);
}

export function formatAssets({
  assets,
  total,
  next_cursor,
}: z.output<typeof mcpAssetPage>): string {
  const lines = assets.map((asset) => {
    const length =
      asset.duration_seconds === null ? "" : ` of ${formatClock(asset.duration_seconds * 1000)}`;
    const error = asset.error ? ` (${toSingleLine(asset.error.message)})` : "";
    const url = asset.media_url ? `: ${asset.media_url}` : "";
    const summary = `${asset.asset_type}${length}, ${asset.state}${error}`;
    return `- ${toSingleLine(asset.title)}, ${asset.asset_id}: ${summary}${url}`;
  });
  return formatPage(`${assets.length} of ${total} assets.`, lines, next_cursor);
}

const BORROWED =
  "Scores put these in order, but aren't exact: this service wasn't calibrated for its models.";

export function formatMoments({
  segments,
  total,
  next_cursor,
  query,
  calibration,
  partial,
}: z.output<typeof mcpSearchResult>): string {
  const missing = formatPartial(partial);
  if (segments.length === 0) return ["Nothing was found.", ...missing].join("\n");
  const lines = segments.map((hit) => {
    const content = hit.steps ? hit.steps.map(formatStep).join("\n") : formatContent(hit);
    return `${hit.rank}. ${formatIndex(hit, partial)}${formatMoment(hit)}\n${content}`;
  });
  const corrected = query?.corrected ?? null;
  const words = corrected === null ? "" : ` for "${toSingleLine(corrected)}", a corrected query`;
  const found = `${segments.length} of ${total} found${words}.`;
  const heading = calibration === "borrowed" ? `${found} ${BORROWED}` : found;
  return formatPage([heading, ...missing].join("\n"), lines, next_cursor);
}

type PartialIndices = z.output<typeof mcpSearchResult>["partial"];

/** Names the indices that a search of several lacks. */
function formatPartial(partial: PartialIndices): string[] {
  return (partial ?? []).map(({ index_name, reason }) => `Without ${index_name}: ${reason}`);
}

/** Names the index of a moment of several. */
function formatIndex({ index_name }: Moment, partial: PartialIndices): string {
  return partial ? `${index_name}: ` : "";
}

export function formatCounts({
  groups,
  other,
  total,
  unit,
  query,
  calibration,
}: z.output<typeof aggregateRecord>): string {
  const format = ({ count, interval }: Pick<typeof total, "count" | "interval">) =>
    interval ? `${count} (${interval.join(" to ")})` : String(count);
  const lines = groups.map(({ key, title, ...counted }) => {
    const name = key === null ? "(none)" : toSingleLine(String(key));
    const titled = title === null ? name : `${toSingleLine(title)}, ${name}`;
    return `- ${titled}: ${format(counted)}`;
  });
  if (other.groups > 0) lines.push(`- ${formatCount(other.groups, "other")}: ${format(other)}`);
  const corrected = query.corrected === null ? "" : ` of "${toSingleLine(query.corrected)}"`;
  const isRough = total.interval !== null && calibration === "borrowed";
  return formatPage(
    `${format(total)} ${unit} in all${corrected}.${isRough ? ` ${BORROWED}` : ""}`,
    lines,
    null,
  );
}

export function formatWatches({
  watches,
  total,
  next_cursor,
}: z.output<typeof mcpWatchPage>): string {
  return formatPage(
    `${watches.length} of ${total} watches.`,
    watches.map(formatWatch),
    next_cursor,
  );
}

export function formatWatch(watch: z.output<typeof mcpWatch>): string {
  const { watch_id, name, query, paused, matches, min_probability } = watch;
  const what = query === null ? "what is like an example" : toSingleLine(query);
  const state = `${formatCount(matches, "match", "matches")} from ${min_probability}`;
  return `- ${toSingleLine(name)}, ${watch_id}: ${what}; ${state}${paused ? "; paused" : ""}`;
}

export function formatMatches({
  matches,
  total,
  next_cursor,
}: z.output<typeof mcpMatchPage>): string {
  const lines = matches.map(
    ({ matched_at, segment }) =>
      `- ${matched_at}: ${formatMoment(segment)}\n${formatContent(segment)}`,
  );
  return formatPage(`${matches.length} of ${total} matches.`, lines, next_cursor);
}

export function formatAnswer({
  answer,
  grounded,
  citations,
  partial,
}: z.output<typeof mcpAnswer>): string {
  const missing = formatPartial(partial);
  if (!grounded) return [answer, ...missing].join("\n");
  const sources = citations.map((citation) => {
    const moment = `${formatIndex(citation, partial)}${formatMoment(citation)}`;
    return `[${citation.marker}] ${moment}\n${formatContent(citation)}`;
  });
  return [answer, ...missing, "", "Sources:", ...sources].join("\n");
}

type Moment = z.output<typeof mcpMoment>;

/** Formats a hit as `video.mp4, 0:04–0:09 (score 0.96: speech)` with its ids and URL. */
function formatMoment({
  title,
  start_seconds,
  end_seconds,
  score,
  evidence,
  ...hit
}: Moment): string {
  const times =
    start_seconds === null || end_seconds === null
      ? ""
      : `, ${formatClock(start_seconds * 1000)}–${formatClock(end_seconds * 1000)}`;
  const kinds = [...new Set(evidence.map(({ kind }) => kind))].join(", ");
  const relevance = `score ${score.toFixed(2)}${kinds && `: ${kinds}`}`;
  const ids = `${hit.asset_id}, ${hit.segment_id}`;
  return `${toSingleLine(title)}${times} (${relevance}), ${ids}\n   ${hit.clip_url}`;
}

type SequenceStep = NonNullable<
  z.output<typeof mcpSearchResult>["segments"][number]["steps"]
>[number];

/** Formats a step of a sequence as `Step 2, 0:12–0:18 (score 0.96), seg_…` with its content. */
function formatStep({ segment, score }: SequenceStep, at: number): string {
  const [start, end] = [segment.start_seconds ?? 0, segment.end_seconds ?? 0];
  const times = `${formatClock(start * 1000)}–${formatClock(end * 1000)}`;
  const heading = `   Step ${at + 1}, ${times} (score ${score.toFixed(2)}), ${segment.segment_id}`;
  return [heading, formatContent(segment)].filter((line) => line !== "").join("\n");
}

type MomentText = Pick<Moment, "caption" | "transcript" | "on_screen_text">;

function formatContent({ caption, transcript, on_screen_text }: MomentText): string {
  const texts = { Caption: caption, Speech: transcript, "On-screen text": on_screen_text };
  return Object.entries(texts)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `   ${name}: ${toSingleLine(text)}`)
    .join("\n");
}

/** Collapses white space, so that text from users and media can't start a line of its own. */
function toSingleLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

function formatPage(heading: string, lines: string[], nextCursor: string | null): string {
  const more = `There are more: call again with the cursor "${nextCursor}".`;
  return [heading, ...lines, ...(nextCursor === null ? [] : [more])].join("\n");
}
