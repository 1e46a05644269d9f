import type { Browser, CDPSession, Page } from "playwright-core";
import { launchBrowser } from "../../tools/browser.ts";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import { type Service, withService } from "../../tools/service.ts";
import { quantile, round, type Suite } from "../../tools/suite.ts";

const INDEX = "holidays";
const RUNS = 5;
/** Slow 3G as WebPageTest has it: 400 kbit/s and 400 ms for a round trip. */
const SLOW_3G = {
  offline: false,
  latency: 400,
  downloadThroughput: 50_000,
  uploadThroughput: 50_000,
};
const SCREEN = { viewport: { width: 1366, height: 768 } };

/** What is opened, and what is on screen then. */
const OPENINGS: Record<string, { hash: string; isSignedIn: boolean; shown: string }> = {
  "form for the key": { hash: "", isSignedIn: false, shown: "#key" },
  "list of indices": { hash: "#/", isSignedIn: true, shown: ".card.index" },
  "first search": { hash: `#/${INDEX}?q=boat`, isSignedIn: true, shown: ".card.moment h3" },
};

export const suite: Suite = {
  summary:
    "requests, kB and seconds on slow 3G until the console shows its form, indices and first " +
    "results, in Chromium, with nothing cached",
  run: (options) =>
    withService(options, async (service) => {
      const { files } = await buildSamplePack();
      await service.ingest(INDEX, files);
      const browser = await launchBrowser();
      try {
        const table: Record<string, string | number>[] = [];
        for (const opened of Object.keys(OPENINGS)) {
          const runs: Figures[] = [];
          for (let run = 0; run < RUNS; run++) runs.push(await measure(browser, service, opened));
          const median = (name: keyof Figures) =>
            round(
              quantile(
                runs.map((figures) => figures[name]),
                0.5,
              ),
              1,
            );
          const figures = { requests: median("requests"), kB: median("kB") };
          table.push({ opened, ...figures, seconds: median("seconds") });
          options.log(JSON.stringify(table.at(-1)));
        }
        return { table, json: { openings: table } };
      } finally {
        await browser.close();
      }
    }),
};

interface Figures {
  requests: number;
  kB: number;
  seconds: number;
}

/** Opens the console in a new profile. Counts what has arrived when it shows what is awaited. */
async function measure(browser: Browser, { url, key }: Service, opened: string): Promise<Figures> {
  const { hash, isSignedIn, shown } = OPENINGS[opened]!;
  const context = await browser.newContext(SCREEN);
  try {
    const page = await context.newPage();
    if (isSignedIn) {
      await page.addInitScript(`sessionStorage.setItem("sightline-key", ${JSON.stringify(key)})`);
    }
    const network = await context.newCDPSession(page);
    await network.send("Network.enable");
    await network.send("Network.emulateNetworkConditions", SLOW_3G);
    const received = countReceived(network);
    await page.goto(`${url}/${hash}`, { waitUntil: "commit" });
    await page.locator(shown).first().waitFor();
    const seconds = (await sinceNavigation(page)) / 1000;
    const { requests, bytes } = received();
    return { requests, kB: bytes / 1000, seconds };
  } finally {
    await context.close();
  }
}

function countReceived(network: CDPSession): () => { requests: number; bytes: number } {
  let [requests, bytes] = [0, 0];
  network.on("Network.requestWillBeSent", () => (requests += 1));
  network.on("Network.dataReceived", ({ dataLength }) => (bytes += dataLength));
  return () => ({ requests, bytes });
}

/** Returns the milliseconds since the page was requested. */
function sinceNavigation(page: Page): Promise<number> {
  return page.evaluate<number>("performance.now()");
}
