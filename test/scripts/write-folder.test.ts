import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { writeFolderOnce } from "../../tools/write-folder.ts";

async function temporaryFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "sightline-folders-"));
  onTestFinished(() => rm(parent, { recursive: true }));
  return parent;
}

it("never takes a folder from a reader when two writers make it at once", async () => {
  const parent = await temporaryFolder();
  const folder = join(parent, "pack");
  const bothWrite = Promise.withResolvers<void>();
  let writers = 0;
  const write = async (name: string) => {
    await writeFolderOnce(folder, async (partial) => {
      writers += 1;
      if (writers === 2) bothWrite.resolve();
      await bothWrite.promise;
      await writeFile(join(partial, "author"), name);
    });
    return readFile(join(folder, "author"), "utf8");
  };
  const [one, other] = await Promise.all([write("one"), write("other")]);
  expect(one).toBe(other);
  expect(await readdir(parent)).toEqual(["pack"]);
});

it("leaves nothing behind when writing a folder fails", async () => {
  const parent = await temporaryFolder();
  const write = () => Promise.reject(new Error("disk full"));
  await expect(writeFolderOnce(join(parent, "pack"), write)).rejects.toThrow("disk full");
  expect(await readdir(parent)).toEqual([]);
});

it("keeps a folder that exists", async () => {
  const parent = await temporaryFolder();
  const write = () => Promise.reject(new Error("written again"));
  await expect(writeFolderOnce(parent, write)).resolves.toBeUndefined();
});
