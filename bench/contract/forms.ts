import * as fc from "fast-check";
import type { Schema } from "./document.ts";
import { hostileText } from "./hostile.ts";

interface Part {
  head: string;
  content: Uint8Array;
}

const PNG = Uint8Array.from(
  atob(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  ),
  (character) => character.charCodeAt(0),
);
const NAMES = ["a.jpg", "", "../../x.mp4", "ü🐕.mov", "x".repeat(400), "a%00b", 'q"uote', "a;b=c"];

/** Multipart bodies for a form: right ones, and ones that are broken in each way. */
export function formBody(
  form: Schema,
  valueFor: (name: string, schema: Schema) => fc.Arbitrary<string>,
) {
  const parts = Object.entries(form.properties ?? {}).map(([name, schema]) => {
    const file = fc.tuple(fc.constantFrom(...NAMES), fileBytes).map(([filename, content]) => ({
      head: `name="${name}"; filename="${filename}"`,
      content,
    }));
    const field = valueFor(name, schema).map((text) => ({
      head: `name="${name}"`,
      content: utf8(text),
    }));
    const part = schema.format === "binary" ? mix(file, field, 6) : mix(field, file, 8);
    return fc.option(part, { nil: null, freq: form.required?.includes(name) ? 8 : 1 });
  });
  const stray = fc.option(strayPart, { nil: null, freq: 1 });
  return fc
    .record({
      parts: fc.tuple(...parts, stray).chain((some) => {
        const given = some.filter((part) => part !== null);
        return fc.shuffledSubarray(given, { minLength: given.length });
      }),
      times: mix(fc.constant(1), fc.constantFrom(0, 2, 40), 12),
      breaks: mix(fc.constant<Break>("none"), fc.constantFrom(...BREAKS), 4),
    })
    .map(({ parts: some, times, breaks }) => {
      const all = Array.from({ length: times }, () => some).flat();
      return {
        headers: {
          "content-type": `multipart/form-data; boundary=${breaks === "boundary" ? "other" : "edge"}`,
        },
        body: assemble(all, breaks),
      };
    });
}

type Break = "none" | "boundary" | "end" | "cut" | "heads" | "newlines" | "preamble" | "empty";
const BREAKS: Break[] = ["boundary", "end", "cut", "heads", "newlines", "preamble", "empty"];

const fileBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.constant(PNG),
  fc.uint8Array({ maxLength: 300 }),
  fc
    .constantFrom("", "hello", "1\n00:00:01,000 --> 00:00:02,000\nHello\n", "\0\0\0\u0018ftypmp42")
    .map(utf8),
  fc.uint8Array({ maxLength: 60 }).map((tail) => Uint8Array.of(...PNG.subarray(0, 40), ...tail)),
  hostileText.map(utf8),
);

const strayPart: fc.Arbitrary<Part> = fc
  .tuple(
    fc.constantFrom(
      'name="x"',
      'name="__proto__"',
      'name=""',
      "",
      'name="a"; filename="b"',
      "x".repeat(3000),
    ),
    hostileText,
  )
  .map(([head, text]) => ({ head, content: utf8(text) }));

function mix<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, times: number): fc.Arbitrary<T> {
  return fc.oneof({ weight: times, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

function assemble(parts: Part[], breaks: Break): Uint8Array {
  if (breaks === "empty") return new Uint8Array();
  const line = breaks === "newlines" ? "\n" : "\r\n";
  const pieces: Uint8Array[] = breaks === "preamble" ? [utf8(`before${line}`)] : [];
  for (const { head, content } of parts) {
    const disposition =
      breaks === "heads"
        ? `Content-Disposition ${head}`
        : `Content-Disposition: form-data; ${head}`;
    pieces.push(utf8(`--edge${line}${disposition}${line}${line}`), content, utf8(line));
  }
  if (breaks !== "end") pieces.push(utf8(`--edge--${line}`));
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return breaks === "cut" ? whole.subarray(0, Math.floor(whole.length / 2)) : whole;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
