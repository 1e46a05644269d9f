import { findSentenceEnd } from "./sentences.ts";

/** A list item; any number of its sentences may be in the output. */
export interface ListItem {
  bullet: string;
  indent: number;
  /** The items around this one, outermost first. */
  ancestors: ListItem[];
  /** Indentation of nested items, in columns: 0 until the item itself is in the output. */
  width: number;
}

/** A sentence of an answer, or a line that structures it. */
export interface AnswerBlock {
  /**
   * `title`: a heading or lead-in ("There are two:"); `head`, `border`, `row`: lines of a table.
   */
  kind: "sentence" | "title" | "head" | "border" | "row";
  /** The source text, line breaks included. */
  text: string;
  /** Markdown before the text: `## `, `> ` or empty. */
  prefix: string;
  item: ListItem | null;
  /** A title applies to the following blocks of a higher level. */
  level: number;
  line: number;
  paragraph: number;
}

type BlockStart = Pick<AnswerBlock, "prefix" | "item" | "level">;

/** State of the running text that is being parsed; offsets are in the unread text. */
interface RunningText {
  start: BlockStart;
  /** Whether a sentence of the block was emitted. */
  hasSentence: boolean;
  /** No sentence ends before this offset. */
  searchFrom: number;
  /** The block doesn't end before this offset. */
  minLength: number;
}

const BULLET = String.raw`(?:[-*+•]|\d{1,3}[.)])`;
const FOOTNOTE = String.raw`\[\^?\d{1,3}\]:`;
const FENCE = "```|~~~";
const WHOLE_LINE = new RegExp(
  String.raw`^[^\S\n]*(?:>[^\S\n]*)*(?:#{1,6}\s|\||${FENCE}|${FOOTNOTE})`,
);
const IGNORED_LINE = new RegExp(String.raw`^[>\s]*(?:${FENCE}|${FOOTNOTE})`);
const STARTS_BLOCK = new RegExp(
  String.raw`^[^\S\n]*(?:\n|$|>|#{1,6}\s|\||${FENCE}|${BULLET}\s|[-*_=]{3,}\s*(?:\n|$)|${FOOTNOTE})`,
);
const MAY_START_BLOCK = new RegExp(
  String.raw`^[>\s]*(?:#{1,6}|\x60{1,2}|~{1,2}|[-*_=]+\s*|\d{1,3}|${BULLET}(?:\s+(?:\[[ xX]?\]?\s*)?)?|\[[^\]\n]*\]?)?$`,
);
const PREFIX = new RegExp(
  String.raw`^([^\S\n]*)((?:>[^\S\n]*)*)(?:(${BULLET})[^\S\n]+(?:\[[ xX]\][^\S\n]+)?)?`,
);
const BOLD = /^(\*\*|__)(?:(?!\1).)*[^\p{STerm}]\1:?$/su;

/**
 * Parses a streamed answer into sentences, however its text is split into chunks. Emits a sentence
 * as soon as it can't change any more. Recognises headings, list items and table rows; elsewhere a
 * line break is white space, as in Markdown. Drops the lines of code fences (not their content),
 * and link definitions (`[1]: https://…`), which would turn markers into links.
 */
export class AnswerParser {
  #rest = "";
  #newlines = 0;
  #line = 0;
  #paragraph = 0;
  #tableLine = -2;
  #items: ListItem[] = [];
  #running: RunningText | null = null;

  /** Yields the blocks that a chunk completes. `isLast` ends the text. */
  *read(chunk: string, isLast: boolean): Generator<AnswerBlock> {
    this.#rest += chunk;
    for (;;) {
      const block = this.#next(isLast);
      if (block === "wait") return;
      if (block) yield block;
    }
  }

  #next(isLast: boolean): AnswerBlock | null | "wait" {
    if (!this.#running) {
      this.#skip(/^(?:[^\S\n]*\n)*/);
      if (this.#rest.trim() === "") return "wait";
      const line = this.#rest.split("\n", 1)[0] ?? "";
      const isCut = !isLast && line.length === this.#rest.length;
      if (isCut && MAY_START_BLOCK.test(line)) return "wait";
      if (WHOLE_LINE.test(line)) return isCut ? "wait" : this.#readLine(line);
      const start = this.#readBlockStart();
      this.#running = { start, hasSentence: false, searchFrom: 0, minLength: 0 };
    }
    return this.#readSentence(this.#running, isLast);
  }

