import type { Hit } from "../index.ts";
import { sanitizeLine } from "./display-width.ts";
import { hyperlink, type Output } from "./output.ts";
import type { Column } from "./table.ts";
import { formatRange } from "./quantity-format.ts";

/** Characters before the first match in an excerpt. */
const CONTEXT_CHARACTERS = 24;

/** Prints hits as a table, with links where the terminal takes them. */
export function printHits(output: Output, hits: readonly Hit[], hasLinks: boolean): void {
  const link: Column = {
    title: "link",
    decorate: (cell, row) => hyperlink(cell, hits[row]!.clip_url),
  };
  const columns: Column[] = [
    { title: "#", align: "right" },
    { title: "score", align: "right" },
    { title: "title", minWidth: 16 },
    { title: "time" },
    ...(output.hasHyperlinks ? [link] : []),
    { title: "why", minWidth: 20 },
  ];
  const rows = hits.map((hit) => [
    String(hit.rank),
    hit.score.toFixed(2),
    hit.title,
    formatRange(hit.start_seconds, hit.end_seconds),
    ...(output.hasHyperlinks ? [hit.asset_type === "video" ? "play" : "view"] : []),
    describeEvidence(hit),
  ]);
  output.table(columns, rows);
  if (!hasLinks) return;
  for (const { rank, clip_url } of hits) output.line(`${rank}  ${sanitizeLine(clip_url)}`);
}

/** Describes the strongest evidence: its kind, and an excerpt with the matches in guillemets. */
export function describeEvidence({
  evidence,
  caption,
  transcript,
  on_screen_text,
}: Pick<Hit, "evidence" | "caption" | "transcript" | "on_screen_text">): string {
  const best = evidence.find(({ text }) => text !== undefined) ?? evidence[0];
  if (!best) return "";
  const fields = { speech: transcript, text: on_screen_text, caption, visual: caption };
  const text = best.text === undefined ? fields[best.kind] : fromHtml(best.text);
  return text.trim() === "" ? best.kind : `${best.kind}: ${excerpt(sanitizeLine(text))}`;
}

function excerpt(text: string): string {
  const at = text.indexOf("«");
  return at <= CONTEXT_CHARACTERS ? text : `…${text.slice(at - CONTEXT_CHARACTERS)}`;
}

function fromHtml(text: string): string {
  return text
    .replaceAll("<mark>", "«")
    .replaceAll("</mark>", "»")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
