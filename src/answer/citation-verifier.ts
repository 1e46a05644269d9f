import { hasWord, tokenizeWords } from "../search/query.ts";
import {
  type AnswerBlock,
  AnswerParser,
  type NormalizedSentence,
  normalizeMarkers,
} from "./answer-parser.ts";
import { normalizeClaimText } from "./claim-details.ts";
import {
  CitedText,
  type ClaimContext,
  type ClaimEvidence,
  hasLexicalSupport,
  hasSupportedDetails,
  quotationsToVerify,
} from "./claim.ts";
import { toPlainText } from "./markdown.ts";

type NormalizedBlock = AnswerBlock & NormalizedSentence;

/** A longer sentence is dropped. */
const MAX_SENTENCE_CHARACTERS = 2000;
const SOURCE_LIST_TITLE = /^\P{L}*(?:citations|references|sources)\P{L}*$/iu;
const STARTS_WITH_MARKER = /^[^\p{L}\p{N}]*[[【]/u;
const LINK_DEFINITION = /^\[\^?\d{1,3}\]:/;

/**
 * Verifies a model's answer while it is streamed, and passes on only what the evidence supports.
 * `sources` is the evidence by marker, as the model got it; `prompt` is our own instructions;
 * `context` is what the caller asked for.
 *
 * - A sentence needs a citation of a source, in it or after it. Markers are normalised to `[1][2]`
 *   (see `normalizeMarkers`) and unknown ones removed. Each sentence of a paragraph or list item
 *   needs its own: a marker two sentences later supports nothing in this one.
 * - Headings and lead-ins ("There are two:") claim little by themselves: they are passed on with
 *   the first supported sentence below them, or not at all. Their details must stand in what that
 *   sentence cites.
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
    this.#pendingTitles = this.#pendingTitles.filter(({ level }) => level < block.level);
    const text = removeUnpairedBold(block.text);
    const sentence = { ...block, ...normalizeMarkers(text, this.#sources.keys()) };
    const plain = toPlainText(sentence.bare);
    if (this.#leakDetector.hasLeak(plain) || !hasWord(plain)) return "";
    const hasMarkers = sentence.markers.length > 0;
    if (block.kind === "title" && !hasMarkers) {
      this.#pendingTitles.push(sentence);
      this.#isInSourceList = SOURCE_LIST_TITLE.test(sentence.bare);
      return "";
    }
    const isSource = (this.#isInSourceList ? STARTS_WITH_MARKER : LINK_DEFINITION).test(text);
    if (!hasMarkers || isSource || !this.#isSupported(sentence)) return "";
    const titles = this.#pendingTitles
      .splice(0)
      .filter((title) => this.#isSupportedTitle(title, sentence.markers));
    return [...titles, sentence].map((next) => this.#format(next)).join("");
  }

  #isSupported(sentence: NormalizedBlock): boolean {
    const { bare, markers } = sentence;
    const plain = toPlainText(bare);
    const quotations = quotationsToVerify(plain);
    const isQuoted = (quotation: string) =>
      markers.some((marker) => {
        return this.#citedText([marker]).hasPhrase(normalizeClaimText(quotation));
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
    if (last?.line === block.line) return ` ${block.text}`;
    const lineBreak = last?.paragraph === block.paragraph ? "\n" : "\n\n";
    return (last === null ? "" : lineBreak) + block.prefix + block.text;
  }
}

/** Removes bold that continues in the next sentence, which may be dropped. */
function removeUnpairedBold(text: string): string {
  return text.split("**").length % 2 === 0 ? text.replaceAll("**", "") : text;
}

/** Number of consecutive words of the prompt that are a leak, not chance. */
const LEAK_WORDS = 8;

/** Finds eight consecutive words of a prompt in a text that is passed in chunks. */
export class PromptLeakDetector {
  readonly #promptShingles: Set<string>;
  #lastWords: string[] = [];

  constructor(prompt: string) {
    this.#promptShingles = new Set(toShingles(tokenizeWords(prompt)));
  }

  /** Tests whether a leak ends in this chunk; it may start in earlier ones. */
  hasLeak(chunk: string): boolean {
    const words = [...this.#lastWords, ...tokenizeWords(chunk)];
    this.#lastWords = words.slice(1 - LEAK_WORDS);
    return toShingles(words).some((shingle) => this.#promptShingles.has(shingle));
  }
}

/** Returns all sequences of `LEAK_WORDS` consecutive words. */
function toShingles(words: string[]): string[] {
  return words.slice(LEAK_WORDS - 1).map((_, i) => words.slice(i, i + LEAK_WORDS).join(" "));
}
