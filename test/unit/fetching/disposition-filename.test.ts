import { expect, it } from "vitest";
import { dispositionFilename } from "../../../src/fetching/download.ts";

it.each<[string | null, string | null]>([
  [null, null],
  ["", null],
  ["inline", null],
  ["attachment; filename=", null],
  ['attachment; filename=""', null],
  ["attachment; filename=clip.mp4", "clip.mp4"],
  ["attachment; filename=my clip.mp4 ; size=3", "my clip.mp4"],
  ['ATTACHMENT ; FileName = "a;b=c.mp4"', "a;b=c.mp4"],
  ['attachment; name="x"; filename="clip.mp4"', "clip.mp4"],
  [String.raw`attachment; filename="a \"b\" \\ c.mp4"`, " c.mp4"],
  [String.raw`attachment; filename="6\" nails.mp4"`, '6" nails.mp4'],
  ['attachment; filename="100%25.mp4"', "100%25.mp4"],
  ['filename="clip.mp4"', "clip.mp4"],
  ['attachment; filename="../../etc/clip.mp4"', "clip.mp4"],
  ['attachment; filename="folder/"', null],
  ['attachment; filename="clip', null],
  ["attachment; filename*=UTF-8''%e2%82%ac%20rates.mp4", "€ rates.mp4"],
  [`attachment; filename="EURO.mp4"; filename*=utf-8'en'%e2%82%ac.mp4`, "€.mp4"],
  [`attachment; filename*=utf-8''%e2%82%ac.mp4; filename="EURO.mp4"`, "€.mp4"],
  ["attachment; filename*=iso-8859-1'en'%A3.mp4", null],
  [`attachment; filename*="UTF-8''na%C3%AFve.mp4"`, "naïve.mp4"],
  [`attachment; filename=a.mp4; filename*=UTF-8''%E4.mp4`, "a.mp4"],
  [`attachment; filename=a.mp4; filename*=UTF-8''%zz.mp4`, "a.mp4"],
  [`attachment; filename=a.mp4; filename*=no-such-charset''b.mp4`, "a.mp4"],
  [`attachment; filename=a.mp4; filename*=b.mp4`, "a.mp4"],
  [`attachment; filename*=UTF-8''a%2Fb.mp4`, "b.mp4"],
  [`attachment; filename=a.mp4; filename*=UTF-8''forêt.mp4`, "a.mp4"],
  ['attachment; filename="forêt.mp4"', "forêt.mp4"],
  ['attachment; filename="森.mp4"', "森.mp4"],
  [`attachment; filename="${'\\"'.repeat(20_000)}`, null],
])("the Content-Disposition %j names the file %j", (header, name) => {
  expect(dispositionFilename(header)).toBe(name);
});
