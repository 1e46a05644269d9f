import { tokensOf } from "../store/words.ts";
import type { Match } from "./terms.ts";

/** Of a longer text a stretch is shown, in UTF-16 units. */
const LONGEST = 240;
/** What of it comes before the first match. */
const LEAD = 40;

/**
 * As HTML, the stretch of a text with the most different terms in it, the first of several, matches in
 * `<mark>`. Cut between words, with "…" for what is left out.
 */
export function excerptOf(text: string, matches: readonly Match[]): string {
  const { start, end } = stretchOf(text, matches);
  let html = start > 0 ? "…" : "";
  let at = start;
  for (const match of matches) {
    if (match.start < at || match.end > end) continue; // it overlaps another, or isn't shown
    const word = toHtml(text.slice(match.start, match.end));
    html += `${toHtml(text.slice(at, match.start))}<mark>${word}</mark>`;
    at = match.end;
  }
  return html + toHtml(text.slice(at, end)) + (end < text.length ? "…" : "");
}

function stretchOf(text: string, matches: readonly Match[]): { start: number; end: number } {
  if (text.length <= LONGEST) return { start: 0, end: text.length };
  const tokens = tokensOf(text);
  let best = { start: 0, end: 0, terms: 0 };
  for (const first of matches) {
    const from = Math.max(0, Math.min(first.start - LEAD, text.length - LONGEST));
    const inside = tokens.filter(({ word, start }) => {
      return start >= from && start + word.length <= from + LONGEST;
    });
    const start = inside[0]?.start ?? first.start;
    const last = inside.at(-1);
    const end = last ? last.start + last.word.length : first.end;
    const shown = matches.filter((one) => one.start >= start && one.end <= end);
    const terms = new Set(shown.map(({ term }) => term)).size;
    if (terms > best.terms) best = { start, end, terms };
  }
  return best;
}

function toHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
