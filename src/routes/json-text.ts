import { parseTree, type ParseError } from "jsonc-parser";
import { LIMITS } from "../config.ts";

/** A JSON text's value, or where and why it has none. */
export type JsonText = { value: unknown } | { byte: number; why: string };

/**
 * Reads a JSON text (RFC 8259), as UTF-8 where it comes as bytes. Of a name that an object has twice the last
 * counts. What nests deeper than `LIMITS.jsonDepth` isn't read: all that walks a value may recurse.
 */
export function readJsonText(source: string | Uint8Array): JsonText {
  const text = typeof source === "string" ? source : new TextDecoder().decode(source);
  const badByte = typeof source === "string" ? null : firstBadByte(source, text);
  if (badByte !== null) return { byte: badByte, why: "it is not UTF-8" };
  const deep = tooDeepAt(text);
  if (deep !== null) {
    return {
      byte: bytesOf(text.slice(0, deep)),
      why: `it nests deeper than ${LIMITS.jsonDepth} levels`,
    };
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    const errors: ParseError[] = [];
    parseTree(text, errors, { disallowComments: true });
    return {
      byte: bytesOf(text.slice(0, errors[0]?.offset ?? text.length)),
      why: "it is not JSON",
    };
  }
}

/** The place of the bracket that opens a level too many; brackets in strings don't. */
function tooDeepAt(text: string): number | null {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isQuoted) {
      if (character === "\\") at++;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === "}" || character === "]") depth--;
    else if ((character === "{" || character === "[") && ++depth > LIMITS.jsonDepth) return at;
  }
  return null;
}

/** Where bytes stop being UTF-8: where decoding put a U+FFFD that they don't hold. */
function firstBadByte(bytes: Uint8Array, decoded: string): number | null {
  const mark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  for (let byte = mark, from = 0; ;) {
    const at = decoded.indexOf("\uFFFD", from);
    if (at === -1) return null;
    byte += bytesOf(decoded.slice(from, at));
    if (bytes[byte] !== 0xef || bytes[byte + 1] !== 0xbf || bytes[byte + 2] !== 0xbd) return byte;
    byte += 3;
    from = at + 1;
  }
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
