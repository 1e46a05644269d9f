import { describe, expect, it } from "vitest";
import { type SegmentId, trustedId } from "../../../src/ids.ts";
import {
  fieldEvidence,
  highlightMatches,
  matchFields,
  mergeEvidence,
  termCoverage,
} from "../../../src/search/evidence.ts";
import { collapseNearDuplicates, type NearDuplicateKey } from "../../../src/search/hits.ts";
import {
  contentWords,
  foldPlural,
  parseQuery,
  toFtsQuery,
  uniqueWords,
} from "../../../src/search/query.ts";
import { type Mode, toSearchScope } from "../../../src/search/request.ts";
import {
  encodeFtsText,
  FTS_COLUMNS,
  matchAll,
  matchAny,
  matchExpression,
} from "../../../src/store/index-database/fulltext.ts";
import { QueryTerms } from "../../../src/text/query-terms.ts";
import { PREFIXES } from "../../../src/text/stems.ts";
import { TEMPLATE } from "../../../src/types.ts";

describe("near-duplicates", () => {
  const candidate = (segmentId: string, keyframeHash: number[] | null, transcript = "") => {
    return {
      segment: { segmentId: trustedId<SegmentId>(segmentId), transcript, onScreenText: "" },
      keyframeHash,
    };
  };
  it.each<[string, NearDuplicateKey[], Record<string, string[]>]>([
    ["equal hashes", [candidate("a", [5, 9]), candidate("b", [5, 9])], { a: ["b"] }],
    ["hashes 2 bits apart", [candidate("a", [5, 9]), candidate("b", [4, 8])], { a: ["b"] }],
    ["hashes 3 bits apart", [candidate("a", [5, 9]), candidate("b", [2, 9])], { a: [], b: [] }],
    ["missing hashes", [candidate("a", null), candidate("b", null)], { a: [], b: [] }],
    [
      "different transcripts",
      [candidate("a", [5, 9], "one"), candidate("b", [5, 9])],
      { a: [], b: [] },
    ],
    ["equal words", [candidate("a", [5], "Yes!"), candidate("b", [5], "yes")], { a: ["b"] }],
    ["three equal hashes", ["a", "b", "c"].map((id) => candidate(id, [1])), { a: ["b", "c"] }],
  ])("are collapsed by hash and text: %s", (_, candidates, expected) => {
    const collapsed = collapseNearDuplicates(candidates, () => false);
    const duplicatesById = collapsed.map((unique) => [
      unique.candidate.segment.segmentId,
      unique.duplicates,
    ]);
    expect(Object.fromEntries(duplicatesById)).toEqual(expected);
  });

  it("aren't collapsed if they are exempt", () => {
    const both = [candidate("a", [5]), candidate("b", [5])];
    expect(collapseNearDuplicates(both, () => true).map(({ candidate }) => candidate)).toEqual(
      both,
    );
  });
});

function ftsQuery(text: string) {
  const parsed = parseQuery(text);
  return toFtsQuery(parsed, new QueryTerms(parsed.words, parsed.plainText));
}

describe("query words", () => {
  it.each([
    ["The dog's café, 2024!", ["the", "dog", "s", "cafe", "2024"]],
    ["ÜBER über", ["uber"]],
    ["東京 タワー", ["東京", "タワー"]],
    ["红色汽车, 猫が กินข้าว", ["红色", "汽车", "猫", "が", "กิน", "ข้าว"]],
    ["«»—!?", []],
  ])("of %j are %j", (text, words) => {
    expect(uniqueWords(text)).toEqual(words);
  });

  it("leave out stop words, unless there are no others", () => {
    expect(contentWords("where is the red cup")).toEqual(["red", "cup"]);
    expect(contentWords("to be or not to be")).toEqual(["to", "be", "or", "not"]);
  });

  it.each(['"', "a AND", "NOT", "a* OR (b", "caption:x", "NEAR(a b)", "-", "^a", "'; DROP TABLE"])(
    "never become FTS5 syntax: %s",
    (text) => {
      const query = ftsQuery(text);
      const { phrases, excluded } = query;
      for (const expression of [matchExpression(query), matchAll(phrases), matchAny(excluded)]) {
        expect(expression ?? "").toMatch(/^[()]*(\(?"[\p{L}\p{N} ]+"\)?( OR | AND )?)*$/u);
      }
    },
  );

  it.each([
    ["dogs", "dog"],
    ["dog", "dog"],
    ["buses", "bus"],
    ["glass", "glass"],
    ["boxes", "box"],
    ["bus", "bus"],
    ["people", "people"],
  ])("fold %s to %s", (word, folded) => {
    expect(foldPlural(word)).toBe(folded);
  });
});

