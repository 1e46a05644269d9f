import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type CommandLineService,
  startCommandLineService,
  UGLY_NAME,
} from "./command-line-service.ts";

let service: CommandLineService;

beforeAll(async () => {
  service = await startCommandLineService();
  await service.run(["login", "--key", service.key]);
  const story = ["story.mp4", "story.srt"].map((name) => join(service.media, name));
  await service.run(["add", ...story, "--create"]);
});

afterAll(() => service.stop());

describe("a command", () => {
  it("search of several indices names the index of each hit, and refuses what needs one", async () => {
    const { stdout } = await service.run(["search", "glacier", "--index", "*", "--top-k", "1"]);
    expect(stdout).toMatch(/^#  score  index  title/);
    expect(stdout).toMatch(/1 {3}0\.\d\d {2}trip {3}story\.mp4/);
    const image = join(service.media, "below", UGLY_NAME);
    const refused = await service.run(["search", "--image", image, "--index", "trip, other"]);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain("--image can't be combined with several indices.");
    const unknown = await service.run(["search", "glacier", "--index", "trip,nothing"]);
    expect(unknown.stderr).toContain('There is no index named "nothing".');
  });

  it("ask of several indices names the index of each citation", async () => {
    const question = "Who constructed the cabin?";
    const { stdout } = await service.run(["ask", question, "--index", "*"]);
    expect(stdout).toMatch(/^\[1\] trip: story\.mp4 {2}\d:\d\d–\d:\d\d$/m);
    const refused = await service.run(["ask", question, "--index", "*", "--images"]);
    expect(refused.stderr).toContain("--images can't be combined with several indices.");
  });
});
