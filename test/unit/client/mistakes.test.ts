import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Sightline } from "../../../client/src/index.ts";
import { openFile } from "../../../client/src/open-file.ts";

const url = "http://127.0.0.1:1";

it.each(["", "127.0.0.1:8787", undefined as unknown as string])(
  "the URL %j is refused",
  (wrong) => {
    expect(() => new Sightline({ url: wrong, apiKey: "sl_1" })).toThrow(/with http:\/\/ or https:/);
  },
);

it("a wait for no id, as for a field that a record lacks, is refused and doesn't hang", async () => {
  const index = new Sightline({ url, apiKey: "sl_1" }).index("a");
  const { id } = { asset_id: "vid_1" } as unknown as { id: string };
  await expect(index.waitUntilReady(id)).rejects.toThrow(/such as added\.asset_id/);
});

it("a file that isn't there, or that is a folder, is named with its whole path", async () => {
  const missing = openFile("no-such-file.mp4");
  await expect(missing).rejects.toThrow(
    `There is no file at no-such-file.mp4 (${join(process.cwd(), "no-such-file.mp4")}).`,
  );
  await expect(openFile(tmpdir())).rejects.toThrow(`${tmpdir()} is a folder`);
});

it("a path in place of a file names what opens one", async () => {
  const { videos } = new Sightline({ url, apiKey: "sl_1" }).index("a");
  const path = "a.mp4" as unknown as Blob;
  await expect(videos.add({ video_file: path })).rejects.toThrow(/openFile\(path\)/);
});
