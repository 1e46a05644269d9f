import { placeMarkers } from "./markers.ts";
import type { Marked } from "./markers.ts";
import { toPlain } from "./markup.ts";
import { addressesIn, isQuoted, quotedIn, SecretWatch } from "./proof.ts";
import { AnswerReader } from "./reader.ts";
import type { Item, Unit } from "./reader.ts";

type Told = Unit & Marked;

const LIST_OF_SOURCES = /^\P{L}*(?:citations|references|sources)\P{L}*$/iu;
const STARTS_MARKED = /^[^\p{L}\p{N}]*[[【]/u;

/**
 * Lets through what a model's answer proves, sentence by sentence while it is written, and nothing
 * else. `sources`: the evidence as the model was given it, by marker; `secret`: our own instructions.
 *
 * - A sentence stays where a marker of a source is in or after it. Markers become `[1][2]` (see
 *   `placeMarkers`); unknown ones go. Each sentence of a paragraph or list item needs its own: a
 *   marker two sentences on proves nothing of this one.
 * - Headings, lead-ins ("There are two:") and heads of tables claim little alone: they come out with the
 *   first sentence under them that does, or not at all. So what only looks like an answer is empty.
 * - Of a list of sources at the end nothing stays: the caller has the citations.
 * - What is quoted, three words or more, must be in one of the sources that the sentence cites, and so
 *   must addresses: made-up words in a person's mouth, or a link that carries data off, are worse
 *   than no answer. Numbers may be missing in the sources: a picture shows what no caption counts.
 * - Eight words in a row of `secret` drop the sentence in which they end: instructions are not evidence.
 *   Translated or spelled out they can't be told.
 *
 * Pieces may be cut anywhere, and give what the whole would. Nothing is let go before the next sentence
 * has begun. Line breaks and blank lines stay between what stays; no output ends in white space.
 */
export class AnswerCheck {
  readonly #sources: ReadonlyMap<number, string>;
  readonly #reader = new AnswerReader();
  readonly #secret: SecretWatch;
  readonly #cited = new Set<number>();
  #titles: Told[] = [];
  #listsSources = false;
  #told: Unit | null = null;

  constructor(sources: ReadonlyMap<number, string>, secret: string) {
    this.#sources = sources;
    this.#secret = new SecretWatch(secret);
  }

  /** What can be told now: "" where no sentence is over. Starts with the space or line break before it. */
  push(piece: string): string {
    return this.#read(piece, false);
  }

  /** The rest. All that came out together is "" where nothing was proven. */
  end(): string {
    return this.#read("", true);
  }

  /** The markers let through so far, in order of first appearance. */
  get cited(): number[] {
    return [...this.#cited];
  }

  #read(piece: string, isLast: boolean): string {
    return [...this.#reader.read(piece, isLast)].map((unit) => this.#judge(unit)).join("");
  }

  #judge(unit: Unit): string {
    if (unit.kind === "border") {
      const head = this.#titles.at(-1);
      if (head?.kind === "head") head.text += `\n${unit.text}`;
      return "";
    }
    this.#titles = this.#titles.filter(({ level }) => level < unit.level);
    const marked = this.#mark(unit);
    if (!this.#isProven(marked)) return "";
    const told = { ...unit, ...marked };
    if (unit.kind === "head" || (unit.kind === "title" && marked.markers.length === 0)) {
      this.#titles.push(told);
      this.#listsSources = LIST_OF_SOURCES.test(marked.bare);
      return "";
    }
    const isEntry = this.#listsSources && STARTS_MARKED.test(unit.text);
    if (marked.markers.length === 0 || isEntry) return "";
    return [...this.#titles.splice(0), told].map((one) => this.#tell(one)).join("");
  }

  #mark(unit: Unit): Marked {
    if (unit.kind !== "row" && unit.kind !== "head") {
      return placeMarkers(withoutLoneStars(unit.text), this.#sources.keys());
    }
    const cells = unit.text.replaceAll(/^[>\s]*\||\|\s*$/g, "").split(/(?<!\\)\|/);
    const marked = cells.map((cell) => placeMarkers(cell, this.#sources.keys()));
    return {
      text: `| ${marked.map(({ text }) => text).join(" | ")} |`,
      bare: marked.map(({ bare }) => bare).join(" "),
      markers: marked.flatMap(({ markers }) => markers),
    };
  }

  #isProven({ bare, markers }: Marked): boolean {
    const plain = toPlain(bare);
    if (this.#secret.isTold(plain) || !/[\p{L}\p{N}]/u.test(plain)) return false;
    const cited = markers.map((marker) => this.#sources.get(marker) ?? "");
    return [...quotedIn(plain), ...addressesIn(bare)].every((given) =>
      cited.some((text) => isQuoted(given, text)),
    );
  }

  /** As it stands after what was told before. */
  #tell(unit: Told): string {
    for (const marker of unit.markers) this.#cited.add(marker);
    const before = this.#told;
    this.#told = unit;
    const goesOn = before?.line === unit.line;
    const lineBreak = before?.paragraph === unit.paragraph ? "\n" : "\n\n";
    const gap = before === null ? "" : goesOn ? " " : lineBreak;
    if (goesOn && (unit.item === null || unit.item.width > 0)) return gap + unit.text;
    return gap + unit.prefix + bulletOf(unit.item) + unit.text;
  }
}

/** Moved in as far as the items that it is in and that were told. */
function bulletOf(item: Item | null): string {
  if (item === null) return "";
  const columns = item.within.reduce((sum, { width }) => sum + width, 0);
  item.width = item.bullet.length + 1;
  return `${" ".repeat(columns)}${item.bullet} `;
}

/** Emphasis that goes on in the next sentence, which may not be told. */
function withoutLoneStars(text: string): string {
  return text.split("**").length % 2 === 0 ? text.replaceAll("**", "") : text;
}
