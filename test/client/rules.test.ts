import { describe, expect, it } from "vitest";
import { Page, type PageResult } from "../../client/src/page.ts";
import { parseRetryAfter, retryDelay } from "../../client/src/retries.ts";
import { EventParser } from "../../client/src/server-sent-events.ts";
import { collect } from "./service.ts";

it.each<[retry: number, retryAfter: number | undefined, random: number, ms: number | null]>([
  [0, undefined, 1, 500],
  [0, undefined, 0, 0],
  [1, undefined, 1, 1000],
  [2, undefined, 0.5, 1000],
  [6, undefined, 1, 30_000],
  [2000, undefined, 1, 30_000],
  [0, 7, 0.5, 7000],
  [5, 0, 0.5, 0],
  [0, 60, 0.5, 60_000],
  [0, 61, 0.5, null],
])("retry %j with Retry-After %j and the random share %j waits %j ms", (...row) => {
  const [retry, retryAfter, random, ms] = row;
  expect(retryDelay(retry, retryAfter, random)).toBe(ms);
});

it.each<[header: string | null, seconds: number | undefined]>([
  [null, undefined],
  ["", undefined],
  ["5", 5],
  [" 5 ", 5],
  ["soon", undefined],
  ["Thu, 01 Jan 1970 00:01:30 GMT", 30],
  ["Thu, 01 Jan 1970 00:00:30 GMT", 0],
])("Retry-After %j is %j seconds at 00:01:00", (header, seconds) => {
  expect(parseRetryAfter(header, 60_000)).toBe(seconds);
});

describe("a list of pages", () => {
  const PAGES: Record<string, PageResult<number>> = {
    first: { items: [1, 2], total: 5, next_cursor: "b" },
    b: { items: [], total: 5, next_cursor: "c" },
    c: { items: [3, 4, 5], total: 5, next_cursor: null },
  };
  const openList = () => {
    const loaded: (string | undefined)[] = [];
    const list = new Page((cursor) => {
      loaded.push(cursor);
      return Promise.resolve(PAGES[cursor ?? "first"]!);
    });
    return { list, loaded };
  };

  it("loads nothing before it is used", () => {
    expect(openList().loaded).toEqual([]);
  });

  it("gives its first page to await, loaded once", async () => {
    const { list, loaded } = openList();
    expect(await list).toBe(PAGES["first"]);
    expect(await list).toBe(PAGES["first"]);
    expect(loaded).toEqual([undefined]);
  });

  it("gives the items of all pages to for await, by their cursors", async () => {
    const { list, loaded } = openList();
    expect(await collect(list)).toEqual([1, 2, 3, 4, 5]);
    expect(loaded).toEqual([undefined, "b", "c"]);
  });

  it("loads no page that the consumer doesn't ask for", async () => {
    const { list, loaded } = openList();
    for await (const item of list) if (item === 2) break;
    expect(loaded).toEqual([undefined]);
  });
});

it.each<[name: string, chunks: string[], events: [id: string, event: string, data: string][]]>([
  ["one event", ["id: 1\nevent: delta\ndata: a\n\n"], [["1", "delta", "a"]]],
  ["an event in pieces", ["id: 1\nda", "ta: a", "\n", "\n"], [["1", "message", "a"]]],
  ["two lines of data", ["data: a\ndata:b\n\n"], [["", "message", "a\nb"]]],
  ["comments and a retry", [": hello\n\nretry: 1000\n\ndata: a\n\n"], [["", "message", "a"]]],
  [
    "CRLF between chunks",
    ["data: a\r", "\n\r", "\ndata: b\r\n\r\n"],
    [
      ["", "message", "a"],
      ["", "message", "b"],
    ],
  ],
  ["an id that stays", ["id: 7\n\n", "data: a\n\n"], [["7", "message", "a"]]],
  ["an unfinished event", ["data: a\n"], []],
])("the parser of server-sent events reads %s", (_, chunks, events) => {
  const parser = new EventParser();
  const read = chunks.flatMap((chunk) => parser.push(chunk));
  expect(read.map(({ id, event, data }) => [id, event, data])).toEqual(events);
});

it("the parser of server-sent events drops an unfinished event and its id at a reset", () => {
  const parser = new EventParser("3");
  expect(parser.push("id: 4\ndata: a\n")).toEqual([]);
  parser.reset();
  expect(parser.lastEventId).toBe("3");
  expect(parser.push("data: b\n\n")).toEqual([{ id: "3", event: "message", data: "b" }]);
});
