import { describe, expect, it } from "vitest";
import { CitationVerifier } from "../../../src/answer/citation-verifier.ts";
import type { ClaimEvidence } from "../../../src/answer/claim.ts";

/** Words of the sentences below, which isn't what is tested here. */
const WORDS = `A, B, C and D: a dog ran, dogs, a cat sat, a cow, 12, 5, wow, as shown, put the number of
the evidence, Mr, Sources. 狗跑了, 猫坐下了, कुत्ता दौड़ा, 𐐨 e\u0301. https a.example/b?c=d`;
const SOURCES = new Map(
  [
    `Ann says: we'll go home now, and never come back. The dog ran. Mr. Smith and Dr. J. Doe met on
     5. Mai in the U.S. Capitol. She paid 3.5 euros on Monday at 5 p.m. Eastern time, and asked and
     left No. 5. The man is 6'2" tall, in 2024. The big one is our dog.`,
    "BUDGET\nForty  EUROS for Café Zoë, see shop.example/a?b=1",
    "我们现在就要回家了",
  ].map((text, i): [number, ClaimEvidence] => {
    const speech = `${text} ${WORDS}`;
    const timeRange = { startMs: 40_000, endMs: 52_000 };
    return [
      i + 1,
      {
        title: "Film",
        saidBefore: "",
        speech,
        onScreenText: "",
        caption: "",
        hasImage: false,
        timeRange,
      },
    ];
  }),
);
const PROMPT = `You answer questions from numbered evidence only. Put the number of the evidence that
proves it behind every sentence. Be short.`;

function verify(...chunks: string[]): { text: string; cited: number[] } {
  const verifier = new CitationVerifier(SOURCES, PROMPT);
  const text = chunks.map((chunk) => verifier.push(chunk)).join("") + verifier.end();
  return { text, cited: verifier.cited };
}

describe("citation markers", () => {
  it.each([
    ["A dog ran [1].", "A dog ran. [1]"],
    ["A dog ran. [1]", "A dog ran. [1]"],
    ["A dog ran.[1]", "A dog ran. [1]"],
    ["A dog ran [1][2].", "A dog ran. [1][2]"],
    ["A dog ran [2, 1].", "A dog ran. [2][1]"],
    ["A dog ran [1], [2] and [3].", "A dog ran. [1][2][3]"],
    ["A dog ran [1-3].", "A dog ran. [1][2][3]"],
    ["A dog ran [1–999].", "A dog ran. [1][2][3]"],
    ["A dog ran【1】.", "A dog ran. [1]"],
    ["A dog ran【1:0†source】【2†L1-L4】.", "A dog ran. [1][2]"],
    ["A dog ran [^1].", "A dog ran. [1]"],
    [String.raw`A dog ran \[1\].`, "A dog ran. [1]"],
    ["A dog ran [[1]].", "A dog ran. [1]"],
    ["A dog ran [1](https://evil.example/?q=1).", "A dog ran. [1]"],
    ["A dog ran [1, 0:42–0:50].", "A dog ran. [1]"],
    ["A dog ran (source 1). A cat sat (see [2]).", "A dog ran. [1] A cat sat (see [2])."],
    ["A dog ran [Evidence 1]. A cat sat (sources 1 and 2).", "A dog ran. [1] A cat sat. [1][2]"],
    ["**A dog ran [1].** A cat sat. **[2]**", "**A dog ran.** [1] A cat sat. [2]"],
    ["A dog ran [1] and a cat sat [2].", "A dog ran [1] and a cat sat. [2]"],
    ["A dog [1] and a cat [1].", "A dog [1] and a cat."],
    [
      "As shown in [1]. According to [2], a cat sat.",
      "As shown in [1]. According to [2], a cat sat.",
    ],
    ["[1] A dog ran. [2] A cat sat.", "A dog ran. [1] A cat sat. [2]"],
    ["[1] shows a dog.", "[1] shows a dog."],
    ["A dog ran [9][1], [77].", "A dog ran. [1]"],
    ["A dog [9], and a cat [1].", "A dog, and a cat. [1]"],
    ["A dog ran in [2024] at 0:42 [1].", "A dog ran in [2024] at 0:42. [1]"],
    ["狗跑了。[1]猫坐下了[2]。鸟。", "狗跑了。 [1] 猫坐下了。 [2]"],
    ["Wow![1] कुत्ता दौड़ा। [2] Gone।", "Wow! [1] कुत्ता दौड़ा। [2]"],
  ])("in %j are normalised: %j", (answer, verified) => {
    expect(verify(answer).text).toBe(verified);
  });

  it("are listed by first appearance in the verified text", () => {
    const { cited } = verify("# A [3]\n\nNo [9]. B [2]. “Made up by me” [3]. C [1][2].");
    expect(cited).toEqual([3, 2, 1]);
  });
});

