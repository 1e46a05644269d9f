import type { GroupSearchResult, Hit, SearchResult } from "../index.ts";
import { describeEvidence, titleWithFolder } from "./evidence-text.ts";
import { hyperlink, type Output } from "./output.ts";
import { formatClock, formatRange } from "./quantity-format.ts";
import { sanitizeLine } from "./sanitize.ts";
import type { Column } from "./table.ts";

/** Prints hits as a table, with links where the terminal takes them. */
export function printHits(
  output: Output,
  hits: readonly Hit[],
  hasLinks: boolean,
  { scoreDigits = 2, hasIndexNames = false } = {},
): void {
  const link: Column = {
    title: "link",
    decorate: (cell, row) => hyperlink(cell, hits[row]!.clip_url),
  };
  const columns: Column[] = [
    { title: "#", align: "right" },
    { title: "score", align: "right" },
    ...(hasIndexNames ? [{ title: "index" }] : []),
    { title: "title", minWidth: 16 },
    { title: "time" },
    ...(output.hasHyperlinks ? [link] : []),
    { title: "why", minWidth: 20 },
  ];
  const rows = hits.map((hit) => [
    String(hit.rank),
    hit.score.toFixed(scoreDigits),
    ...(hasIndexNames ? [hit.index_name] : []),
    titleWithFolder(hit),
    formatRange(hit.start_seconds, hit.end_seconds),
    ...(output.hasHyperlinks ? [hit.asset_type === "video" ? "play" : "view"] : []),
    hit.steps ? describeSteps(hit.steps) : describeEvidence(hit),
  ]);
  output.table(columns, rows);
  if (!hasLinks) return;
  for (const { rank, clip_url } of hits) output.line(`${rank}  ${sanitizeLine(clip_url)}`);
}

/** Describes each step of a sequence: its start, and why it was found. */
function describeSteps(steps: NonNullable<Hit["steps"]>): string {
  return steps
    .map(({ segment, evidence }) => {
      const start = segment.start_seconds === null ? "" : formatClock(segment.start_seconds);
      return `${start} ${describeEvidence({ ...segment, evidence })}`.trim();
    })
    .join(" → ");
}

/** Says which indices did not answer. */
export function notePartial(output: Output, partial: GroupSearchResult["partial"]): void {
  for (const { index_name, reason } of partial) {
    output.note(`Without ${sanitizeLine(index_name)}: ${sanitizeLine(reason)}`);
  }
}

const BORROWED =
  "Scores put the hits in order, but aren't exact: this service wasn't calibrated for its models.";

/** Says that scores aren't calibrated, if they aren't. */
export function noteCalibration(output: Output, state: SearchResult["calibration"]): void {
  if (state === "borrowed") output.note(BORROWED);
}
