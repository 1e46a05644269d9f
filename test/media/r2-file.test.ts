import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { openFile } from "../../src/media/container/r2-file.ts";
import { wrapBinding } from "../../tools/wrap-binding.ts";

const MIB = 1024 ** 2;
const BYTES = Uint8Array.from({ length: 5 * MIB + 7 }, (_, i) => (i * 31 + (i >> 10)) & 255);

it.each<[title: string, start: number, end: number, readLengths: number[]]>([
  ["within a block reads the block", 10, 20, [MIB]],
  ["across two blocks reads both", MIB - 5, MIB + 5, [MIB, MIB]],
  ["longer than a block is one read of its own length", MIB - 5, 3 * MIB, [2 * MIB + 5]],
  ["beyond the end ends with the file", 5 * MIB, 6 * MIB, [7]],
  ["longer than a block and beyond the end ends with the file", 3 * MIB, 9 * MIB, [2 * MIB + 7]],
])("a range %s", async (title, start, end, readLengths) => {
  await env.MEDIA.put(title, BYTES);
  const lengths: (number | undefined)[] = [];
  const bucket = wrapBinding(env.MEDIA, (method, args, call) => {
    const { range } = (args[1] ?? {}) as { range?: { length: number } };
    if (method === "get") lengths.push(range?.length);
    return call();
  });
  const file = await openFile(bucket, title);
  expect(await file.read(start, end)).toEqual(BYTES.slice(start, end));
  expect(lengths).toEqual(readLengths);
  await env.MEDIA.delete(title);
});