const [GERMAN, ...OTHERS] = PREFIXES;
/** Forms in languages other than English and German. */
/** "red cup" as one German word, with the letters that may be between. */
const COMPOUNDS = ["", "s", "n", "en", "es"].map((link) => ` OR "ɖred${link}cup"`).join("");
const OTHER_FORM = new RegExp(` OR "[${OTHERS.join("")}][^"]*"`, "gu");
const CUP = `"cup" OR "${GERMAN}cup"`;

describe("a query", () => {
  it.each<[string, object]>([
    ["red cup", { plainText: "red cup", words: ["red", "cup"], phrases: [], excluded: [] }],
    ['the "red cup" falls', { plainText: "the red cup falls", phrases: [["red", "cup"]] }],
    ["“red cup”", { plainText: "red cup", phrases: [["red", "cup"]] }],
    ["dog -cat", { plainText: "dog", words: ["dog"], excluded: [["cat"]] }],
    ['dog -"black cat"', { plainText: "dog", excluded: [["black", "cat"]] }],
    ["well-known place", { plainText: "well-known place", excluded: [] }],
    ["a - b", { plainText: "a - b", excluded: [] }],
    ["-15 degrees", { plainText: "-15 degrees", words: ["-15", "degrees"], excluded: [] }],
    ["LH-1234 on 3rd of May", { words: ["lh-1234", "3rd of may"] }],
    ['5" pipe', { plainText: '5" pipe', phrases: [] }],
    ["-cat", { plainText: "-cat", words: ["cat"], excluded: [] }],
    ["東京タワー -雨", { plainText: "東京タワー", words: ["東京タワー"], excluded: [["雨"]] }],
  ])("%s is parsed into plain text, phrases and excluded terms", (text, parsed) => {
    expect(parseQuery(text)).toMatchObject(parsed);
  });

  it("with an example may have excluded terms only", () => {
    const excludedOnly = { plainText: "", words: [], phrases: [], excluded: [["cat"]] };
    expect(parseQuery("-cat", true)).toEqual(excludedOnly);
    expect(parseQuery("dog -cat", true)).toEqual(parseQuery("dog -cat"));
    expect(parseQuery("?", true)).toEqual({ ...excludedOnly, excluded: [] });
  });

  it.each([
    ["red cup", `"red" OR "cup" OR "redcup" OR "ɖred" OR "ɖcup"${COMPOUNDS}`],
    ['"cup"', `((${CUP})) AND (${CUP} OR ${CUP})`],
    ["LH-1234", '"lh 1234" OR "ɖlh 1234"'],
    ["東京", '"东 京"'],
    ["กรุงเทพ", '"ก ร ง เ ท พ"'],
    ["Suica東京", '"suica" OR "东 京" OR "ɖsuica"'],
    ['"紅色汽車"', '("红 色 汽 车") AND ("红 色" OR "汽 车" OR "红 色 汽 车")'],
    ["!?", null],
  ])("%s becomes the FTS5 expression %s", (text, expression) => {
    const found = matchExpression(ftsQuery(text));
    expect(found && found.replaceAll(OTHER_FORM, "")).toBe(expression);
  });

  it("matches the normal form of a text", () => {
    expect(encodeFtsText("東京 tower", "en")).toBe("东 京 tower");
    expect(encodeFtsText("ＴＶ show, naïve!", "en")).toBe("tv show naive");
    expect(encodeFtsText("an e-mail", "en")).toBe("an e mail \u2063 email");
    expect(encodeFtsText("Die Häuser am Fluss", "de")).toBe("ɖdieɖ ɖhausɖɖ ɖamɖ ɖfluss");
  });
});

