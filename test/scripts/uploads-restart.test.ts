import { expect, it } from "vitest";
import { resumeUpload } from "../../bench/resumed-upload.ts";

it("a film that is sent over a bad network to a Worker that is restarted arrives whole", async () => {
  const options = { log: () => {}, signal: new AbortController().signal };
  const resumed = await resumeUpload({ megabytes: 32, cuts: 3, restarts: 1 }, options);
  expect(resumed).toMatchObject({ isIdentical: true, state: "ready" });
  expect(resumed.sent_mb).toBeLessThan(32 + 4 * 20); // nothing begins at zero again
}, 300_000);
