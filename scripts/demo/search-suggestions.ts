import type { Segment } from "sightline";
import { isEnglishFunctionWord } from "../../src/text/languages.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A search to suggest, and the assets in which its words were found. */
export interface SearchSuggestion {
  text: string;
  evidence: "speech" | "text" | "visual";
  assetIds: ReadonlySet<string>;
}

type Source = Pick<Segment, "asset_id" | "labels" | "on_screen_text" | "transcript">;

/** A label of more assets than this share says little. */
const MAX_LABEL_SHARE = 1 / 3;
/** Number of assets below which a label of a single asset is suggested, too. */
const FEW_ASSETS = 6;
const MIN_WORD_LENGTH = 4;
/** Words that are more frequent say little. Rank 0 is the most frequent word of English. */
const MIN_RANK = 1000;
/** Bound for the more frequent word of a phrase; the other one has `MIN_RANK`. */
const MIN_PHRASE_RANK = 300;
/** Rarer words are names, technical terms or misread. */
const MAX_RANK = 30_000;
/** Rank of a word of medium frequency: "horse" is more frequent, "glacier" is rarer. */
const MEDIUM_RANK = 5000;

/** Chooses searches for labels, on-screen words and phrases of speech, in turn, best first. */
export function suggestSearches(
  segments: readonly Source[],
  vocabulary: Vocabulary,
): SearchSuggestion[] {
  const lists = [
    suggestLabels(segments),
    suggestPhrases(segments, vocabulary),
    suggestWords(segments, vocabulary),
  ];
  const longest = Math.max(...lists.map(({ length }) => length));
  const inTurn = Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? []));
  const texts = new Set<string>();
  return inTurn.flat().filter(({ text }) => !texts.has(text) && texts.add(text));
}

/** Chooses labels of several assets, most frequent first; those of most assets come last. */
export function suggestLabels(segments: readonly Source[]): SearchSuggestion[] {
  const assetCount = new Set(segments.map(({ asset_id }) => asset_id)).size;
  const minAssets = assetCount < FEW_ASSETS ? 1 : 2;
  const isCommon = (assets: ReadonlySet<string>) => assets.size > MAX_LABEL_SHARE * assetCount;
  return [...findAssets(segments, ({ labels }) => labels)]
    .filter(([, assets]) => assets.size >= minAssets)
    .toSorted(([, a], [, b]) => Number(isCommon(a)) - Number(isCommon(b)) || b.size - a.size)
    .map(([text, assetIds]) => ({ text, evidence: "visual", assetIds }));
}

/** Chooses on-screen words that are nouns of the dictionary, or appear in several assets. */
export function suggestWords(
  segments: readonly Source[],
  vocabulary: Vocabulary,
): SearchSuggestion[] {
  const read = ({ on_screen_text: text }: Source) =>
    wordsOf(text.toLowerCase()).filter((word) => word.length >= MIN_WORD_LENGTH);
  const isUncommon = (word: string) => rankOf(word, vocabulary) >= MIN_RANK;
  const isMedium = (word: string) =>
    isNoun(word, vocabulary) && isUncommon(word) && rankOf(word, vocabulary) <= MAX_RANK;
  const words = [...findAssets(segments, read)]
    .filter(([word, { size }]) => isMedium(word) || (size >= 2 && isUncommon(word)))
    .map(([text, assetIds]) => ({ text, evidence: "text" as const, assetIds }));
  return spread(words, ({ text }) => rarity(text, vocabulary));
}

/** Chooses names and phrases of two words of transcripts: "pillow fight", "Ada Lovelace". */
export function suggestPhrases(
  segments: readonly Source[],
  vocabulary: Vocabulary,
): SearchSuggestion[] {
  const read = ({ transcript }: Source) => [
    ...namesIn(transcript),
    ...nounPhrasesIn(transcript, vocabulary),
  ];
  const phrases = [...findAssets(segments, read)].map(([text, assetIds]) => {
    return { text, evidence: "speech" as const, assetIds };
  });
  return spread(phrases, ({ text }) => {
    return /^\p{Lu}/u.test(text) ? 0 : rarity(text, vocabulary);
  });
}

/** Returns capitalised words that follow one another inside a sentence. */
function namesIn(text: string): string[] {
  const names = text.matchAll(/(?<=[\p{Ll},] )\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+){1,2}\b/gu);
  return [...names].map(([name]) => name);
}

/** Returns adjective and noun, or two nouns, that no other noun follows. */
function nounPhrasesIn(text: string, vocabulary: Vocabulary): string[] {
  const { lexicon } = vocabulary;
  const clauses = text.toLowerCase().split(/[^\p{L}\p{M}' -]+/u);
  return clauses.flatMap((clause) => {
    const words = clause.split(/\s+/).filter(Boolean);
    return words.flatMap((head, i) => {
      const first = words[i - 1] ?? "";
      const ranks = [first, head].map((word) => rankOf(word, vocabulary));
      const isPhrase =
        (lexicon.mainClass(first) === "adjective" || isNoun(first, vocabulary)) &&
        isNoun(head, vocabulary) &&
        !isNoun(words[i + 1] ?? "", vocabulary);
      const isMedium =
        Math.min(...ranks) >= MIN_PHRASE_RANK &&
        Math.max(...ranks) >= MIN_RANK &&
        Math.max(...ranks) <= MAX_RANK;
      return isPhrase && isMedium && !isEnglishFunctionWord(first) ? [`${first} ${head}`] : [];
    });
  });
}

function isNoun(word: string, { lexicon }: Vocabulary): boolean {
  return lexicon.mainClass(word) === "noun" && !word.endsWith("ing");
}

/** Returns the rank of a word or its singular, whichever is more frequent. */
function rankOf(word: string, { rank }: Vocabulary): number {
  return Math.min(rank(word), rank(word.replace(/s$/, "")));
}

/** Returns how far the rarest word of a text is from medium frequency. */
function rarity(text: string, vocabulary: Vocabulary): number {
  const rank = Math.max(...text.split(" ").map((word) => rankOf(word, vocabulary)));
  return Math.abs(Math.log(Math.min(rank, 10 * MAX_RANK) / MEDIUM_RANK));
}

function wordsOf(text: string): string[] {
  return text.match(/\p{L}+/gu) ?? [];
}

/** Lists the assets of each term. */
function findAssets(
  segments: readonly Source[],
  read: (segment: Source) => string[],
): Map<string, Set<string>> {
  const assets = new Map<string, Set<string>>();
  for (const segment of segments) {
    for (const term of read(segment)) {
      assets.set(term, (assets.get(term) ?? new Set()).add(segment.asset_id));
    }
  }
  return assets;
}

/** Sorts by `cost`, and puts the first suggestion of each asset before all others. */
function spread(
  suggestions: SearchSuggestion[],
  cost: (suggestion: SearchSuggestion) => number,
): SearchSuggestion[] {
  const sorted = suggestions.toSorted((a, b) => cost(a) - cost(b) || (a.text < b.text ? -1 : 1));
  const used = new Set<string>();
  const isFirst = new Set(
    sorted.filter(({ assetIds }) => {
      const isNew = ![...assetIds].some((id) => used.has(id));
      for (const id of assetIds) used.add(id);
      return isNew;
    }),
  );
  return [...isFirst, ...sorted.filter((one) => !isFirst.has(one))];
}
