import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/config.ts";
import {
  createTarget,
  exportLines,
  hostFiles,
  listLineKeys,
  toBody,
} from "../support/archive-helpers.ts";
import { fixture, type Json, newClient } from "../support/client.ts";

let archive: Json[];

beforeAll(async () => {
  const source = await newClient();
  await source.json("POST", "/index", { json: { index_name: "from" } });
  const form = { video_file: await fixture("clip.mp4") };
  const video = await source.json("POST", "/index/from/video", { form });
  await source.waitForAsset("from", video);
  archive = await Promise.all((await exportLines(source, "?media=true")).map(hostFiles));
});

describe("an archive that doesn't match its schema is refused, and nothing is stored", () => {
  const changed = (change: (line: Json) => void) => {
    const line = structuredClone(archive[1]);
    change(line);
    return toBody([archive[0], line]);
  };
  const REFUSED: [string, () => string, (string | number)[]][] = [
    ["no lines", () => "\n\n", ["body"]],
    [
      "half a line",
      () => toBody([archive[0]]) + JSON.stringify(archive[1]).slice(0, 99),
      ["body", 1],
    ],
    [
      "another format",
      () => changed(({ record }) => (record.format = 2)),
      ["body", 1, "record", "format"],
    ],
    [
      "a path that is a number",
      () => changed(({ files }) => (files[0].path = 1)),
      ["body", 1, "files", 0, "path"],
    ],
    [
      "a URL of a file",
      () => changed(({ files }) => (files[0].url = "file:///etc")),
      ["body", 1, "files", 0, "url"],
    ],
    [
      "a gap",
      () => changed(({ record }) => (record.segments[0].end_ms += 1)),
      ["body", 1, "record", "segments"],
    ],
    [
      "an id of another type",
      () => changed(({ record }) => (record.asset_type = "image")),
      ["body", 1, "record", "asset_id"],
    ],
    [
      "metadata that is a list",
      () => changed(({ record }) => (record.metadata = [])),
      ["body", 1, "record", "metadata"],
    ],
    [
      "a NUL",
      () => changed(({ record }) => (record.title = "a\0b")),
      ["body", 1, "record", "title"],
    ],
  ];

  it.each(REFUSED)("%s", async (_, body, loc) => {
    const target = await createTarget();
    const path = "/index/to/import-archive";
    const issues = await target.issues("POST", path, { body: body() });
    expect(issues.map(([at]) => at.slice(0, loc.length))).toContainEqual(loc);
    expect(await listLineKeys(target)).toEqual([]);
    expect((await target.json("GET", "/jobs")).jobs).toEqual([]);
  });

  it("a line over the limit", async () => {
    const target = await createTarget();
    const body = " ".repeat(LIMITS.archiveLineBytes + 1);
    const response = await target.send("POST", "/index/to/import-archive", { body });
    expect(response.status).toBe(413);
  });

  it("more lines than the limit", async () => {
    const target = await createTarget();
    const body = toBody(Array(LIMITS.archiveLineCount + 1).fill(archive.at(-1)));
    const response = await target.send("POST", "/index/to/import-archive", { body });
    expect(response.status).toBe(413);
    expect(await listLineKeys(target)).toEqual([]);
  });

  it("another account's index", async () => {
    const target = await createTarget();
    const call = { body: toBody(archive) };
    expect((await target.send("POST", "/index/from/import-archive", call)).status).toBe(404);
    expect((await target.send("GET", "/index/from/export")).status).toBe(404);
  });
});
