import type { Page } from "playwright-core";

/** Index that the screenshots show. */
export const INDEX = "holidays";

/** Slow enough that an upload is seen, in bytes a second. */
const SLOW_UPLOAD = {
  offline: false,
  latency: 0,
  downloadThroughput: -1,
  uploadThroughput: 300_000,
};

/** The first box of an MP4, without a video. */
const DAMAGED_VIDEO = {
  name: "Interview with the mayor of the old town about the harbour, camera 2.mp4",
  mimeType: "video/mp4",
  buffer: Buffer.from("\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41", "latin1"),
};

/** A view of the console that docs/console*.md show. */
export interface View {
  /** Name of its files. */
  name: string;
  /** Hash or path below the service's URL. */
  path: string;
  /** Brings the page, which is signed in, into the view. */
  open: (page: Page) => Promise<void>;
}

export const VIEWS: readonly View[] = [
  {
    name: "sign-in",
    path: "#/",
    open: async (page) => {
      await page.getByRole("button", { name: "Account" }).click();
      await page.getByRole("button", { name: "Sign out" }).click();
    },
  },
  {
    name: "indices",
    path: "#/",
    open: (page) => page.locator(".card.index").waitFor(),
  },
  {
    name: "library",
    path: `#/${INDEX}`,
    open: (page) => page.locator(".card.asset").first().waitFor(),
  },
  {
    name: "upload",
    path: `#/${INDEX}`,
    async open(page) {
      await page.locator(".card.asset").first().waitFor();
      const network = await page.context().newCDPSession(page);
      await network.send("Network.emulateNetworkConditions", SLOW_UPLOAD);
      const files = ["IMG_2041.jpg", "IMG_2042.jpg"].map((name) => {
        return { name, mimeType: "image/jpeg", buffer: Buffer.alloc(2_400_000) };
      });
      await page.getByLabel("Choose files").setInputFiles(files);
      await page
        .getByText(/^Uploading, [3-9]\d/)
        .first()
        .waitFor();
    },
  },
  {
    name: "search",
    path: `#/${INDEX}?q=cabin`,
    open: (page) => page.locator(".card.moment").first().waitFor(),
  },
  {
    name: "moment",
    path: `#/${INDEX}?q=glacier`,
    async open(page) {
      await page.locator(".card.moment button.over").first().click();
      await page.locator(".cues button").first().waitFor();
    },
  },
  {
    name: "boxes",
    path: `#/${INDEX}?q=boat&boxes=1`,
    open: (page) => page.locator(".image-frame svg").first().waitFor(),
  },
  {
    name: "answer",
    path: `#/${INDEX}?ask=Who+constructed+the+cabin%3F`,
    open: (page) => page.locator(".cite").first().waitFor(),
  },
  {
    name: "no-answer",
    path: `#/${INDEX}?ask=What+colour+is+the+cabin%3F`,
    open: (page) => page.getByText("No answer in this index").waitFor(),
  },
  {
    name: "image-search",
    path: `#/${INDEX}`,
    async open(page) {
      await page.locator(".card.asset").first().waitFor();
      const image = page.locator(".card.asset img").first();
      const url = (await image.getAttribute("src"))!;
      const buffer = await (await page.request.get(new URL(url, page.url()).href)).body();
      const files = [{ name: "poster.jpg", mimeType: "image/jpeg", buffer }];
      await page.locator(".chip-button input[type=file]").setInputFiles(files);
      await page.locator(".card.moment").first().waitFor();
    },
  },
  {
    name: "filters",
    path: `#/${INDEX}?q=mountain&filter=${encodeURIComponent('{"duration_seconds":{"$lt":60}}')}`,
    open: (page) => page.locator(".card.moment").first().waitFor(),
  },
  {
    name: "cut-list",
    path: `#/${INDEX}?q=glacier`,
    async open(page) {
      await page.locator(".card.moment").first().waitFor();
      await page.locator("details.rest > summary").last().click();
      const buttons = page.getByRole("button", { name: /^Add .*to cut list/i });
      for (let added = 0; added < 3; added++) await buttons.first().click();
      await page.getByRole("button", { name: /^Cut list/ }).click();
      await scrollTo(page, ".panel:has(.cuts)");
    },
  },
  {
    name: "transcript",
    path: `#/${INDEX}?q=glacier`,
    async open(page) {
      await page.locator(".card.moment button.over").first().click();
      await page.getByRole("button", { name: "Edit transcript" }).click();
      await page.getByRole("button", { name: "Delete line 2" }).click();
      await scrollTo(page, ".transcript");
    },
  },
  {
    name: "statistics",
    path: "#/stats",
    open: (page) => page.locator("svg[role=img]").first().waitFor(),
  },
  {
    name: "keys",
    path: "#/keys",
    open: (page) => page.locator("li.record").first().waitFor(),
  },
  {
    name: "settings",
    path: `#/${INDEX}/settings`,
    open: (page) => page.getByLabel("Webhook URL").waitFor(),
  },
  {
    name: "webhook",
    path: `#/${INDEX}/settings`,
    async open(page) {
      await page.getByLabel("Webhook URL").fill("https://hooks.example.com/sightline");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      const webhook = page.locator(".panel", { hasText: "Send a test event" });
      await webhook.getByText(/pending/).waitFor();
      await webhook.getByText("No deliveries yet").waitFor();
      await webhook.evaluate((element) => element.scrollIntoView());
    },
  },
  {
    name: "health",
    path: `#/${INDEX}`,
    async open(page) {
      await page.locator(".card.asset").first().waitFor();
      await page.getByLabel("Choose files").setInputFiles([DAMAGED_VIDEO]);
      await page.locator(".card.asset .notice.bad").first().waitFor();
      await page.getByRole("link", { name: "Health" }).click();
      await page.getByText(/checked, \d+ with findings/).waitFor();
      await page.getByRole("button", { name: "Repair" }).click();
      await page.getByText(/found, \d+ repaired/).waitFor();
    },
  },
  {
    name: "jobs",
    path: "#/jobs",
    open: (page) => page.locator("li.record a").first().waitFor(),
  },
  {
    name: "reference",
    path: "docs",
    open: (page) => page.locator(".opblock").first().waitFor(),
  },
];

/** Scrolls until an element is at the top of the window. */
async function scrollTo(page: Page, selector: string): Promise<void> {
  await page.locator(selector).evaluate((element) => element.scrollIntoView());
}