describe("search modes", () => {
  const evidenceModes: Mode[] = ["visual", "speech", "text"];
  it.each<[Mode[], string[], string[]]>([
    [[], ["video", "image", "audio"], ["caption", "speech", "text"]],
    [["image"], ["image"], ["caption", "speech", "text"]],
    [["video", "speech"], ["video"], ["speech"]],
    [["audio"], ["audio"], ["caption", "speech", "text"]],
    [evidenceModes, ["video", "image", "audio"], ["caption", "speech", "text"]],
  ])("%j search assets of %j by text vectors of %j", (modes, kinds, textKinds) => {
    const request = { modes, assetIds: [], conditions: [], readyBy: 1, useBoxes: false };
    expect(toSearchScope(request)).toMatchObject({ assets: { kinds }, textKinds });
  });
});

const emptyFields = {
  captionModel: null as string | null,
  speechBefore: "",
  speechAfter: "",
  caption: "",
  transcript: "",
  onScreenText: "",
  labels: [],
  boxes: [],
  language: null,
};

describe("excerpts", () => {
  const excerpt = (words: string[], text: string) =>
    highlightMatches(text, new QueryTerms(words).findMatches(text));
  const filler = "word ".repeat(100);

  it.each([
    [["dog"], "a <b> & dog", "a &lt;b&gt; &amp; <mark>dog</mark>"],
    [["dog"], "", ""],
    [["東京", "京都"], "東京都", "<mark>東京</mark>都"],
  ])("highlight %j in %j: %s", (words, text, html) => {
    expect(excerpt(words, text)).toBe(html);
  });

  it("of a long text show the part with the most distinct terms", () => {
    const html = excerpt(["dog", "cat"], `dog ${filler}a cat and a dog ${filler}`);
    expect(html).toMatch(/^…(word )+a <mark>cat<\/mark> and a <mark>dog<\/mark> (word )+word…$/);
    expect(html.length).toBeLessThan(300);
  });

  it.each([
    ["starts with", `dog ${filler}`, /^<mark>dog<\/mark> .*word…$/],
    ["ends with", `${filler}dog`, /^…word .*<mark>dog<\/mark>$/],
    ["has no spaces before", `${"水".repeat(300)}東京`, /^…水+<mark>東京<\/mark>$/],
  ])("are cut on the other side if a long text %s a match", (_, text, pattern) => {
    expect(excerpt(["dog", "東京"], text)).toMatch(pattern);
  });

  it("show a match that exceeds the maximum length", () => {
    const word = "x".repeat(300);
    expect(excerpt([word], `${word} ${word}`)).toBe(`<mark>${word}</mark>…`);
  });
});