describe("a sentence of an answer", () => {
  it.each([
    ["without a marker", "A dog ran. A cat sat [1]. Bye.", "A cat sat. [1]"],
    ["with unknown markers only", "A dog ran [7].", ""],
    ["that consists of markers", "[1] [2]. ![a picture of a dog](/x.png) [1]", ""],
    [
      "that leaks the prompt",
      "I put the number of the evidence that proves it behind every word [1].",
      "",
    ],
    [
      "that ends a leak",
      "Put the number of the evidence. [1] That proves it. [1] A dog. [1]",
      "Put the number of the evidence. [1] A dog. [1]",
    ],
    [
      "that leaks the prompt between tags",
      "Put <b>the</b> number *of* the evidence that `proves` it [1].",
      "",
    ],
    [
      "with a URL that isn't in its source",
      "See https://evil.example/?q=dog [2]. See [it](https://evil.example) [2].",
      "",
    ],
  ])("%s is dropped", (_, answer, verified) => {
    expect(verify(answer).text).toBe(verified);
  });

  it.each([
    "Mr. Smith and Dr. J. Doe met on 5. Mai in the U.S. Capitol. [1]",
    "She paid 3.5 euros, e.g. Monday at 5 p.m. Eastern time. [1]",
    "“Who?” she asked… and left No. 5! [1]",
    "See shop.example/a?b=1 or https://www.shop.example/a?b=1. [2]",
    "There were 12 dogs. [1]",
    "The man is 6'2\" tall. [1]",
  ])("isn't split: %j", (answer) => {
    expect(verify(answer).text).toBe(answer);
  });
});

describe("a quotation in an answer", () => {
  it.each([
    "Ann says “We’ll go home now”. [1]",
    'Ann says, "WELL GO HOME… never come back!" [1]',
    "« we'll go home » dit-elle. [1]",
    "„We'll go home“, sagt sie am Abend. [1]",
    "Ann says ‘we’ll go home now’ to the dogs' owner. [1]",
    'It says "forty euros for cafe zoe". [2][1]',
    "She says 「我们现在就要回家」. [3]",
    "The “big one” is 'our dog'. [1]",
  ])("that is in its source is kept: %j", (answer) => {
    expect(verify(answer).text).toBe(answer);
  });

  it.each([
    "Ann says “we will never go home”. [1]",
    'Ann says "we\'ll go home now". [2]',
    "Ann says «never come back… we'll go home». [1]",
    "Ann says 'we will all go there'. [1]",
    'Ann says "we will all go there. [1]',
    "Ann says &quot;we will all go there&quot;. [1]",
    "She says 「我们永远不要回家了」. [3]",
    'Ann says "We agree. All of us go." [1]',
  ])("that isn't in its source is dropped with its sentence: %j", (answer) => {
    expect(verify(answer).text).toBe("");
  });
});

