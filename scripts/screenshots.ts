import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { launchBrowser } from "../tools/browser.ts";
import { buildSamplePack } from "../tools/sample/pack.ts";
import { type Service, withService } from "../tools/service.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { INDEX, type View, VIEWS } from "./screenshots/views.ts";

/** Makes docs/screenshots/*.png, which docs/console.md shows, with the sample pack. */
const FOLDER = join(PROJECT, "docs/screenshots");
const MAX_BYTES = 150_000;
const SCREENS = [
  { name: "desktop", viewport: { width: 1100, height: 720 } },
  { name: "phone", viewport: { width: 390, height: 780 } },
] as const;
/** Numbers of colours; fewer make a smaller file. */
const COLOURS = [64, 32, 16];
const SCHEMES = ["light", "dark"] as const;

async function main(signal: AbortSignal): Promise<void> {
  const { files } = await buildSamplePack();
  await withService({ log: (line) => console.error(line), signal }, async (service) => {
    await service.ingest(INDEX, files);
    await rm(FOLDER, { recursive: true, force: true });
    await mkdir(FOLDER, { recursive: true });
    const browser = await launchBrowser();
    try {
      for (const view of VIEWS) await writeScreenshots(browser, service, view);
    } finally {
      await browser.close();
    }
  });
}

/** Writes a view on every screen, in every colour scheme. */
async function writeScreenshots(browser: Browser, service: Service, view: View): Promise<void> {
  for (const { name, viewport } of SCREENS) {
    for (const colorScheme of SCHEMES) {
      const options = { viewport, colorScheme, reducedMotion: "reduce" } as const;
      const context = await browser.newContext(options);
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      await signIn(page, service);
      await page.goto(`${service.url}/${view.path}`);
      await view.open(page);
      await waitForImages(page);
      const file = join(FOLDER, `${view.name}-${name}-${colorScheme}.png`);
      await writeFile(file, await compress(await page.screenshot()));
      await context.close();
    }
  }
}

/** Returns a PNG with a palette of as many colours as `MAX_BYTES` allow. */
async function compress(screenshot: Buffer): Promise<Buffer> {
  for (const colours of COLOURS) {
    const options = { palette: true, colours, dither: 0.4, effort: 10 };
    const png = await sharp(screenshot).png(options).toBuffer();
    if (png.length <= MAX_BYTES) return png;
  }
  throw new Error(`A screenshot with ${COLOURS.at(-1)} colours has more than ${MAX_BYTES} bytes.`);
}

/** Waits until the images that are in the window are drawn. */
async function waitForImages(page: Page): Promise<void> {
  await page.evaluate(`Promise.allSettled([...document.images]
    .filter((image) => image.checkVisibility() && image.getBoundingClientRect().top < innerHeight)
    .map((image) => image.decode()))`);
}

async function signIn(page: Page, { url, key }: Service): Promise<void> {
  await page.goto(url);
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Account" }).waitFor();
}

await main(onInterrupt());
