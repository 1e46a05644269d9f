import * as fc from "fast-check";
import type { Schema } from "../../tools/openapi.ts";
import { malformedText } from "./malformed.ts";

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

/** Generates multipart bodies for a form: valid ones, and ones with each `Malformation`. */
export function arbitraryForm(
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
      parts: fc.tuple(...parts, stray).chain((selected) => {
        const given = selected.filter((part) => part !== null);
        return fc.shuffledSubarray(given, { minLength: given.length });
      }),
      repetitions: mix(fc.constant(1), fc.constantFrom(0, 2, 40), 12),
      malformation: mix(fc.constant<Malformation>("none"), fc.constantFrom(...MALFORMATIONS), 4),
    })
    .map(({ parts: selected, repetitions, malformation }) => {
      const boundary = malformation === "boundary" ? "other" : "edge";
      const all = Array.from({ length: repetitions }, () => selected).flat();
      return {
        headers: {
          "content-type": `multipart/form-data; boundary=${boundary}`,
        },
        body: assemble(all, malformation),
      };
    });
}

type Malformation =
  | "none"
  | "boundary"
  | "no_end"
  | "truncated"
  | "part_headers"
  | "bare_newlines"
  | "preamble"
  | "empty";
const MALFORMATIONS: Malformation[] = [
  "boundary",
  "no_end",
  "truncated",
  "part_headers",
  "bare_newlines",
  "preamble",
  "empty",
];

const fileBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.constant(PNG),
  fc.uint8Array({ maxLength: 300 }),
  fc
    .constantFrom("", "hello", "1\n00:00:01,000 --> 00:00:02,000\nHello\n", "\0\0\0\u0018ftypmp42")
    .map(utf8),
  fc.uint8Array({ maxLength: 60 }).map((tail) => Uint8Array.of(...PNG.subarray(0, 40), ...tail)),
  malformedText.map(utf8),
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
    malformedText,
  )
  .map(([head, text]) => ({ head, content: utf8(text) }));

function mix<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

function assemble(parts: Part[], malformation: Malformation): Uint8Array {
  if (malformation === "empty") return new Uint8Array();
  const line = malformation === "bare_newlines" ? "\n" : "\r\n";
  const chunks: Uint8Array[] = malformation === "preamble" ? [utf8(`before${line}`)] : [];
  for (const { head, content } of parts) {
    const disposition =
      malformation === "part_headers"
        ? `Content-Disposition ${head}`
        : `Content-Disposition: form-data; ${head}`;
    chunks.push(utf8(`--edge${line}${disposition}${line}${line}`), content, utf8(line));
  }
  if (malformation !== "no_end") chunks.push(utf8(`--edge--${line}`));
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return malformation === "truncated" ? whole.subarray(0, Math.floor(whole.length / 2)) : whole;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
