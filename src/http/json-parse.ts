import { parseTree, type ParseError } from "jsonc-parser";
import { LIMITS } from "../config.ts";

/** Value of a JSON text, or the byte offset and the reason of the first error. */
export type ParsedJson = { value: unknown } | { byteOffset: number; reason: string };

/**
 * Parses a JSON text (RFC 8259); bytes are decoded as UTF-8. The last of duplicate names in an
 * object wins. Nesting is limited to `LIMITS.jsonDepth`, so that code may recurse over values.
 */
export function parseJsonText(source: string | Uint8Array): ParsedJson {
  const text = typeof source === "string" ? source : new TextDecoder().decode(source);
  const invalidOffset = typeof source === "string" ? null : findInvalidUtf8(source, text);
  if (invalidOffset !== null) return { byteOffset: invalidOffset, reason: "it is not UTF-8" };
  const excessIndex = findExcessDepth(text);
  if (excessIndex !== null) {
    return {
      byteOffset: utf8Length(text.slice(0, excessIndex)),
      reason: `it nests deeper than ${LIMITS.jsonDepth} levels`,
    };
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    const errors: ParseError[] = [];
    parseTree(text, errors, { disallowComments: true });
    return {
      byteOffset: utf8Length(text.slice(0, errors[0]?.offset ?? text.length)),
      reason: "it is not JSON",
    };
  }
}

/** Finds the index of the first bracket that exceeds the depth limit. Skips brackets in strings. */
function findExcessDepth(text: string): number | null {
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

/** Finds the offset of the first invalid UTF-8 byte: a U+FFFD in the text that the bytes lack. */
function findInvalidUtf8(bytes: Uint8Array, decoded: string): number | null {
  const bomLength = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  for (let byte = bomLength, from = 0; ;) {
    const at = decoded.indexOf("\uFFFD", from);
    if (at === -1) return null;
    byte += utf8Length(decoded.slice(from, at));
    if (bytes[byte] !== 0xef || bytes[byte + 1] !== 0xbf || bytes[byte + 2] !== 0xbd) return byte;
    byte += 3;
    from = at + 1;
  }
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
