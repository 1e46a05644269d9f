import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { encodeAudio } from "../../tools/sample/audio.ts";
import { newAccountKey, openConsole } from "./console-page.ts";

const [RATE, SECONDS] = [16_000, 8];

it("sound without pictures shows its waveform, plays below it, and a click there seeks", async () => {
  const { page, takeErrors } = await openConsole(await newAccountKey());
  await page.getByLabel("Name of a new index").fill("lectures");
  await page.getByRole("button", { name: "Create index" }).click();
  const [name, mimeType] = ["tone.wav", "audio/wav"];
  const files = [{ name, mimeType, buffer: await makeTone() }];
  await page.getByLabel("Choose files").setInputFiles(files);
  const card = page.locator(".card.asset", { hasText: name });
  await card.locator("svg.waveform path").waitFor();
  await card.getByRole("button", { name: `Play ${name}` }).click();
  const read = (property: string) =>
    page.evaluate<number>(`document.querySelector(".stage audio")?.${property} ?? 0`);
  await expect.poll(() => read("duration")).toBeCloseTo(SECONDS, 1);
  await page.evaluate("document.querySelector('.stage audio').pause()");
  const { width } = (await page.locator(".sound-picture").boundingBox())!;
  await page.locator(".sound-picture").click({ position: { x: width / 2, y: 20 } });
  expect(await read("currentTime")).toBeCloseTo(SECONDS / 2, 0);
  expect(takeErrors()).toEqual([]);
});

/** Makes a WAV of a tone. */
async function makeTone(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-tone-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "tone.wav");
  const samples = Float32Array.from({ length: SECONDS * RATE }, (_, at) => {
    return 0.5 * Math.sin((2 * Math.PI * 440 * at) / RATE);
  });
  await encodeAudio(file, samples);
  return readFile(file);
}
