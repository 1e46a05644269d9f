import { hasWord } from "../search/query.ts";
import { AnswerParser, type ListItem, type AnswerBlock } from "./answer-parser.ts";
import { normalizeClaimText } from "./claim-text.ts";
import {
  CitedText,
  type ClaimEvidence,
  isQuotedFrom,
  quotationsToVerify,
  PromptLeakDetector,
  type ClaimContext,
  hasLexicalSupport,
  hasSupportedDetails,
} from "./claim.ts";
import { toPlainText } from "./markdown.ts";
import { normalizeMarkers, type NormalizedSentence } from "./sentences.ts";

type NormalizedBlock = AnswerBlock & NormalizedSentence;

/** A longer sentence is dropped. */
const MAX_SENTENCE_CHARACTERS = 2000;
const SOURCE_LIST_TITLE = /^\P{L}*(?:citations|references|sources)\P{L}*$/iu;
const STARTS_WITH_MARKER = /^[^\p{L}\p{N}]*[[【]/u;

/**
 * Verifies a model's answer while it is streamed, and passes on only what the evidence supports.
 * `sources` is the evidence by marker, as the model got it; `prompt` is our own instructions;
 * `context` is what the caller asked for.
 *
 * - A sentence needs a citation of a source, in it or after it. Markers are normalised to `[1][2]`
 *   (see `normalizeMarkers`) and unknown ones removed. Each sentence of a paragraph or list item
 *   needs its own: a marker two sentences later supports nothing in this one.
 * - Headings, lead-ins ("There are two:") and table heads claim little by themselves: they are
 *   passed on with the first supported sentence below them, or not at all. Their details must
 *   stand in what that sentence cites.
 * - A list of sources at the end is dropped: the caller has the citations.
 * - Quotations of three words or more must be in a source that the sentence cites, and so must
 *   contact details, addresses, codes, numbers, names, credentials and instructions
 *   (`hasSupportedDetails`): inventing these does the most harm.
 * - A sentence shares words with its source, or describes its image (`hasLexicalSupport`).
 * - A sentence that ends eight consecutive words of `prompt` is dropped: instructions are no
 *   evidence. Translated or spelled out leaks aren't detected.
 *
 * The output doesn't depend on how the text is split into chunks. A sentence is passed on once the
 * next one has started. Line breaks and blank lines between passed sentences are kept; no output
 * ends in white space.
 */
export class CitationVerifier {
  readonly #sources: ReadonlyMap<number, ClaimEvidence>;
  readonly #context: ClaimContext;
  readonly #parser = new AnswerParser();
  readonly #leakDetector: PromptLeakDetector;
  readonly #cited = new Set<number>();
  /** Texts of the sources that sentences cite, by their markers. */
  readonly #citedTexts = new Map<string, CitedText>();
  #pendingTitles: NormalizedBlock[] = [];
  #isInSourceList = false;
  #lastBlock: AnswerBlock | null = null;

  constructor(
    sources: ReadonlyMap<number, ClaimEvidence>,
    prompt: string,
    context: ClaimContext = { question: "", language: null },
  ) {
    this.#sources = sources;
    this.#context = context;
    this.#leakDetector = new PromptLeakDetector(prompt);
  }

  /**
   * Returns the text that a chunk verifies, with the space or line break before it. Empty if no
   * sentence is complete.
   */
  push(chunk: string): string {
    return this.#read(chunk, false);
  }

  /** Returns the rest of the text. */
  end(): string {
    return this.#read("", true);
  }

  /** Markers of the text so far, in order of first appearance. */
  get cited(): number[] {
    return [...this.#cited];
  }

  #read(chunk: string, isLast: boolean): string {
    return [...this.#parser.read(chunk, isLast)].map((block) => this.#verify(block)).join("");
  }

  #verify(block: AnswerBlock): string {
    if (block.text.length > MAX_SENTENCE_CHARACTERS) return "";
    if (block.kind === "border") {
      const head = this.#pendingTitles.at(-1);
      if (head?.kind === "head") head.text += `\n${block.text}`;
      return "";
    }
    this.#pendingTitles = this.#pendingTitles.filter(({ level }) => level < block.level);
    const sentence = this.#normalize(block);
    const plain = toPlainText(sentence.bare);
    if (this.#leakDetector.hasLeak(plain) || !hasWord(plain)) return "";
    const normalized = { ...block, ...sentence };
    const hasMarkers = sentence.markers.length > 0;
    if (block.kind === "head" || (block.kind === "title" && !hasMarkers)) {
      this.#pendingTitles.push(normalized);
      this.#isInSourceList = SOURCE_LIST_TITLE.test(sentence.bare);
      return "";
    }
    const isListedSource = this.#isInSourceList && STARTS_WITH_MARKER.test(block.text);
    if (!hasMarkers || isListedSource || !this.#isSupported(normalized)) return "";
    const titles = this.#pendingTitles
      .splice(0)
      .filter((title) => this.#isSupportedTitle(title, sentence.markers));
    const output = [...titles, normalized];
    return output.map((next) => this.#format(next)).join("");
  }

  #normalize({ kind, text }: AnswerBlock): NormalizedSentence {
    if (kind !== "row" && kind !== "head") {
      return normalizeMarkers(removeUnpairedBold(text), this.#sources.keys());
    }
    const cells = text.replaceAll(/^[>\s]*\||\|\s*$/g, "").split(/(?<!\\)\|/);
    const normalized = cells.map((cell) => normalizeMarkers(cell, this.#sources.keys()));
    return {
      text: `| ${normalized.map((one) => one.text).join(" | ")} |`,
      bare: normalized.map(({ bare }) => bare).join(" | "),
      markers: normalized.flatMap(({ markers }) => markers),
    };
  }

  #isSupported(sentence: NormalizedBlock): boolean {
    const { bare, markers } = sentence;
    const plain = toPlainText(bare);
    const quotations = quotationsToVerify(plain);
    const isQuoted = (quotation: string) =>
      markers.some((marker) => {
        return isQuotedFrom(normalizeClaimText(quotation), this.#citedText([marker]).text);
      });
    if (!quotations.every(isQuoted)) return false;
    const rest = quotations.reduce((text, quotation) => text.replace(quotation, " "), plain);
    const cited = this.#citedText(markers);
    if (!hasSupportedDetails(rest, bare, cited)) return false;
    return quotations.length > 0 || hasLexicalSupport(plain, cited, this.#context);
  }

  /** Tests whether the details of a title stand in what the sentence below it cites. */
  #isSupportedTitle({ bare }: NormalizedBlock, markers: readonly number[]): boolean {
    return hasSupportedDetails(toPlainText(bare), bare, this.#citedText(markers), true);
  }

  #citedText(markers: readonly number[]): CitedText {
    const key = markers.join(" ");
    const known = this.#citedTexts.get(key);
    if (known) return known;
    const sources = markers.flatMap((marker) => this.#sources.get(marker) ?? []);
    const text = new CitedText(sources);
    this.#citedTexts.set(key, text);
    return text;
  }

  /** Formats a block with the white space between it and the last one. */
  #format(block: NormalizedBlock): string {
    for (const marker of block.markers) this.#cited.add(marker);
    const last = this.#lastBlock;
    this.#lastBlock = block;
    const isSameLine = last?.line === block.line;
    const lineBreak = last?.paragraph === block.paragraph ? "\n" : "\n\n";
    const gap = last === null ? "" : isSameLine ? " " : lineBreak;
    if (isSameLine && (block.item === null || block.item.width > 0)) return gap + block.text;
    return gap + block.prefix + formatBullet(block.item) + block.text;
  }
}

/** Formats a bullet, indented by the items around it that are in the output. */
function formatBullet(item: ListItem | null): string {
  if (item === null) return "";
  const columns = item.ancestors.reduce((sum, { width }) => sum + width, 0);
  item.width = item.bullet.length + 1;
  return `${" ".repeat(columns)}${item.bullet} `;
}

/** Removes bold that continues in the next sentence, which may be dropped. */
function removeUnpairedBold(text: string): string {
  return text.split("**").length % 2 === 0 ? text.replaceAll("**", "") : text;
}
