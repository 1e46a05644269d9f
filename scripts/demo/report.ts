import type { Segment, SightlineIndex } from "sightline";
import { describeEvidence, titleWithFolder } from "sightline/node";
import terminalLink from "terminal-link";
import {
  formatClock,
  type Column,
  formatRow,
  sanitizeLine,
  sanitizeText,
  wrapText,
} from "../../tools/terminal.ts";
import type { DemoQuery } from "./queries.ts";

const COLUMNS: Column[] = [
  { title: "score", width: 5, align: "right" },
  { title: "asset", width: 26 },
  { title: "start–end", width: 11 },
  { title: "evidence", width: 72 },
];
const ROWS = 3;
/** Lowest score of a hit after the first that is shown. */
const MIN_SCORE = 0.1;
/** Name of the model of captions that are composed of labels. */
const COMPOSED = "template";

/** Runs each search and prints its best hits; returns a sentence for each unexpected first hit. */
export async function reportSearches(
  index: SightlineIndex,
  queries: DemoQuery[],
): Promise<string[]> {
  const misses: string[] = [];
  const captions = new Set<string>();
  for (const { text, evidence, expectedFile } of queries) {
    const startedAt = performance.now();
    const found = await index.search({ query: text, top_k: ROWS });
    const elapsedMs = Math.round(performance.now() - startedAt);
    const segments = found.segments.filter(({ rank, score }) => rank === 1 || score >= MIN_SCORE);
    const note = expectedFile === undefined ? evidence : `only ${evidence}`;
    console.log(`\nSearch: ${sanitizeLine(text)}   (${note}, ${elapsedMs} ms)`);
    const titles = COLUMNS.map(({ title }) => title);
    console.log(formatRow(COLUMNS, titles));
    for (const hit of segments) {
      const cells = [
        hit.score.toFixed(2),
        titleWithFolder(hit),
        formatRange(hit),
        describeEvidence(hit),
      ];
      console.log(formatRow(COLUMNS, cells) + playLink(hit));
    }
    for (const { caption, caption_model: model } of segments) {
      if (model === COMPOSED) captions.add(caption);
    }
    const first = segments[0]?.title;
    if (expectedFile !== undefined && first !== expectedFile) {
      misses.push(`"${text}" should find ${expectedFile} first, and found ${first ?? "nothing"}.`);
    }
  }
  const example = longest([...captions]);
  if (example !== "") console.log(`\n${sanitizeText(explainCaption(example))}`);
  return misses;
}

/** Says how captions are made if no language model is there. */
function explainCaption(caption: string): string {
  return wrapText(
    `Captions such as “${sanitizeLine(caption)}” are composed of what detectors found in an ` +
      "image or a frame. No language model wrote them.",
  );
}

function longest(texts: readonly string[]): string {
  return texts.toSorted((a, b) => b.length - a.length)[0] ?? "";
}

/** Requests an answer to each question and prints it with its citations. */
export async function reportAnswers(index: SightlineIndex, questions: string[]): Promise<void> {
  for (const question of questions) {
    const { answer, citations, related, model } = await index.answer(question);
    console.log(`\nQuestion: ${sanitizeLine(question)}\n  ${sanitizeLine(answer)}`);
    if (citations.length > 0) console.log(`  (${describeAuthor(model)})`);
    for (const citation of citations) {
      const title = sanitizeLine(citation.title);
      const range = formatRange(citation);
      console.log(`  [${citation.marker}] ${title} ${range}${playLink(citation)}`);
    }
    if (related.length > 0) console.log("  Closest moments, which don't answer it:");
    for (const hit of related) {
      console.log(`  ${hit.score.toFixed(2)}  ${sanitizeLine(hit.title)} ${formatRange(hit)}`);
    }
  }
}

/** Returns a link that plays a moment, in terminals that have links with words. */
function playLink({ asset_type: type, clip_url: url }: Segment): string {
  const target = /^https?:/i.test(url) ? URL.parse(url) : null; // its text has no control character
  if (!terminalLink.isSupported || !target) return "";
  return `  ${terminalLink(type === "video" ? "play" : "view", target.href)}`;
}

/** Says who wrote an answer, from the model's id. */
function describeAuthor(model: string): string {
  return model === "extractive"
    ? "quoted; no language model wrote this"
    : `written by the model ${sanitizeLine(model)}`;
}

function formatRange({ start_seconds: start, end_seconds: end }: Segment): string {
  return start === null || end === null ? "" : `${formatClock(start)}–${formatClock(end)}`;
}
