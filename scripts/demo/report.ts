import type { AnswerRecord, Api, HitRecord, SegmentRecord } from "./api-client.ts";
import type { Query } from "./queries.ts";
import { clock, type Column, cut, formatRow, plain } from "./terminal.ts";

const COLUMNS: Column[] = [
  { title: "score", width: 5, align: "right" },
  { title: "asset", width: 26 },
  { title: "start–end", width: 11 },
  { title: "why", width: 72 },
];
const ROWS = 3;
/** Characters before the match that are shown with it. */
const LEAD = 24;

/** Searches, prints the best hits of each query; returns what did not come out as expected. */
export async function reportSearches(
  api: Api,
  indexName: string,
  queries: Query[],
): Promise<string[]> {
  const misses: string[] = [];
  for (const { text, why, expect } of queries) {
    const startedAt = performance.now();
    const { segments } = await api.post<{ segments: HitRecord[] }>(`/index/${indexName}/search`, {
      query: text,
      top_k: ROWS,
    });
    const took = Math.round(performance.now() - startedAt);
    const note = expect === undefined ? why : `only ${why}`;
    console.log(`\nSearch: ${plain(text)}   (${note}, ${took} ms)`);
    const titles = COLUMNS.map(({ title }) => title);
    console.log(formatRow(COLUMNS, titles));
    for (const hit of segments) {
      const cells = [hit.score.toFixed(2), hit.title, span(hit), reason(hit)];
      console.log(formatRow(COLUMNS, cells));
      console.log(`         ${hit.clip_url}`);
    }
    const first = segments[0]?.title;
    if (expect !== undefined && first !== expect) {
      misses.push(`"${text}" should find ${expect} first, and found ${first ?? "nothing"}.`);
    }
  }
  return misses;
}

/** Asks each question and prints the answer with what it stands on. */
export async function reportAnswers(
  api: Api,
  indexName: string,
  questions: string[],
): Promise<void> {
  for (const question of questions) {
    const query = new URLSearchParams({ query: question });
    const { answer, citations } = await api.get<AnswerRecord>(
      `/index/${indexName}/answer?${query.toString()}`,
    );
    console.log(`\nQuestion: ${plain(question)}\n  ${plain(answer)}`);
    for (const cited of citations) {
      console.log(
        `  [${cited.marker}] ${plain(cited.title)} ${span(cited)}\n      ${cited.clip_url}`,
      );
    }
  }
}

function span({ start_seconds: start, end_seconds: end }: SegmentRecord): string {
  return start === null || end === null ? "" : `${clock(start)}–${clock(end)}`;
}

/** The strongest evidence: its kind, and the words around the match in guillemets. */
function reason(hit: HitRecord): string {
  const best = hit.evidence.find(({ text }) => text !== undefined) ?? hit.evidence[0];
  if (!best) return "";
  return `${best.kind}: ${around(plain(best.text === undefined ? own(hit, best.kind) : fromHtml(best.text)))}`;
}

function own(hit: HitRecord, kind: string): string {
  if (kind === "speech") return hit.transcript;
  return kind === "text" ? hit.on_screen_text : hit.caption;
}

function around(text: string): string {
  const at = text.indexOf("«");
  return at <= LEAD ? text : `…${cut(text.slice(at - LEAD), text.length)}`;
}

function fromHtml(text: string): string {
  return text
    .replaceAll("<mark>", "«")
    .replaceAll("</mark>", "»")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
