import { expect, it } from "vitest";
import { resumeUpload } from "../../bench/resumed-upload.ts";

it("an upload with disconnects and a restart of the Worker arrives complete", async () => {
  const options = { log: () => {}, signal: new AbortController().signal };
  const resumed = await resumeUpload({ megabytes: 32, cuts: 3, restarts: 1 }, options);
  expect(resumed).toMatchObject({ isIdentical: true, state: "ready" });
  expect(resumed.sent_mb).toBeLessThan(32 + 4 * 20); // no upload restarts from zero
});
