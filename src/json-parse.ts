import { visit } from "jsonc-parser";
import { LIMITS } from "./config.ts";

/** Value of a JSON text, or the byte offset and the reason of the first error. */
export type ParsedJson = { value: unknown } | { byteOffset: number; reason: string };

/**
 * Parses a JSON text (RFC 8259); bytes are decoded as UTF-8. The last of duplicate names in an
 * object wins. Nesting is limited to `LIMITS.jsonDepth`, so that code may recurse over values, a
 * text to `maxValues` values, and an object to `MAX_MEMBERS` members.
 */
export function parseJsonText(
  source: string | Uint8Array,
  maxValues: number = LIMITS.jsonBytes,
): ParsedJson {
  const text = typeof source === "string" ? source : new TextDecoder().decode(source);
  const invalidOffset = typeof source === "string" ? null : findInvalidUtf8(source, text);
  if (invalidOffset !== null) return { byteOffset: invalidOffset, reason: "it is not UTF-8" };
  const excess = findExcess(text, maxValues);
  if (excess !== null) {
    return { byteOffset: utf8Length(text.slice(0, excess.index)), reason: excess.reason };
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { byteOffset: utf8Length(text.slice(0, findError(text))), reason: "it is not JSON" };
  }
}

const [QUOTE, COMMA, BACKSLASH, OBJECT] = [0x22, 0x2c, 0x5c, 0x7b];
const isOpening = (code: number) => code === 0x5b || code === 0x7b;
const isClosing = (code: number) => code === 0x5d || code === 0x7d;

/** Members of an object: metadata has fewer. A larger one takes long to build. */
const MAX_MEMBERS = 16_384;

/**
 * Finds the bracket that exceeds the depth limit, or the bracket or comma of a value that exceeds
 * `maxValues`, or of a member of an object that exceeds `MAX_MEMBERS`. Skips strings.
 */
function findExcess(text: string, maxValues: number): { index: number; reason: string } | null {
  /** Commas of each open bracket; of lists they aren't limited. */
  const commas: number[] = [];
  let values = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isQuoted) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isQuoted = false;
      continue;
    }
    if (code === QUOTE) isQuoted = true;
    else if (isClosing(code)) commas.pop();
    else if (code === COMMA || isOpening(code)) {
      if (code !== COMMA && commas.push(code === OBJECT ? 0 : -Infinity) > LIMITS.jsonDepth) {
        return { index, reason: `it nests deeper than ${LIMITS.jsonDepth} levels` };
      }
      if (++values > maxValues) return { index, reason: `it has more than ${maxValues} values` };
      const open = commas.length - 1;
      if (code === COMMA && open >= 0 && ++commas[open]! >= MAX_MEMBERS) {
        return { index, reason: `an object has more than ${MAX_MEMBERS} members` };
      }
    }
  }
  return null;
}

/** Returns the index of the first syntax error. */
function findError(text: string): number {
  let first = text.length;
  try {
    visit(
      text,
      {
        onError: (_, offset) => {
          first = offset;
          throw new Error("the first error is enough");
        },
      },
      { disallowComments: true },
    );
  } catch {
    // `first` is set.
  }
  return first;
}

/**
 * Finds the offset of the first invalid UTF-8 byte: the text encodes it as another character,
 * U+FFFD.
 */
function findInvalidUtf8(bytes: Uint8Array, decoded: string): number | null {
  if (!decoded.includes("\u{fffd}")) return null;
  const bomLength = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const encoded = new TextEncoder().encode(decoded);
  let at = encoded.findIndex((byte, i) => byte !== bytes[bomLength + i]);
  if (at < 0) return null;
  while ((encoded[at]! & 0xc0) === 0x80) at--; // a byte inside of a character
  return bomLength + at;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