  #readSentence(running: RunningText, isLast: boolean): AnswerBlock | "wait" {
    const { start, hasSentence } = running;
    const { text, isWhole, minLength } = readRunningText(this.#rest, isLast, running.minLength);
    const found = findSentenceEnd(text, isWhole, running.searchFrom);
    if (found.end === null) {
      this.#running = { ...running, searchFrom: found.from, minLength };
      return "wait";
    }
    if (hasSentence && start.item) this.#newlines = 0;
    else this.#countLines();
    const sentence = text.slice(0, found.end).trim();
    const isBlockEnd = isWhole && text.slice(found.end).trim() === "";
    this.#rest = this.#rest.slice(found.end);
    this.#running = isBlockEnd ? null : { start, hasSentence: true, searchFrom: 0, minLength: 0 };
    if (!isBlockEnd) this.#skip(/^\s*/);
    const isBold = isBlockEnd && !hasSentence && BOLD.test(sentence);
    const isTitle = isBold || (isBlockEnd && /:[\s*_]*$/.test(sentence));
    const level = isBold && !start.item ? -1 : start.level;
    return this.#toBlock({ ...start, kind: isTitle ? "title" : "sentence", text: sentence, level });
  }

  /**
   * Reads a line that is a block of its own: a heading or a table row. Null for an ignored line.
   */
  #readLine(line: string): AnswerBlock | null {
    this.#countLines();
    this.#items = [];
    this.#rest = this.#rest.slice(line.length);
    if (IGNORED_LINE.test(line)) return null;
    const [, marks = "", title = ""] = /^[>\s]*(#{1,6})\s+(.*?)[\s#]*$/s.exec(line) ?? [];
    if (marks) {
      const level = marks.length - 8;
      return this.#toBlock({ kind: "title", text: title, prefix: `${marks} `, item: null, level });
    }
    const isFirst = this.#tableLine !== this.#line - 1;
    this.#tableLine = this.#line;
    const kind = /^[>\s|:-]*$/.test(line) ? "border" : isFirst ? "head" : "row";
    const level = kind === "row" ? 2 : 1;
    return this.#toBlock({ kind, text: line.trim(), prefix: "", item: null, level });
  }

  #readBlockStart(): BlockStart {
    const [prefix = "", indent = "", quotes = "", bullet] = PREFIX.exec(this.#rest) ?? [];
    this.#rest = this.#rest.slice(prefix.length);
    const quote = quotes.trim() === "" ? "" : `${quotes.trim()} `;
    if (bullet === undefined) {
      this.#items = [];
      return { prefix: quote, item: null, level: 0 };
    }
    const columns = indent.replaceAll("\t", "    ").length;
    const ancestors = this.#items.filter((item) => item.indent < columns);
    const item = { bullet: bullet === "•" ? "-" : bullet, indent: columns, ancestors, width: 0 };
    this.#items = [...ancestors, item];
    return { prefix: quote, item, level: columns + 1 };
  }

  #skip(space: RegExp): void {
    const skipped = space.exec(this.#rest)?.[0] ?? "";
    this.#rest = this.#rest.slice(skipped.length);
    this.#newlines += skipped.split("\n").length - 1;
  }

  #countLines(): void {
    if (this.#newlines > 0) this.#line += 1;
    if (this.#newlines > 1) this.#paragraph += 1;
    this.#newlines = 0;
  }

  #toBlock(block: Omit<AnswerBlock, "line" | "paragraph">): AnswerBlock {
    return { ...block, line: this.#line, paragraph: this.#paragraph };
  }
}

/**
 * Reads running text up to the next line that starts another block. `isWhole` if there is one, or
 * if the text ends. The text is known to go on to `minLength`: the search starts there.
 */
function readRunningText(rest: string, isLast: boolean, minLength: number) {
  let from = minLength;
  for (let at = rest.indexOf("\n", from); at >= 0; at = rest.indexOf("\n", from)) {
    const after = rest.slice(at + 1);
    const isCut = !isLast && !after.includes("\n");
    if (isCut && MAY_START_BLOCK.test(after)) {
      return { text: rest.slice(0, at), isWhole: false, minLength: from };
    }
    const text = rest.slice(0, at);
    const isList = /:[\s*_]*$/.test(text.slice(-9)) && /^\s*[[【]/.test(after);
    if (isList || STARTS_BLOCK.test(after) || BOLD.test(text.trim())) {
      return { text: rest.slice(0, at), isWhole: true, minLength: from };
    }
    from = at + 1;
  }
  return { text: rest, isWhole: isLast, minLength: from };
}
