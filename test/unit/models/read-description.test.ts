import { describe, expect, it } from "vitest";
import { readDescription } from "../../../src/models/describe.ts";

const FACTS = {
  caption: "A dog runs on wet grass.",
  text: "KEEP OFF",
  labels: ["dog", "wet grass"],
  objects: [
    { label: "dog", score: 0.9, box_2d: [100, 200, 300, 400] },
    { label: "sign", score: 0.5, box_2d: [0, 0, 500, 1000] },
  ],
};
const DOG = { label: "dog", score: 0.9, x: 0.2, y: 0.1, width: 0.2, height: 0.2 };
const SIGN = { label: "sign", score: 0.5, x: 0, y: 0, width: 1, height: 0.5 };
const { objects: _, ...TEXTS } = FACTS;
const WHOLE = { ...TEXTS, boxes: [DOG, SIGN] };
const JSON_TEXT = JSON.stringify(FACTS);
const only = (caption: string) => ({ caption, text: "", labels: [], boxes: [] });

/** Reads a description and rounds its boxes. */
function read(reply: string) {
  const description = readDescription(reply);
  const round = (value: number) => Math.round(value * 1000) / 1000;
  return (
    description && {
      ...description,
      boxes: description.boxes.map(({ label, score, ...rect }) => {
        const { x, y, width, height } = rect;
        return {
          label,
          score,
          x: round(x),
          y: round(y),
          width: round(width),
          height: round(height),
        };
      }),
    }
  );
}

/** Cuts the reply after the first occurrence of a text. */
const cutAfter = (text: string) => JSON_TEXT.slice(0, JSON_TEXT.indexOf(text) + text.length);

describe("a description", () => {
  it.each([
    ["plain JSON", JSON_TEXT],
    ["indented JSON", JSON.stringify(FACTS, null, 2)],
    ["a code fence", `\`\`\`json\n${JSON_TEXT}\n\`\`\``],
    ["prose around it", `Sure {here}: {"note": 1}\n${JSON_TEXT}\nAnything {"else": 1}?`],
    ["an outer object", JSON.stringify({ description: FACTS })],
    ["a list around it", `[${JSON_TEXT}]`],
    ["trailing commas", JSON_TEXT.replace("}]}", "},],}")],
    ["spaces after it", `${JSON_TEXT}${" ".repeat(5000)}`],
  ])("is read whole from %s", (_, reply) => {
    expect(read(reply)).toEqual(WHOLE);
  });

  it.each([
    ["in the caption", cutAfter('"A dog runs o'), only("A dog runs")],
    ["after the caption", cutAfter("grass."), only("A dog runs on wet")],
    ["behind the caption", cutAfter('grass."'), only(FACTS.caption)],
    ["in a key", cutAfter('"KEEP OFF","lab'), { ...only(FACTS.caption), text: "KEEP OFF" }],
    ["in the text", cutAfter("KEEP O"), { ...only(FACTS.caption), text: "KEEP" }],
    ["in the only word of a label", cutAfter('["do'), { ...only(FACTS.caption), text: "KEEP OFF" }],
    [
      "in the last word of a label",
      cutAfter('"wet gr'),
      { ...TEXTS, labels: ["dog", "wet"], boxes: [] },
    ],
    ["in a box", cutAfter('"sign","score":0.5,"box_2d":[0,0'), { ...TEXTS, boxes: [DOG] }],
    ["in a box's last number", cutAfter("200,300,40"), { ...TEXTS, boxes: [] }],
    ["in a score", cutAfter('"sign","score":0.'), { ...TEXTS, boxes: [DOG] }],
    ["in a line of Chinese", '{"caption":"一只狗在草地', only("一只狗在草地")],
    ["in an escape", '{"caption":"Two caf\\u00', only("Two")],
    ["behind a backslash", '{"caption":"She said \\', only("She said")],
    ["inside a code fence", `\`\`\`json\n${cutAfter('grass."')}`, only(FACTS.caption)],
  ])("that is cut off %s has what comes before the cut", (_, reply, expected) => {
    expect(read(reply)).toEqual(expected);
  });

  it.each<[string, object, object]>([
    ["an empty caption", { caption: " " }, only("")],
    ["spaces around its texts", { caption: " a ", text: " b\n" }, { ...only("a"), text: "b" }],
    ["its text as lines", { caption: "a", text: ["b", "c"] }, { ...only("a"), text: "b\nc" }],
    ["no text", { caption: "a", text: null }, only("a")],
    [
      "invalid labels",
      { caption: "a", labels: ["b", 7, "", null, " b "] },
      { ...only("a"), labels: ["b"] },
    ],
    ["labels that are no list", { caption: "a", labels: "b, c" }, only("a")],
    ["objects that are no list", { caption: "a", objects: { label: "dog" } }, only("a")],
  ])("with %s is read", (_, facts, expected) => {
    expect(read(JSON.stringify(facts))).toEqual(expected);
  });

  it("keeps raw line breaks in a string as spaces", () => {
    expect(read('{"caption":"a","text":"KEEP\nOFF\tNOW"}')).toMatchObject({ text: "KEEP OFF NOW" });
  });

  it.each<[string, object, object[]]>([
    ["three numbers", { box_2d: [1, 2, 3] }, []],
    ["five numbers", { box_2d: [1, 2, 3, 4, 5] }, []],
    ["text for a number", { box_2d: [1, 2, "3", 4] }, []],
    ["no area", { box_2d: [100, 200, 100, 400] }, []],
    ["swapped corners", { box_2d: [300, 400, 100, 200] }, []],
    ["no label", { label: "" }, []],
    ["no score", { score: null }, []],
    ["a score above 1", { score: 95 }, [{ ...DOG, score: 1 }]],
    ["a score below 0", { score: -0.5 }, [{ ...DOG, score: 0 }]],
    [
      "corners outside of the image",
      { box_2d: [-50, 200, 2000, 400] },
      [{ ...DOG, y: 0, height: 1 }],
    ],
  ])("keeps its other boxes if one has %s", (_, change, expected) => {
    const objects = [{ ...FACTS.objects[0], ...change }, FACTS.objects[1]];
    expect(read(JSON.stringify({ ...FACTS, objects }))?.boxes).toEqual([...expected, SIGN]);
  });

  it.each([
    ["an empty reply", ""],
    ["a refusal", "I can't help with that."],
    ["an empty object", "{}"],
    ["a caption that is no string", '{"caption": 7}'],
    ["a cut before the caption", '{"cap'],
    ["a cut in the caption's first word", '{"caption":"Do'],
    ["the second half of a description", JSON_TEXT.slice(JSON_TEXT.length / 2)],
    ["unquoted keys", "{caption: 'a'}"],
    ["HTML", "<html>{</html>"],
  ])("can't be read from %s", (_, reply) => {
    expect(read(reply)).toBeNull();
  });

  it.each(["[", '{"a":', "[{", '"'])("is read if its end repeats without end: %j", (repeated) => {
    const reply = `{"caption":"a","labels":["b"],"objects":[${repeated.repeat(100_000)}`;
    expect(read(reply)).toMatchObject({ caption: "a", labels: ["b"] });
  });
});
