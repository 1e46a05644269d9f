import { describe, expect, it } from "vitest";
import { decodeHtml } from "../../../src/platforms/web.ts";

const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
const utf8 = (text: string) => new TextEncoder().encode(text);

describe("a page is decoded by", () => {
  it.each<[string, Uint8Array, string]>([
    ["the charset of its content type", latin1("Größe"), "text/html; charset=ISO-8859-1"],
    ["its meta element", latin1('<meta charset="iso-8859-1">Größe'), "text/html"],
    [
      "its meta element with a content type",
      latin1('<meta http-equiv="Content-Type" content="text/html; charset=latin1">Größe'),
      "",
    ],
    ["its byte-order mark", utf8("\uFEFFGröße"), "text/html; charset=iso-8859-1"],
    ["UTF-8 without any", utf8("Größe"), "text/html"],
    ["Windows-1252 if it isn't UTF-8", latin1("Größe"), "text/html"],
    [
      "its meta element if the charset is unknown",
      utf8('<meta charset="utf-8">Größe'),
      "x; charset=x-x",
    ],
  ])("%s", (_, bytes, contentType) => {
    expect(decodeHtml(bytes, contentType)).toContain("Größe");
  });
});