describe("evidence", () => {
  const scope = { columns: FTS_COLUMNS, useBoxLabels: false };
  const terms = new QueryTerms(["dog", "sand", "sea", "kite"]);

  it("scores each matched field by its share of the query's terms", () => {
    const caption = "a dog on the sand";
    const transcript = "Look at the sea and the sand";
    const segment = { ...emptyFields, caption, transcript, labels: ["dogs"] };
    const matches = matchFields(segment, terms, scope);
    expect(termCoverage(matches, [1, 1, 2, 4])).toBe(0.5);
    expect(matches.map((match) => fieldEvidence(match, terms))).toEqual([
      { kind: "caption", score: 0.5, text: "a <mark>dog</mark> on the <mark>sand</mark>" },
      {
        kind: "speech",
        score: 0.5,
        text: "Look at the <mark>sea</mark> and the <mark>sand</mark>",
      },
      { kind: "visual", score: 0.25, text: "<mark>dogs</mark>" },
    ]);
  });

  it("is matched in the columns in scope only; the coverage without a match is 0", () => {
    const segment = { ...emptyFields, caption: "a dog", onScreenText: "No kites" };
    const onScreen = { columns: ["on_screen_text" as const], useBoxLabels: false };
    const matches = matchFields(segment, terms, onScreen);
    const weights = [1, 1, 1, 5];
    expect(termCoverage(matches, weights)).toBeCloseTo(0.625, 2);
    expect(termCoverage(matchFields(emptyFields, terms, scope), weights)).toBe(0);
  });

  it.each([
    ["hot dog", ["A hot dog and two cups.", "hot dog, cup"], true],
    ["hot dogs and cups", ["Two hot dogs, a bowl and many cups.", "hot dog, bowl, cup"], true],
    ["dog", ["A hot dog and two cups.", "hot dog, cup"], false],
    ["table", ["A dining table.", "dining table"], false],
    ["skis", ["Two people and three pairs of skis.", "person, skis"], true],
    ["words", ["A cat and words.", "cat"], true],
    ["quince", ["A quince on a windowsill. A vase.", "vase"], true],
    ["dog", ["Lunch in town. A hot dog and a cup.", "hot dog, cup"], false],
  ])("of %s is matched in whole labels of a detector", (query, [caption, labels], isFound) => {
    const segment = { ...emptyFields, captionModel: TEMPLATE, caption: caption! };
    const words = new QueryTerms(query.split(" "));
    const found = matchFields({ ...segment, labels: labels!.split(", ") }, words, scope);
    expect(found.some(({ kind }) => kind === "caption")).toBe(isFound);
    const box = (label: string) => ({ label, x: 0, y: 0, width: 1, height: 1, score: 1 });
    const boxes = labels!.split(", ").map(box);
    const onlyBoxes = { columns: [], useBoxLabels: true };
    const inBoxes = matchFields({ ...emptyFields, boxes }, words, onlyBoxes);
    expect(inBoxes.length > 0).toBe(isFound && !["words", "quince"].includes(query));
  });

  it.each([
    ["dog sand", "sand", 2],
    ["dog", "", 0],
    ["sea", "", 0],
    ["sand", "sand", 1],
  ])("of a cut sentence is matched beside own words: %s", (query, own, count) => {
    const speech = { speechBefore: "A dog on the", transcript: "sand. The", speechAfter: "sea." };
    const words = new QueryTerms(query.split(" "));
    const [match] = matchFields({ ...emptyFields, ...speech }, words, scope);
    expect(match?.matches ?? []).toHaveLength(count);
    const exact = match?.matches.filter(({ isExact }) => isExact) ?? [];
    expect(exact.map(({ start, end }) => match!.text.slice(start, end)).join()).toBe(own);
  });

  it.each([
    ["Königsberg", "Einwohner von Konigsberg", true],
    ["schön", "Es ist schön hier", true],
    ["Bär", "Die Bär und Bar", true],
    ["avô", "A minha avó", false],
  ])("with marks is found in recognised text that may lack them: %s", (query, text, isFound) => {
    const words = new QueryTerms([query], query);
    const language = query === "avô" ? "pt" : "de";
    const segment = { ...emptyFields, onScreenText: text, language };
    expect(matchFields(segment, words, scope).length > 0).toBe(isFound);
    const spoken = { ...emptyFields, transcript: text, language };
    expect(matchFields(spoken, words, scope).length > 0).toBe(isFound && text.includes(query));
  });

  it("of a label is found as prose where a model or a person wrote the caption", () => {
    const segment = { ...emptyFields, caption: "A hot dog and two cups." };
    expect(matchFields(segment, terms, scope)).toHaveLength(1);
  });

  it("is merged by kind and sorted by score, without scores of 0", () => {
    const merged = mergeEvidence([
      { kind: "speech", score: 0.3 },
      { kind: "caption", score: 0.5 },
      { kind: "speech", score: 0.2, text: "<mark>x</mark>" },
    ]);
    expect(merged).toEqual([
      { kind: "caption", score: 0.5 },
      { kind: "speech", score: 0.3, text: "<mark>x</mark>" },
    ]);
    const none = { kind: "visual", score: 0 } as const;
    expect(mergeEvidence([none, ...merged])).toEqual(merged);
  });
});
