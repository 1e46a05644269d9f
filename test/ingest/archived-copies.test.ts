import { beforeAll, describe, expect, it } from "vitest";
import {
  createTarget,
  exportLines,
  hostBytes,
  hostFiles,
  importLines,
} from "../support/archive-helpers.ts";
import { fixture, type Json, newClient } from "../support/client.ts";
import { withBoxes } from "../support/hostile-media.ts";
import { expectAllCounted, setLimits, storedBytes } from "../support/quota-accounts.ts";

describe("a working copy of an archive", () => {
  let archive: Json[];
  let copy: Uint8Array;
  let original: Uint8Array;

  beforeAll(async () => {
    const source = await newClient();
    await source.json("POST", "/index", { json: { index_name: "from" } });
    const form = { video_file: await fixture("mpeg4.mp4") };
    await source.waitForAsset("from", await source.json("POST", "/index/from/video", { form }));
    archive = await Promise.all((await exportLines(source, "?media=true")).map(hostFiles));
    const bytesOf = async (wanted: string) => {
      const { url } = archive[1].files.find(({ path }: Json) => path === wanted);
      return new Uint8Array(await (await fetch(url)).arrayBuffer());
    };
    [copy, original] = [await bytesOf("working-copy"), await bytesOf("source")];
  });

  /** Returns the line with other bytes as the copy, and without a source if asked. */
  const withCopy = async (bytes: Uint8Array, hasSource: boolean) => {
    const line = structuredClone(archive[1]);
    const url = await hostBytes(Uint8Array.from(bytes));
    line.files = line.files.filter(({ path }: Json) => hasSource || path !== "source");
    line.files.find(({ path }: Json) => path === "working-copy").url = url;
    line.record.technical.working_copy.bytes = bytes.length;
    return line;
  };
  const bytesOfFixture = async (name: string) =>
    new Uint8Array(await (await fixture(name)).arrayBuffer());
  const text = (written: string) => new TextEncoder().encode(written);

  const HOSTILE: [string, string, () => Promise<Uint8Array>][] = [
    ["text", "not_a_video", async () => text("root:x:0:0:root:/root:/bin/sh")],
    ["a web page", "not_a_video", async () => text("<html><script>alert(1)</script></html>")],
    ["an image", "not_a_video", () => bytesOfFixture("words.jpg")],
    ["another container", "not_a_video", () => bytesOfFixture("old.avi")],
    ["an MP4 without tracks", "unreadable_container", async () => copy.slice(0, 64)],
    ["a copy that is cut off", "unreadable_container", async () => copy.slice(0, copy.length / 2)],
    ["a video of another length", "download_refused", () => bytesOfFixture("clip.mp4")],
    ["a video of another codec", "download_refused", async () => original],
    ["an MP4 of a million boxes", "too_large", async () => withBoxes(copy, 1_000_000)],
  ];
  const cases = HOSTILE.flatMap((hostile) => [
    [...hostile, true] as const,
    [...hostile, false] as const,
  ]);

  it.each(cases)(
    "that is %s is refused with %s, and nothing is stored or charged (case %#)",
    async (_, code, makeBytes, hasSource) => {
      const line = await withCopy(await makeBytes(), hasSource);
      const target = await createTarget();
      const { result } = await importLines(target, [line]);
      expect(result).toMatchObject({ imported: 0, failed: [{ code }] });
      expect((await target.json("GET", "/index/to")).assets).toEqual([]);
      expect(await storedBytes(target)).toBe(0);
      await expectAllCounted(target, "to");
    },
  );

  it("that is larger than its record says is refused", async () => {
    const line = await withCopy(copy, false);
    line.record.technical.working_copy.bytes -= 1;
    const target = await createTarget();
    const { result } = await importLines(target, [line]);
    expect(result).toMatchObject({ imported: 0, failed: [{ code: "download_refused" }] });
    expect(await storedBytes(target)).toBe(0);
  });

  it("is stored only if the account has room for it", async () => {
    const line = await withCopy(copy, false);
    const target = await createTarget();
    const lineBytes = Buffer.byteLength(JSON.stringify(line)) + 1;
    await setLimits(target, { stored_bytes: lineBytes + copy.length - 1 });
    const { result } = await importLines(target, [line]);
    expect(result).toMatchObject({ imported: 0, failed: [{ code: "account_full" }] });
    expect(await storedBytes(target)).toBe(0);
  });

  it("plays without its original, which then has no URL", async () => {
    const target = await createTarget();
    const { result } = await importLines(target, [await withCopy(copy, false)]);
    expect(result).toMatchObject({ imported: 1, failed: [] });
    const [imported] = (await target.json("GET", "/index/to")).assets;
    expect(imported).toMatchObject({ state: "ready", original_url: null, size_bytes: 0 });
    const played = await target.send("GET", new URL(imported.media_url).pathname);
    expect((await played.arrayBuffer()).byteLength).toBe(copy.length);
    await expectAllCounted(target, "to");
  });
});
