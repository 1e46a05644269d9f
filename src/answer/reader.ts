import { endOfSentence } from "./sentences.ts";

/** A list item, of which any number of sentences may be told. */
export interface Item {
  bullet: string;
  indent: number;
  /** The items that it is in, outermost first. */
  within: Item[];
  /** Columns that its bullet takes where the item was told, else 0: so far are the items in it moved in. */
  width: number;
}

/** A sentence of an answer, or a line that only orders what follows it. */
export interface Unit {
  /** `title`: a heading or lead-in ("There are two:"); `head`, `border`, `row`: lines of a table. */
  kind: "sentence" | "title" | "head" | "border" | "row";
  /** As written, line breaks included. */
  text: string;
  /** `## `, `> ` or nothing. */
  prefix: string;
  item: Item | null;
  /** A title stands over what comes next and is of a higher level. */
  level: number;
  line: number;
  paragraph: number;
}

type Block = Pick<Unit, "prefix" | "item" | "level">;

/** Running text that is being read. */
interface Running {
  block: Block;
  /** A sentence of it is out. */
  isBegun: boolean;
  /** Up to here no sentence ends; up to here it goes on. */
  from: number;
  goesOnTo: number;
}

const BULLET = String.raw`(?:[-*+•]|\d{1,3}[.)])`;
const FOOTNOTE = String.raw`\[\^?\d{1,3}\]:`;
const FENCE = "```|~~~";
const WHOLE_LINE = new RegExp(
  String.raw`^[^\S\n]*(?:>[^\S\n]*)*(?:#{1,6}\s|\||${FENCE}|${FOOTNOTE})`,
);
const LEFT_OUT = new RegExp(String.raw`^[>\s]*(?:${FENCE}|${FOOTNOTE})`);
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
 * Reads an answer as it is written, in pieces cut anywhere, sentence by sentence: each as soon as it is
 * surely over. Headings, list items and rows of tables are told from running text, in which a line
 * break is white space, as in Markdown. Code fences are left out (what is in them is text), and so is
 * what is said of markers apart (`[1]: https://…`), which in Markdown would make links of them.
 */
export class AnswerReader {
  #rest = "";
  #newlines = 0;
  #line = 0;
  #paragraph = 0;
  #tableLine = -2;
  #items: Item[] = [];
  #block: Running | null = null;

  /** The sentences that are over with this piece; `isLast`: no other will come. */
  *read(piece: string, isLast: boolean): Generator<Unit> {
    this.#rest += piece;
    for (;;) {
      const unit = this.#next(isLast);
      if (unit === "wait") return;
      if (unit) yield unit;
    }
  }

  #next(isLast: boolean): Unit | null | "wait" {
    if (!this.#block) {
      this.#skip(/^(?:[^\S\n]*\n)*/);
      if (this.#rest.trim() === "") return "wait";
      const line = this.#rest.split("\n", 1)[0] ?? "";
      const isCut = !isLast && line.length === this.#rest.length;
      if (isCut && MAY_START_BLOCK.test(line)) return "wait";
      if (WHOLE_LINE.test(line)) return isCut ? "wait" : this.#readLine(line);
      this.#block = { block: this.#openBlock(), isBegun: false, from: 0, goesOnTo: 0 };
    }
    return this.#readSentence(this.#block, isLast);
  }

  #readSentence(running: Running, isLast: boolean): Unit | "wait" {
    const { block, isBegun } = running;
    const { text, isWhole, goesOnTo } = runningText(this.#rest, isLast, running.goesOnTo);
    const found = endOfSentence(text, isWhole, running.from);
    if (found.end === null) {
      this.#block = { ...running, from: found.from, goesOnTo };
      return "wait";
    }
    if (isBegun && block.item) this.#newlines = 0;
    else this.#countLines();
    const sentence = text.slice(0, found.end).trim();
    const isOver = isWhole && text.slice(found.end).trim() === "";
    this.#rest = this.#rest.slice(found.end);
    this.#block = isOver ? null : { block, isBegun: true, from: 0, goesOnTo: 0 };
    if (!isOver) this.#skip(/^\s*/);
    const isBold = isOver && !isBegun && BOLD.test(sentence);
    const kind = isBold || (isOver && /:[\s*_]*$/.test(sentence)) ? "title" : "sentence";
    const level = isBold && !block.item ? -1 : block.level;
    return this.#unit({ ...block, kind, text: sentence, level });
  }

  /** Of what is told by its line alone. */
  #readLine(line: string): Unit | null {
    this.#countLines();
    this.#items = [];
    this.#rest = this.#rest.slice(line.length);
    if (LEFT_OUT.test(line)) return null;
    const [, marks = "", title = ""] = /^[>\s]*(#{1,6})\s+(.*?)[\s#]*$/s.exec(line) ?? [];
    if (marks) {
      return this.#unit({
        kind: "title",
        text: title,
        prefix: `${marks} `,
        item: null,
        level: marks.length - 8,
      });
    }
    const isFirst = this.#tableLine !== this.#line - 1;
    this.#tableLine = this.#line;
    const kind = /^[>\s|:-]*$/.test(line) ? "border" : isFirst ? "head" : "row";
    return this.#unit({
      kind,
      text: line.trim(),
      prefix: "",
      item: null,
      level: kind === "row" ? 2 : 1,
    });
  }

  #openBlock(): Block {
    const [prefix = "", indent = "", quotes = "", bullet] = PREFIX.exec(this.#rest) ?? [];
    this.#rest = this.#rest.slice(prefix.length);
    const quote = quotes.trim() === "" ? "" : `${quotes.trim()} `;
    if (bullet === undefined) {
      this.#items = [];
      return { prefix: quote, item: null, level: 0 };
    }
    const columns = indent.replaceAll("\t", "    ").length;
    const within = this.#items.filter((item) => item.indent < columns);
    const item = { bullet: bullet === "•" ? "-" : bullet, indent: columns, within, width: 0 };
    this.#items = [...within, item];
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

  #unit(unit: Omit<Unit, "line" | "paragraph">): Unit {
    return { ...unit, line: this.#line, paragraph: this.#paragraph };
  }
}

/**
 * The text up to the next line that starts something else; `isWhole`: there is one, or the end. It goes
 * on at least to `goesOnTo`, from where it may be asked for again.
 */
function runningText(rest: string, isLast: boolean, goesOnTo: number) {
  let from = goesOnTo;
  for (let at = rest.indexOf("\n", from); at >= 0; at = rest.indexOf("\n", from)) {
    const after = rest.slice(at + 1);
    const isCut = !isLast && !after.includes("\n");
    if (isCut && MAY_START_BLOCK.test(after)) {
      return { text: rest.slice(0, at), isWhole: false, goesOnTo: from };
    }
    const text = rest.slice(0, at);
    const isList = /:[\s*_]*$/.test(text.slice(-9)) && /^\s*[[【]/.test(after);
    if (isList || STARTS_BLOCK.test(after) || BOLD.test(text.trim())) {
      return { text: rest.slice(0, at), isWhole: true, goesOnTo: from };
    }
    from = at + 1;
  }
  return { text: rest, isWhole: isLast, goesOnTo: from };
}
