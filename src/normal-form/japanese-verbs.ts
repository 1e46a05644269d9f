/** Last letters of verbs in their plain form, and what other forms have instead. */
const ENDINGS: Record<string, string> = {
  う: "いっわえ",
  く: "きいかけ",
  ぐ: "ぎいがげ",
  す: "しさせ",
  つ: "ちったて",
  ぬ: "にんなね",
  ぶ: "びんばべ",
  む: "みんまめ",
  る: "りっられ",
  // Adjectives.
  い: "いくかけさ",
};
/** A kanji, other letters, and the last letter of a verb or an adjective. */
const VERB = /^(\p{Script=Han}+\p{Script=Hiragana}*)([うくぐすつぬぶむるい])$/u;

/**
 * Returns the beginnings that forms of a Japanese verb or adjective have: "食べる" gives "食べ",
 * "飲む" gives "飲み" and "飲ん". Empty for other words.
 */
export function verbStems(word: string): string[] {
  const [, stem = "", last = ""] = VERB.exec(word) ?? [];
  if (stem === "") return [];
  const isVowelStem = last === "る" && /[えけせてねへめれげぜでべいきしちにみりぎじび]$/.test(stem);
  // "見る" may be of either class.
  const endings = ENDINGS[last]! + (/る\p{Script=Han}$/u.test(last + stem) ? "たてまな" : "");
  const others = Array.from(endings, (letter) => stem + letter);
  return isVowelStem ? [stem] : others;
}
