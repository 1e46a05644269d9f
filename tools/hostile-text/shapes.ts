/** Tokens of the formats that are read, each closed: a run of them may be read in several ways. */
const CLOSED_TOKENS = [
  "<!-->",
  "<!---->",
  "<!-- -->",
  "<!a>",
  "<?a?>",
  "<![CDATA[]]>",
  "<a>",
  "</a>",
  "a:b",
  "a:b ",
  "[0:1]",
  "[1:23:45]",
  "<0:1>",
  "{1}{2}",
  "{\\b1}",
  "[1][2]",
  "1,2,",
  '"a",',
  'a="b" ',
  "9420 ",
  "&amp;",
];

/** Text that is repeated, or wrapped around repetitions, to make a parser do needless work. */
export const HOSTILE_SHAPES: Readonly<Record<string, (length: number) => string>> = {
  ...Object.fromEntries(
    [
      ..."<>&\"'`(){}[]-_*~#|!:;,./\\@0a x".split(""),
      "\n",
      "\r",
      "\t",
      "\u0301",
      "\ud800",
      "\u200b",
      "字",
      "ｘ",
      "“",
      "«",
      "…",
      "😀",
    ].map((character) => [JSON.stringify(character), repeat(character)]),
  ),
  words: repeat("x "),
  "different words": (length) => {
    const words = [];
    for (let at = 0, i = 0; at < length; i++)
      at += words[words.push(`w${i.toString(36)}`) - 1]!.length + 1;
    return words.join(" ").slice(0, length);
  },
  sentences: repeat("He said it. "),
  "open tags": repeat("<a "),
  "open comments": repeat("<!--"),
  "open links": repeat("[a]("),
  "open images": repeat("![a](b "),
  "nested links": nest("[", "a", "](b)"),
  "nested round brackets": nest("(", "", ")"),
  "nested square brackets": nest("[", "", "]"),
  "nested objects": nest('{"a":', "1", "}"),
  "nested lists": nest("[", "1", "]"),
  "open objects": repeat('{"a":'),
  "object starts": repeat('{"'),
  objects: repeat('{"a":1} '),
  "open quotations": repeat(' "a'),
  "inner apostrophes": repeat("'a b"),
  "curly quotations": repeat("„a“ »b "),
  "open code": repeat("` `` "),
  fences: repeat("```\n"),
  emphasis: repeat("*a _b **c "),
  "underscores in words": repeat("_a"),
  escapes: repeat("\\["),
  tables: repeat("|-"),
  "list items": repeat("- a\n"),
  definitions: repeat("[a]: b\n"),
  markers: repeat("[1]"),
  "open markers": repeat("[1, "),
  "marker ranges": repeat("(see [1-9] "),
  entities: repeat("&amp;&#38;&#x26;"),
  "open entities": repeat("&#1"),
  "dotted names": repeat("a."),
  "spaced dots": repeat("a . "),
  "spoken dots": repeat("a dot "),
  "spoken addresses": repeat("a at b dot "),
  "e-mail addresses": repeat("a@b.example "),
  "at signs": repeat("a@"),
  addresses: repeat("1.1."),
  "IPv6 addresses": repeat("a:"),
  schemes: repeat("http://"),
  "open schemes": repeat("a+"),
  "spelled words": repeat("a b-"),
  "number words": repeat("one hundred and "),
  "dictated digits": repeat("one, "),
  "grouped digits": repeat("1 2."),
  streets: repeat("1 a street "),
  "digits with letters": repeat("a1"),
  capitals: repeat("Aa Bb "),
  "what is": repeat("what is the "),
  "how many": repeat("how many "),
  "how long": repeat("how "),
  times: repeat("00:00:01.000 --> 00:00:02.000\n"),
  cues: repeat("00:00:01.000 --> 00:00:02.000\nx\n\n"),
  "SRT cues": repeat("1\n00:00:01,000 --> 00:00:02,000\nx\n\n"),
  "WebVTT cues": (length) =>
    `WEBVTT\n\n${repeat("00:01.000 --> 00:02.000\n<v a>x</v>\n\n")(length)}`.slice(0, length),
  "an open WebVTT cue": (length) =>
    `WEBVTT\n\n00:01.000 --> 00:02.000\n${repeat("<rt>a")(length)}`.slice(0, length),
  "an open SRT cue": (length) =>
    `1\n00:01,000 --> 00:02,000\n${repeat("<font ")(length)}`.slice(0, length),
  "an SSA cue": (length) =>
    `1\n00:01,000 --> 00:02,000\n${repeat("{\\an8")(length)}`.slice(0, length),
  "spaces and a letter": (length) => `${" ".repeat(length - 1)}x`,
  "a letter and spaces": (length) => `x${" ".repeat(length - 2)}x`,
  "line breaks in spaces": repeat(" \n"),
  "JSON strings": (length) => `["${"a".repeat(Math.max(0, length - 4))}"]`,
  "JSON objects": (length) => `[${"{},".repeat((length - 4) / 3)}{}]`,
  "JSON numbers": (length) => `[${"1,".repeat((length - 4) / 2)}1]`,
  "JSON cues": (length) => jsonList('{"start":1,"end":2,"text":"x"}', length),
  "JSON words": (length) => `{"words":${jsonList('{"word":"x","start":0,"end":0}', length - 12)}}`,
  "JSON words without cues": (length) => jsonList('{"start":1,"text":1}', length),
  pairs: repeat("a QUFB,"),
  parameters: repeat("a=b&"),
  "percent signs": repeat("%41"),
  "open percent signs": repeat("%"),
  "query excluding words": repeat("-a "),
  ...Object.fromEntries(
    CLOSED_TOKENS.map((token) => [
      `tokens and a letter: ${JSON.stringify(token)}`,
      runThenLetter(token),
    ]),
  ),
  ...Object.fromEntries(
    ["\n", "\r", "\u2028", " ", "\t", "|", "-", "#", ">"].map((unit) => [
      `between letters: ${JSON.stringify(unit)}`,
      (length: number) => `a${unit.repeat(Math.max(0, length - 2))}b`,
    ]),
  ),
  "stamps, then lines": (length) => {
    const stamped = "0:02 c\n".repeat(length / 20); // enough of them for a file of stamps
    return `${"[0:1]".repeat(length / 10)}a\n${"x\n".repeat(length / 20)}${stamped}`;
  },
  "columns, then lines": (length) =>
    `[Script Info]\n[Events]\nFormat: ${",".repeat(length / 2)}text\n${repeat("Dialogue:\n")(length / 2)}`,
  "counters, then times": halves("1\n\n", "00:01 --> 00:02\n"),
  "brackets, then quotation marks": halves("[(", "\"'"),
  "JSON cues without times": (length) => jsonList('{"text":"x"}', length),
  "different JSON cues of which one has times": (length) => {
    const cues = ['[{"start":1,"end":2,"text":"a"}'];
    for (let at = cues[0]!.length; at < length - 20;) {
      at += cues[cues.push(`{"text":"w${cues.length}"}`) - 1]!.length + 2;
    }
    return `${cues.join(",\n")}]`;
  },
  "attributes and a tag": (length) => `<p ${"a".repeat(Math.max(0, length - 6))} b>`,
  "combining marks": (length) => `a${"\u0301\u0323".repeat(length / 2)}`.slice(0, length),
  "decomposed letters": repeat("a\u0301"),
  "compatibility letters": repeat("ﷺ"),
};

/** How many times longer a text has to be than others until growth that isn't linear shows. */
export const LONGER_SHAPES: Readonly<Record<string, number>> = {
  "stamps, then lines": 16,
  "columns, then lines": 16,
  "different JSON cues of which one has times": 16,
};

/** `unit` many times, then a letter that ends the run. */
function runThenLetter(unit: string): (length: number) => string {
  return (length) => `${unit.repeat(Math.max(1, Math.floor((length - 1) / unit.length)))}x`;
}

/** Two units, each half of the text, with a line break between them. */
function halves(first: string, second: string): (length: number) => string {
  return (length) => `${repeat(first)(length / 2)}\n${repeat(second)(length / 2)}`.slice(0, length);
}

function repeat(text: string): (length: number) => string {
  return (length) => text.repeat(Math.ceil(length / text.length)).slice(0, length);
}

function nest(open: string, inner: string, close: string): (length: number) => string {
  return (length) => {
    const depth = Math.floor((length - inner.length) / (open.length + close.length));
    return open.repeat(depth) + inner + close.repeat(depth);
  };
}

function jsonList(item: string, length: number): string {
  return `[${Array(Math.max(1, Math.floor((length - 2) / (item.length + 1))))
    .fill(item)
    .join(",")}]`;
}
