import { expect, it } from "vitest";
import { readUploadMetadata } from "../../../src/http/tus.ts";

const pair = (key: string, value: string) => `${key} ${Buffer.from(value).toString("base64")}`;

it.each([
  ["a file's name", [pair("filename", "a.mp4")], "a.mp4"],
  ["the name that Uppy sends", [pair("name", "a.mp4"), pair("type", "video/mp4")], "a.mp4"],
  ["the file's name before another", [pair("name", "b"), pair("filename", "a.mp4")], "a.mp4"],
  ["a name in a folder", [pair("filename", "films/1/a.mp4")], "a.mp4"],
  ["a name of Windows", [pair("filename", "C:\\fakepath\\a.mp4")], "a.mp4"],
  ["no name", [pair("type", "video/mp4")], null],
])("the title of a resumable upload is %s", (_, pairs, title) => {
  expect(readUploadMetadata(pairs.join(","), []).title).toBe(title);
});
