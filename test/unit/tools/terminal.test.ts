import type { Key } from "sightline";
import { expect, it } from "vitest";
import { describeKey } from "../../../scripts/key-list.ts";
import { formatRow, sanitizeLine, sanitizeText } from "../../../tools/terminal.ts";

const HOSTILE = "a\u001B]52;c;aGk=\u0007\u009B31m\u0085\u202Eb\nc";
const OBEYED = /[\p{Cc}\u202A-\u202E]/u;

it("a line keeps no character that a terminal obeys", () => {
  expect(sanitizeLine(HOSTILE)).not.toMatch(OBEYED);
  expect(formatRow([{ title: "", width: 80 }], [HOSTILE])).not.toMatch(OBEYED);
});

it("text keeps its line breaks and tabs, and nothing else that a terminal obeys", () => {
  expect(sanitizeText(`${HOSTILE}\td`)).toBe("a]52;c;aGk=31mb\nc\td");
});

it("a listed key has no character that a terminal obeys", () => {
  const names = "key_id name kid created_at expires_at last_used_at revoked_at".split(" ");
  const fields = Object.fromEntries(names.map((name) => [name, HOSTILE]));
  const key = { ...fields, scopes: [HOSTILE], is_current: false } as unknown as Key;
  expect(describeKey(key)).not.toMatch(OBEYED);
});
