import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { selectMedia } from "../../../client/src/cli/media-files.ts";
import { findMedia } from "../../../tools/media-files.ts";

/** The beginning of an MP4 file. */
const MP4 = Buffer.from("000000186674797069736f6d0000020069736f6d69736f32", "hex");
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "odd-files-"));
  await writeFile(join(folder, "clip.MP4"), MP4);
  await writeFile(join(folder, "clip.SRT"), "1\n00:00:00,500 --> 00:00:02,500\nHello.\n");
  const odd = Buffer.concat([
    Buffer.from(`${folder}/caf`),
    Buffer.from([0xe9]),
    Buffer.from(".mp4"),
  ]);
  await writeFile(odd, MP4);
});

afterAll(() => rm(folder, { recursive: true }));

it("the command line adds the rest of a folder with a name that isn't UTF-8", async () => {
  const { files, skipped } = await selectMedia([folder]);
  expect(files).toMatchObject([
    {
      name: expect.stringMatching(/^odd-files-\w+\/clip\.MP4$/),
      transcript: join(folder, "clip.SRT"),
    },
  ]);
  expect(skipped).toHaveLength(1);
});

it("the demo adds the rest of a folder with a name that isn't UTF-8", async () => {
  const { media, skipped } = await findMedia([folder]);
  expect(media).toMatchObject([{ transcript: join(folder, "clip.SRT") }]);
  expect(skipped).toMatchObject([{ contents: "unreadable" }]);
});
