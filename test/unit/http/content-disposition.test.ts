import { describe, expect, it } from "vitest";
import {
  contentDisposition,
  fileName,
  shortFileName,
  textFile,
  withExtension,
} from "../../../src/http/content-disposition.ts";

const NAME = "content-disposition";
const LINES = ["\r\n", "\n", "\r", "\0", "\u0085", "\u2028", "\u2029", "\t"];

describe("Content-Disposition", () => {
  it.each([
    ["clip.mp4", `inline; filename="clip.mp4"; filename*=UTF-8''clip.mp4`],
    ["Grüße 1.mp4", `inline; filename="Gr__e 1.mp4"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%201.mp4`],
    ["電影.mp4", `inline; filename="__.mp4"; filename*=UTF-8''%E9%9B%BB%E5%BD%B1.mp4`],
    [
      'a"; filename="b.exe',
      `inline; filename="a__ filename__b.exe"; filename*=UTF-8''a_%3B%20filename%3D_b.exe`,
    ],
    [
      "it's (100%)*.mp4",
      `inline; filename="it_s (100_)_.mp4"; filename*=UTF-8''it%27s%20%28100%25%29_.mp4`,
    ],
    ["../../etc/passwd", `inline; filename="_.._etc_passwd"; filename*=UTF-8''_.._etc_passwd`],
    ["C:\\a\\b.mp4", `inline; filename="C__a_b.mp4"; filename*=UTF-8''C__a_b.mp4`],
    ["a\u202e4pm.exe", `inline; filename="a_4pm.exe"; filename*=UTF-8''a_4pm.exe`],
    ["\ud83d", `inline; filename="_"; filename*=UTF-8''%EF%BF%BD`],
    ["..", `inline; filename="file"; filename*=UTF-8''file`],
    [" .hidden. ", `inline; filename="hidden"; filename*=UTF-8''hidden`],
    ["", `inline; filename="file"; filename*=UTF-8''file`],
  ])("of the file name %j is %s", (name, header) => {
    expect(contentDisposition("inline", name)).toBe(header);
  });

  it("is one line of ASCII for names with control characters and line breaks", () => {
    for (const line of LINES) {
      for (const header of [
        textFile("text/vtt", `a${line}Set-Cookie: b=1`, "vtt", "").headers.get(NAME)!,
        contentDisposition("inline", `a${line}Set-Cookie: b=1`),
      ]) {
        expect(header).toMatch(/^[\x20-\x7e]+$/);
        expect(() => new Headers({ [NAME]: header })).not.toThrow();
        const name = decodeURIComponent(header.split("UTF-8''")[1]!);
        expect(name).toBe(fileName(name));
        expect(name).not.toMatch(/\p{Cc}|\p{Zl}|\p{Zp}/u);
      }
    }
  });

  it.each([
    ["a.mp4", "video/mp4", "a.mp4"],
    ["a.M4V", "video/mp4", "a.M4V"],
    ["a.jpeg", "image/jpeg", "a.jpeg"],
    ["a.exe", "video/mp4", "a.exe.mp4"],
    ["a.html", "image/png", "a.html.png"],
    ["My holiday", "video/quicktime", "My holiday.mov"],
    ["a", "video/x-flv", "a.flv"],
    ["a.mkv", "video/matroska", "a.mkv"],
    ["a", undefined, "a.bin"],
  ])("of %j with type %s has the file name %s", (name, type, expected) => {
    expect(withExtension(name, type)).toBe(expected);
  });
});

describe("a short file name", () => {
  it.each([
    ["clip.mp4", 20, "clip.mp4"],
    ["a rather long name of a film.mp4", 20, "a%20rather%20lon.mp4"],
    ["twenty-characters.mp4", 20, "twenty-character.mp4"],
    ["電影電影.mp4", 24, "%E9%9B%BB%E5%BD%B1.mp4"],
    ["👍🏽👍🏽.jpg", 28, "%F0%9F%91%8D%F0%9F%8F%BD.jpg"],
    ["👍🏽👍🏽.jpg", 27, "file.jpg"],
    ["e\u0301e\u0301.jpg", 14, "e%CC%81.jpg"],
    ["a".repeat(50), 10, "a".repeat(10)],
    ["a.notanextension", 10, "a.notanext"],
    ["../x/y.mp4", 20, "_x_y.mp4"],
    ["", 10, "file"],
  ])("of %j in %i characters is %s", (name, maxCharacters, short) => {
    expect(shortFileName(name, maxCharacters)).toBe(short);
  });
});
