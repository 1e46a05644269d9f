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

/** A view of the console that docs/console.md shows. */
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
    name: "reference",
    path: "docs",
    open: (page) => page.locator(".opblock").first().waitFor(),
  },
];
