import { describe, expect, it } from "vitest";
import { parseTranscript } from "../../../../src/ingest/transcript/parse.ts";

const parse = (text: string) => parseTranscript(new TextEncoder().encode(text));
const momentsOf = (text: string) => parse(text).cues.map((cue) => [cue.start, cue.text]);
const timesOf = (text: string) => parse(text).cues.map(({ start, end }) => [start, end]);

const FERRY = [
  [0.5, "The ferry\nleaves."],
  [3, "Gulls follow."],
];
const SCC_HEAD = "Scenarist_SCC V1.0\n\n";

describe("a transcript with times is parsed from", () => {
  it.each<[string, string]>([
    [
      "YouTube's SBV",
      "0:00:00.500,0:00:02.500\nThe ferry\nleaves.\n\n0:00:03.000,0:00:05.000\nGulls follow.\n",
    ],
    [
      "SubViewer",
      "[INFORMATION]\n[TITLE]x\n[END INFORMATION]\n[SUBTITLE]\n00:00:00.50,00:00:02.50\nThe ferry[br]leaves.\n\n" +
        "00:00:03.00,00:00:05.00\nGulls follow.\n",
    ],
    ["MPL2", "[5][25]The ferry|/leaves.\n[30][58]Gulls follow.\n"],
    [
      "MicroDVD with its frame rate",
      "{1}{1}24\n{12}{60}{y:i}The ferry|leaves.\n{72}{144}Gulls follow.\n",
    ],
    [
      "MicroDVD without one, at 25 a second",
      "{12.5}\n{13}{63}x\n".replace(/^.*\n.*\n/, "") + "{75}{150}Gulls follow.\n",
    ],
    ["LRC", "[ti:Ferry]\n[00:00.50]The ferry|leaves.\n[00:03.00]Gulls follow.\n"],
    [
      "LRC with words' times and an offset",
      "[offset:+500]\n[00:01.00]<00:01.00>The <00:01.20>ferry|leaves.\n[00:03.50]Gulls follow.\n",
    ],
    [
      "Whisper's console",
      "[00:00:00.500 --> 00:00:02.500]  The ferry<br>leaves.\n[00:00:03.000 --> 00:00:05.800]  Gulls follow.\n",
    ],
    [
      "ASS",
      "[Script Info]\nTitle: x\n[V4+ Styles]\nFormat: Name, Text\n[Events]\n" +
        "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n" +
        "Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,not said\n" +
        "Dialogue: 0,0:00:00.50,0:00:02.50,Default,,0,0,0,,{\\an8\\k20}The ferry\\Nleaves.\n" +
        "Dialogue: 1,0:00:00.50,0:00:02.50,Default,,0,0,0,,The ferry\\Nleaves.\n" +
        "Dialogue: 0,0:00:03.00,0:00:05.00,Default,,0,0,0,,{\\p1}m 0 0 l 1 1{\\p0}Gulls\\hfollow.\n",
    ],
    [
      "TTML",
      '<?xml version="1.0"?><!-- x --><tt:tt xmlns:tt="http://www.w3.org/ns/ttml" ttp:frameRate="25" ttp:tickRate="10">' +
        "<head><metadata><ttm:title>not said</ttm:title></metadata></head><body><div begin='0.25s'>" +
        '<p begin="250ms" end="00:00:02:05">The <span>ferry</span><br/>\n   leaves.</p>\n' +
        '<p><span begin="27.5t" dur="50f">Gulls follow.</span></p></div></body></tt:tt>',
    ],
    [
      "whisper.cpp's JSON",
      '{"result":{"language":"en"},"transcription":[{"offsets":{"from":500,"to":2500},"text":" The ferry\\nleaves."},' +
        '{"offsets":{"from":3000,"to":5800},"text":" Gulls follow."}]}',
    ],
    [
      "JSON of Transformers",
      '{"text":"…","chunks":[{"timestamp":[0.5,2.5],"text":" The ferry\\nleaves."},{"timestamp":[3,null],"text":" Gulls follow."}]}',
    ],
    [
      "YouTube's JSON",
      '{"events":[{"tStartMs":500,"dDurationMs":2000,"segs":[{"utf8":"The ferry"},{"utf8":"\\nleaves."}]},{"tStartMs":3000,"segs":[{"utf8":"Gulls follow."}]}]}',
    ],
    [
      "Whisper's TSV",
      "start\tend\ttext\n500\t2500\tThe ferry|leaves.\n3000\t5800\tGulls follow.\n".replace(
        "|",
        "<br>",
      ),
    ],
  ])("%s", (name, text) => {
    const expected = name.startsWith("MicroDVD without") ? FERRY.slice(1) : FERRY;
    const moments = momentsOf(text).map(([start, own]) => [
      start,
      String(own).replace("<br>", "\n"),
    ]);
    expect(moments).toEqual(expected);
  });

  it("TMPlayer, whole seconds with lines of a cue", () => {
    expect(momentsOf("00:00:01:The ferry|leaves.\n00:00:03:Gulls.\n")).toEqual([
      [1, "The ferry\nleaves."],
      [3, "Gulls."],
    ]);
    expect(momentsOf("00:00:01,1=The ferry\n00:00:01,2=leaves.\n00:00:03,1=\n")).toEqual([
      [1, "The ferry"],
      [1, "leaves."],
    ]);
  });

  it("Audacity's labels and CSV of whisper.cpp", () => {
    expect(timesOf("0.500000\t2.500000\ta\n3.000000\t5.8\tb\n")).toEqual([
      [0.5, 2.5],
      [3, 5.8],
    ]);
    expect(momentsOf('start,end,text\n500,2500,"The ""ferry"""\n')).toEqual([[0.5, 'The "ferry"']]);
  });

  it("SCC, with pop-on captions at their end of caption and roll-up captions line by line", () => {
    const popOn =
      "00:00:00:15\t94ae 94ae 9420 9420 9470 9470 54e8 e520 e6e5 f2f2 f980 942c 942c 942f 942f\n\n";
    const [cue] = parse(`${SCC_HEAD}${popOn}00:00:02:15\t942c 942c\n`).cues;
    expect(cue).toMatchObject({ end: 2.503, text: "The ferry" });
    expect(cue!.start).toBeCloseTo(0.93, 1);
    const rollUp =
      "00:00:01:00\t9425 9425 94ad 94ad 9470 9470 4162\n\n00:00:03:00\t9425 9425 94ad 94ad 9470 9470 4364\n";
    expect(momentsOf(SCC_HEAD + rollUp).map(([, text]) => text)).toEqual(["Ab", "Cd"]);
  });

  it("notes whose lines begin with times, but not plain text that names some", () => {
    expect(momentsOf("[00:00:01] Ann: Hello\n[00:00:03] Bob: Bye\n")).toEqual([
      [1, "Ann: Hello"],
      [3, "Bob: Bye"],
    ]);
    expect(momentsOf("0:01\nHello\n1:00:05\nBye\n")).toEqual([
      [1, "Hello"],
      [3605, "Bye"],
    ]);
    const plain = parse(
      "The ferry left at 10:30.\nIt was late: 10:45 already.\n10:50 came. Fine.\nYes.\nNo.\n",
    );
    expect(plain.cues.every(({ start }) => Number.isNaN(start))).toBe(true);
  });
});

