import { type Token, tokenize } from "../store/index-database/fulltext.ts";
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
  const window = new MatchWindow(matches);
  const tokens = tokenize(text);
  let [firstToken, nextToken] = [0, 0];
  let best = { start: 0, end: 0, terms: 0 };
  for (const first of matches) {
    const from = Math.max(0, Math.min(first.start - LEAD_LENGTH, text.length - MAX_LENGTH));
    while (firstToken < tokens.length && tokens[firstToken]!.start < from) firstToken += 1;
    while (nextToken < tokens.length && endOf(tokens[nextToken]!) <= from + MAX_LENGTH) {
      nextToken += 1;
    }
    const isEmpty = nextToken <= firstToken; // the first match is longer than an excerpt
    const start = isEmpty ? first.start : tokens[firstToken]!.start;
    const end = isEmpty ? first.end : endOf(tokens[nextToken - 1]!);
    const terms = window.countTerms(start, end);
    if (terms > best.terms) best = { start, end, terms };
  }
  return best;
}

function endOf({ word, start }: Token): number {
  return start + word.length;
}

/** Counts the terms of the matches in a range that moves over the text once. */
class MatchWindow {
  readonly #matches: readonly TermMatch[];
  readonly #counts = new Map<number, number>();
  #first = 0;
  #next = 0;

  constructor(matches: readonly TermMatch[]) {
    this.#matches = matches;
  }

  /** Counts the distinct terms in a range, which may not start or end before the last. */
  countTerms(start: number, end: number): number {
    for (let match = this.#matches[this.#next]; match; match = this.#matches[++this.#next]) {
      if (match.end > end) break;
      this.#add(match, 1);
    }
    for (; this.#first < this.#next && this.#matches[this.#first]!.start < start; this.#first++) {
      this.#add(this.#matches[this.#first]!, -1);
    }
    return this.#counts.size;
  }

  #add({ term }: TermMatch, change: 1 | -1): void {
    const count = (this.#counts.get(term) ?? 0) + change;
    if (count === 0) this.#counts.delete(term);
    else this.#counts.set(term, count);
  }
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
