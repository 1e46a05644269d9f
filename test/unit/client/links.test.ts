import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { selectMedia } from "../../../client/src/cli/media-files.ts";
import { linksOutOfFolder } from "../../../client/src/list-files.ts";
import { findMedia } from "../../../tools/media-files.ts";

/** The beginning of an MP4 file. */
const MP4 = Buffer.from("000000186674797069736f6d0000020069736f6d69736f32", "hex");
let base: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "links-"));
  const at = (path: string) => join(base, path);
  for (const folder of ["folder/sub/deep", "outside", "folder-beside"]) {
    await mkdir(at(folder), { recursive: true });
  }
  for (const film of ["folder/clip.mp4", "folder/sub/film.mp4", "outside/private.mp4"]) {
    await writeFile(at(film), MP4);
  }
  await writeFile(at("folder-beside/near.mp4"), MP4);
  await writeFile(at("outside/credentials"), "aws_secret_access_key = x");
  await writeFile(at("folder/sub/words.txt"), "00:00.000 --> 00:01.500\nWords.\n");
  await writeFile(at("folder/.hidden.mp4"), MP4);
  const links = {
    "folder/clip.txt": "../outside/credentials",
    "folder/clip.json": at("outside/credentials"),
    "folder/clip.srt": "chain.1",
    "folder/chain.1": "../outside/credentials",
    "folder/private.mp4": "../outside/private.mp4",
    "folder/near.mp4": "../folder-beside/near.mp4",
    "folder/sub/away": "../../outside",
    "folder/sub/deep/up": "../..",
    "folder/sub/self": "self",
    "folder/broken.mp4": "nowhere.mp4",
    "folder/again.mp4": "sub/film.mp4",
    "folder/shown.mp4": ".hidden.mp4",
    "folder/sub/film.txt": "words.txt",
    link: "folder",
    "film.mp4": "folder/sub/film.mp4",
    "film.srt": "/etc/hosts",
    "folder/out.csv": "../outside/written.csv",
    "folder/in.csv": "sub/words.txt",
    "folder/null.csv": "/dev/null",
  };
  for (const [path, target] of Object.entries(links)) await symlink(target, at(path));
});

afterAll(() => rm(base, { recursive: true }));

const OUTSIDE = [
  "broken.mp4",
  "chain.1",
  "clip.json",
  "clip.srt",
  "clip.txt",
  "near.mp4",
  "null.csv",
  "out.csv",
  "private.mp4",
  "sub/away",
  "sub/self",
];

describe.each(["folder", "link"])("a folder with links that is named as %s", (name) => {
  const inFolder = (path: string) => join(base, name, path);

  it("is added by the command line without what its links lead out to", async () => {
    const { files, refused } = await selectMedia([inFolder("")]);
    expect(files.map(({ path, transcript }) => [path, transcript])).toEqual([
      [inFolder("clip.mp4"), undefined],
      [inFolder("shown.mp4"), undefined],
      [inFolder("sub/film.mp4"), inFolder("sub/film.txt")],
    ]);
    expect(refused.map(({ path }) => path).sort()).toEqual(OUTSIDE.map(inFolder));
  });

  it("is added by the demo without what its links lead out to", async () => {
    const { media, skipped } = await findMedia([inFolder("")]);
    expect(media.map(({ path }) => path)).toEqual(
      ["clip.mp4", "shown.mp4", "sub/film.mp4"].map(inFolder),
    );
    const links = skipped.filter(({ contents }) => contents.startsWith("a "));
    expect(links.map(({ path }) => path).sort()).toEqual(OUTSIDE.map(inFolder));
  });
});

it("a video that is named itself may be a link, but not the transcript beside it", async () => {
  const { files, refused } = await selectMedia([join(base, "film.mp4")]);
  expect(files).toMatchObject([{ path: join(base, "film.mp4"), kind: "video" }]);
  expect(files[0]).not.toHaveProperty("transcript");
  const reason = "leads out of its folder";
  expect(refused).toEqual([{ path: join(base, "film.srt"), reason }]);
  const beside = await selectMedia([join(base, "folder/clip.mp4")]);
  expect(beside.files[0]).not.toHaveProperty("transcript");
  expect(beside.refused).toHaveLength(3);
});

it.each([
  ["out.csv", true],
  ["broken.mp4", true],
  ["in.csv", false],
  ["null.csv", false],
  ["new.csv", false],
  ["clip.mp4", false],
])("writing to %s leaves its folder: %s", async (name, isOutside) => {
  expect(await linksOutOfFolder(join(base, "folder", name))).toBe(isOutside);
});