const THREE =
  "1\n00:00:00,500 --> 00:00:02,500\nOne.\n\n2\n00:00:03,000 --> 00:00:05,800\nTwo.\n\n3\n00:00:06,000 --> 00:00:09,000\nThree.\n";

describe("SRT whose times are written otherwise is the same:", () => {
  it.each<[string, string]>([
    ["colons before milliseconds", THREE.replaceAll(",", ":")],
    ["points", THREE.replaceAll(",", ".")],
    ["en dashes", THREE.replaceAll("-->", "–>")],
    ["em dashes", THREE.replaceAll("-->", "—>")],
    ["dashes alone", THREE.replaceAll("-->", "–")],
    ["arrows", THREE.replaceAll("-->", "→")],
    ["escaped arrows", THREE.replaceAll("-->", "--&gt;")],
    ["blanks in times", THREE.replaceAll("00:00:0", "00: 00: 0").replaceAll(",", " ,")],
    ["no hours", THREE.replaceAll("00:00:0", "00:0")],
    ["no zeros", THREE.replaceAll("00:00:0", "0:0:").replaceAll("00\n", "\n")],
    [
      "marks of direction",
      THREE.replaceAll("00:00:0", "\u200e00:00:0").replaceAll("> \u200e", "> "),
    ],
    ["no counters", THREE.replaceAll(/^\d\n/gm, "")],
    ["no blank lines", THREE.replaceAll("\n\n", "\n")],
    ["CR", THREE.replaceAll("\n", "\r")],
  ])("%s", (_, text) => {
    expect(parse(text)).toMatchObject({ cues: parse(THREE).cues, warnings: [] });
  });
});

