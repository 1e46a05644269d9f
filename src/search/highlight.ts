import { tokenize } from "../store/fulltext.ts";
import type { TermMatch } from "./query-terms.ts";

/** Maximum length of an excerpt, in UTF-16 units. */
const MAX_LENGTH = 240;
/** Length of the context before the first match, in UTF-16 units. */
const LEAD_LENGTH = 40;

/**
 * Returns an excerpt as HTML, with matches in `<mark>`: the first range with the most distinct
 * terms. Cuts between words, and puts "…" where text was cut.
 */
export function highlightMatches(text: string, matches: readonly TermMatch[]): string {
  const { start, end } = excerptRange(text, matches);
  let html = start > 0 ? "…" : "";
  let at = start;
  for (const match of matches) {
    if (match.start < at || match.end > end) continue; // overlaps another match, or was cut
    const word = escapeHtml(text.slice(match.start, match.end));
    html += `${escapeHtml(text.slice(at, match.start))}<mark>${word}</mark>`;
    at = match.end;
  }
  return html + escapeHtml(text.slice(at, end)) + (end < text.length ? "…" : "");
}

function excerptRange(text: string, matches: readonly TermMatch[]): { start: number; end: number } {
  if (text.length <= MAX_LENGTH) return { start: 0, end: text.length };
  const tokens = tokenize(text);
  let best = { start: 0, end: 0, terms: 0 };
  for (const first of matches) {
    const from = Math.max(0, Math.min(first.start - LEAD_LENGTH, text.length - MAX_LENGTH));
    const inside = tokens.filter(({ word, start }) => {
      return start >= from && start + word.length <= from + MAX_LENGTH;
    });
    const start = inside[0]?.start ?? first.start;
    const last = inside.at(-1);
    const end = last ? last.start + last.word.length : first.end;
    const included = matches.filter((match) => match.start >= start && match.end <= end);
    const terms = new Set(included.map(({ term }) => term)).size;
    if (terms > best.terms) best = { start, end, terms };
  }
  return best;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
