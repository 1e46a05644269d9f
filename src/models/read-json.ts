import { parse, printParseErrorCode, type ParseError } from "jsonc-parser";
import { UNSEGMENTED_SCRIPT } from "../unsegmented-scripts.ts";

const OBJECT_START = /\{\s*"/g;
/** Line breaks and tabs, which models write although JSON strings escape them. */
const CONTROL_CHARACTERS = /\p{Cc}+/gu;
/** Nesting that no reply needs. The parser recurses, and models may repeat a bracket endlessly. */
const DEEP_NESTING = /(?:[[{]\s*(?:"[^"]*"\s*:\s*)?){16}/;
/** A number at the end of a text, which may lack digits. */
const LAST_NUMBER = /[-+.\deE]+$/;
/** The last word of a text, which may lack letters. */
const LAST_WORD = new RegExp(`\\s*(?:(?!${UNSEGMENTED_SCRIPT})\\S)+$`, "u");

/**
 * Parses the JSON objects in a model's reply, each before the objects inside it. Skips other text,
 * such as prose and code fences. An object that is cut off has what comes before the cut, without
 * the word or number at the cut.
 */
export function* findObjects(reply: string): Generator {
  const text = reply.replaceAll(CONTROL_CHARACTERS, " ").split(DEEP_NESTING, 1)[0]!.trimEnd();
  for (const { index } of text.matchAll(OBJECT_START)) yield parseObject(text.slice(index));
}

/** Parses the object at the start of a text. */
function parseObject(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors);
  const cutString = errors.find(
    ({ error, offset, length }) =>
      printParseErrorCode(error) === "UnexpectedEndOfString" && offset + length === text.length,
  );
  if (!cutString) return LAST_NUMBER.test(text) ? parse(text.replace(LAST_NUMBER, "")) : value;
  const [before, string] = [text.slice(0, cutString.offset), text.slice(cutString.offset)];
  return parse(before + string.replace(LAST_WORD, ""));
}