describe("the structure of an answer", () => {
  it.each<[string, string, string]>([
    [
      "headings without a supported sentence",
      "# A\n\nNo.\n\n# B\n\n## C\n\nYes [1].\n\n# D",
      "# B\n\n## C\n\nYes. [1]",
    ],
    ["a bold line as a heading", "**A**\n\nNo.\n\n**B**\nYes [1].", "**B**\nYes. [1]"],
    [
      "a lead-in and its list",
      "No. There are two:\n\n- A dog [1].\n- A cat.\n-\n* A cow [2]",
      "There are two:\n\n- A dog. [1]\n* A cow [2]",
    ],
    [
      "a lead-in without a supported item",
      "There are two:\n\n- A dog.\n- A cat.\n\nYes [1].",
      "Yes. [1]",
    ],
    ["several sentences of an item", "- No. **Yes** [1]. No.\n- No.", "- **Yes**. [1]"],
    [
      "items under a dropped one",
      "- A [1]\n- No\n    - B [2]\n\n1. C:\n   - D [1]\n   - E",
      "- A [1]\n- B [2]\n\n1. C:\n- D [1]",
    ],
    ["quoted lines", "> A dog [1].\n> No.\n\nYes [2].", "A dog. [1]\n\nYes. [2]"],
    ["wrapped lines", "A dog\nran home. [1]\nA cow [3]\nNo", "A dog ran home. [1]\nA cow [3]"],
    ["a fenced answer", "```markdown\nA dog [1].\n```", "A dog. [1]"],
    ["a list of sources", "A dog [1].\n\n**Sources:**\n[1] Film, 0:42\n[2] Film", "A dog. [1]"],
    ["link definitions", "A dog [1].\n\n[1]: https://evil.example\n[^2]: Film", "A dog. [1]"],
    ["bold over several sentences", "**A dog [1]. A cat.** A cow [2].", "A dog. [1] A cow. [2]"],
    ["CRLF", "A dog [1].\r\n\r\n- A cat [2].\r\n", "A dog. [1]\n\n- A cat. [2]"],
  ])("is kept where sentences are: %s", (_, answer, verified) => {
    expect(verify(answer).text).toBe(verified);
  });
});

/** Returns a seeded generator of numbers from 0 to 1 (Marsaglia, "Xorshift RNGs", 2003). */
function seededRandom(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Tokens of generated answers, separated by tildes. */
const TOKENS =
  `[1]~[2]~[9]~[1, 2]~【1:0†source】~[[1]]~\\[1\\]~(source 1)~(see [1])~[1](a?b)~[1]:~**[2]**~<sup>1</sup>~
~
~

~A~dog~ran~. ~.~! ~… ~。~:~,~; ~ and ~5. ~Mr. ~😀~𐐨~e\u0301~\r\n~- ~  - ~1. ~# ~> ~| ~|---|
~\`\`\`~\`~*~**~__~---
~“~”~"~'~’~«~»~(~)~[~]~<~\\~ ~https://a.example/b?c=d ~Sources:
`.split("~");

describe("a streamed answer", () => {
  it("is verified the same for any chunks", () => {
    let verifiedCount = 0;
    for (let seed = 1; seed <= 400; seed++) {
      const random = seededRandom(seed);
      const below = (max: number) => Math.floor(random() * max);
      const tokens = Array.from({ length: 4 + below(30) }, () => TOKENS[below(TOKENS.length)]);
      const answer = tokens.join("");
      const whole = verify(answer);
      const maxLength = 1 + below(12);
      const chunks: string[] = [];
      for (let at = 0; at < answer.length; at += chunks.at(-1)!.length) {
        chunks.push(answer.slice(at, at + 1 + below(maxLength)));
      }
      expect(verify(...chunks), answer).toEqual(whole);
      expect(verify(...answer.split("")), answer).toEqual(whole);
      const markers = [...whole.text.matchAll(/\[(\d{1,3})\]/g)].map(([, marker]) =>
        Number(marker),
      );
      expect([...new Set(markers)], answer).toEqual(whole.cited);
      expect(whole.text, answer).not.toMatch(/^\s|\s$|\n{3}/);
      if (whole.text) verifiedCount += 1;
    }
    expect(verifiedCount).toBeGreaterThan(200);
  });

  it("yields a sentence once the next one has started", () => {
    const verifier = new CitationVerifier(SOURCES, PROMPT);
    const verified = ["A dog ran", ". ", "[", "1", "] ", "A", " cat. [2", "]\n", "\n-", " No"].map(
      (chunk) => verifier.push(chunk),
    );
    expect(verified).toEqual(["", "", "", "", "", "A dog ran. [1]", "", "", " A cat. [2]", ""]);
    expect(verifier.end()).toBe("");
  });
});