describe("one bad line hides no cue, and is a warning with its number:", () => {
  const BAD = "00:00:03,000 --> 00:00:05,800";
  it.each<[string, string, string]>([
    ["a short arrow", THREE.replace(BAD, "00:00:03,000 -> 00:00:05,800"), "Line 6 "],
    ["letters in a time", THREE.replace(BAD, "00:00:O3,000 --> 00:00:05,800"), "Line 6 "],
    ["a missing start", THREE.replace(BAD, "--> 00:00:05,800"), "Line 6 "],
    ["a missing line", THREE.replace(`${BAD}\n`, ""), "Line 5 "],
    ["an empty line", THREE.replace(BAD, ""), "Line 5 "],
  ])("%s", (_, text, line) => {
    const { cues, warnings } = parse(text);
    expect(cues.map((cue) => cue.text)).toEqual(["One.", "Two.", "Three."]);
    expect(cues[1]!.start).toBeGreaterThanOrEqual(2.5);
    expect(cues[1]!.start).toBeLessThanOrEqual(3);
    expect(warnings).toEqual([
      { code: "transcript_malformed", message: expect.stringContaining(line) },
    ]);
  });

  it("in other formats", () => {
    const line = (text: string) =>
      parse(text).warnings.map(({ message }) => /Line \d+/.exec(message)?.[0]);
    expect(line("{0}{25}a\n{x}{50}b\n{75}{90}c\n")).toEqual(["Line 2"]);
    expect(line("start\tend\ttext\n0\t1\ta\nb\n2\t3\tc\n")).toEqual(["Line 3"]);
    expect(line("[00:01.00]a\n[00:x2.00]b\n[00:03.00]c\n")).toEqual(["Line 2"]);
    expect(line("0:00:00.500,0:00:02.500\na\n\n0:00:0x.000,0:00:04.000\nb\n")).toEqual(["Line 4"]);
    expect(line("Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,a\nDialogue: b\n")).toEqual([
      "Line 2",
    ]);
    expect(line('<tt><body>\n<p begin="1s">a</p>\n<p begin="x">b</p></body></tt>')).toEqual([
      "Line 3",
    ]);
  });

  it("also after blank lines at the beginning", () => {
    const { warnings } = parse(`\n\n${THREE.replace("3,000 -->", "3,000 ->")}`);
    expect(warnings[0]!.message).toContain("Line 8 ");
  });
});

describe("the text of a cue in SRT", () => {
  const textOf = (text: string) =>
    parse(`1\n00:00:01,000 --> 00:00:02,000\n${text}\n`).cues[0]?.text;
  it.each([
    [
      "line breaks and hard spaces of SSA",
      "The ferry\\Nleaves at\\hdawn.",
      "The ferry\nleaves at dawn.",
    ],
    [
      "styles of SSA",
      "{\\blur0.4\\c&HDDDDDD&}Gulls{\\r} follow {\\k20}it {\\q2}out.",
      "Gulls follow it out.",
    ],
    ["a position", "{\\an8}top{\\i1}x{\\i0}", "topx"],
    ["a drawing", "a{\\p1}m 0 0 l 100 0{\\p0}b", "ab"],
    ["tags", '<font color="red">red</font> <00:00:01.500><c>word</c>', "red word"],
    ["named and numeric entities", "T&eacute;l&#233;&#x21; AT&amp;T&nbsp;&hellip;", "Télé! AT&T …"],
  ])("has no markup: %s", (_, text, expected) => {
    expect(textOf(text)).toBe(expected);
  });
});

describe("rolling captions give each line once, at its first time:", () => {
  const cue = (from: number, to: number, text: string) =>
    `00:00:0${from}.000 --> 00:00:0${to}.000\n${text}\n\n`;
  it("two lines, as YouTube's", () => {
    const text =
      cue(1, 2, " \nthe<00:00:01.500><c> keeper</c>") +
      cue(2, 2, "the keeper\n ") +
      cue(2, 4, "the keeper\nbefore<00:00:03.000><c> dawn</c>") +
      cue(4, 4, "before dawn\n ") +
      cue(4, 6, "before dawn\nlights<c> up</c>");
    expect(momentsOf(`WEBVTT\n\n${text}`)).toEqual([
      [1, "the keeper"],
      [2, "before dawn"],
      [4, "lights up"],
    ]);
  });
  it("three lines", () => {
    const text = cue(1, 2, "a") + cue(2, 3, "a\nb") + cue(3, 4, "a\nb\nc") + cue(4, 5, "b\nc\nd");
    expect(momentsOf(`WEBVTT\n\n${text}`)).toEqual([
      [1, "a"],
      [2, "b"],
      [3, "c"],
      [4, "d"],
    ]);
  });
  it("word by word", () => {
    const text = cue(1, 2, "the") + cue(2, 3, "the keeper") + cue(3, 4, "the keeper wakes");
    expect(momentsOf(`WEBVTT\n\n${text}`)).toEqual([[1, "the keeper wakes"]]);
  });
  it("not those that say something twice", () => {
    const text = cue(1, 2, "Yes.") + cue(2, 3, "Yes.") + cue(3, 4, "No.") + cue(4, 5, "Yes.");
    expect(momentsOf(`WEBVTT\n\n${text}`)).toHaveLength(4);
  });
});
