import { expect, it } from "vitest";

/** The functions under test; the console is plain JavaScript without types. */
interface ArchiveParts {
  readLines: (stream: AsyncIterable<string>) => AsyncIterable<string>;
  archiveParts: (
    lines: AsyncIterable<string>,
    limits: { maxLines?: number; maxCharacters?: number },
  ) => AsyncIterable<string[]>;
  exportLines: (read: (after: string) => AsyncIterable<string>) => AsyncIterable<string>;
}

const file = new URL("../../../console/console/administration/archive-parts.js", import.meta.url)
  .href;
const { readLines, archiveParts, exportLines } = (await import(file)) as ArchiveParts;

async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function* streamOf(...parts: string[]): AsyncGenerator<string> {
  yield* parts;
}

it("Lines are read across the chunks of a stream, also the last one without an end", async () => {
  const lines = readLines(streamOf("fir", "st\nsec", "ond\n\nth", "ird"));
  expect(await listOf(lines)).toEqual(["first", "second", "third"]);
});

it("An archive is sent in parts of so many lines", async () => {
  const parts = archiveParts(streamOf("a", "b", "c"), { maxLines: 2 });
  expect(await listOf(parts)).toEqual([["a", "b"], ["c"]]);
});

it("An archive is sent in parts of so many characters; a longer line goes alone", async () => {
  const parts = archiveParts(streamOf("aa", "bb", "cccccc", "d"), { maxCharacters: 4 });
  expect(await listOf(parts)).toEqual([["aa", "bb"], ["cccccc"], ["d"]]);
});

const index = JSON.stringify({ kind: "index", index_name: "holidays" });
const end = (assets: number) => JSON.stringify({ kind: "end", assets });
const asset = (id: string) => JSON.stringify({ kind: "asset", record: { asset_id: id } });

it("An export of several responses becomes one archive with one index and one end", async () => {
  const responses = new Map([
    ["", [index, asset("img_1"), asset("vid_2")]],
    ["vid_2", [index, asset("vid_3"), end(1)]],
  ]);
  const lines = exportLines((after) => streamOf(...responses.get(after)!));
  expect(await listOf(lines)).toEqual([
    index,
    asset("img_1"),
    asset("vid_2"),
    asset("vid_3"),
    end(3),
  ]);
});

it("An export that ends without an asset and without an end is refused", async () => {
  const lines = exportLines(() => streamOf(index));
  await expect(listOf(lines)).rejects.toThrow("cut off");
});
