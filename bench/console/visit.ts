import { setTimeout as wait } from "node:timers/promises";
import type { Page } from "playwright-core";
import type { Service } from "../../tools/service.ts";
import { awkwardFiles } from "./awkward-files.ts";
import type { ConsolePage } from "./browser.ts";
import { awkwardSources, withUnfinishedAssets } from "./replaced-responses.ts";

const POLL_MS = 500;
const TIMEOUT_MS = 5 * 60_000;
/** Name of the greatest length, without a place to break. */
const INDEX = "W".repeat(64);

/** Brings the console into a state that is checked. */
type Check = (state: string) => Promise<void>;

/** Visits every page of the console, in every state that a user can bring it into. */
export async function visitConsole(
  service: Service,
  { page }: ConsolePage,
  check: Check,
): Promise<void> {
  await visitSignIn(service, page, check);
  await visitUploads(page, check);
  await waitUntilIngested(service);
  await visitLibrary(service, page, check);
  await visitSearch(page, check);
  await visitAnswers(page, check);
  await visitErrors(service, page, check);
  await visitReference(service, page, check);
}

async function visitSignIn({ url, key }: Service, page: Page, check: Check): Promise<void> {
  await page.goto(url);
  await check("sign in");
  await page.getByLabel("API key").fill("not-a-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText(/./).waitFor();
  await check("sign in, wrong key");
  await signIn(page, key);
  await page.getByText("No index yet").waitFor();
  await check("indices, empty");
}

/** Signs in on the page that asks for a key. */
async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Your indices" }).waitFor();
}

async function visitUploads(page: Page, check: Check): Promise<void> {
  await page.getByLabel("Name of a new index").fill(INDEX);
  await page.getByRole("button", { name: "Create index" }).click();
  await page.getByRole("heading", { name: INDEX }).waitFor();
  await page.locator("ul.grid:not([aria-busy])").waitFor({ state: "attached" });
  await check("index, empty");
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const uploads = /\/index\/[^/]+\/(video|image)$/;
  await page.route(uploads, async (route) => {
    await released;
    await route.continue();
  });
  await page.locator("input[data-part=files]").setInputFiles(await awkwardFiles());
  await page.getByText("Uploading").or(page.getByText("Checking the file")).first().waitFor();
  await check("uploads, running and waiting");
  release();
  await page.getByText("Not added").waitFor();
  await page.locator(".card.upload .actions").last().waitFor();
  await page.waitForFunction("document.querySelectorAll('.card.upload').length === 1");
  await page.unroute(uploads);
  await check("uploads, one refused");
}

async function waitUntilIngested({ sightline }: Service): Promise<void> {
  for (const startedAt = Date.now(); Date.now() - startedAt < TIMEOUT_MS; await wait(POLL_MS)) {
    const { states } = await sightline.indices.get(INDEX);
    if (states.queued === 0 && states.processing === 0) return;
  }
  throw new Error("The files were never ready.");
}

async function visitLibrary({ url }: Service, page: Page, check: Check): Promise<void> {
  await page.goto(`${url}/#/`);
  await page.locator(".card.index").waitFor();
  await check("indices");
  await withUnfinishedAssets(page, INDEX, async () => {
    await openIndex(page, url);
    await page.getByText("Recognising speech").first().waitFor();
    await check("library, in progress");
  });
  await awkwardSources(page, INDEX);
  await openIndex(page, url);
  await page.locator(".state", { hasText: "Failed" }).first().waitFor();
  await page.locator(".source").first().waitFor();
  await check("library, with a failed video and sources");
  for (const type of ["Play", "Show"]) {
    await page
      .getByRole("button", { name: new RegExp(`^${type} `) })
      .first()
      .click();
    await page.locator(".stage dd").first().waitFor();
    await check(type === "Play" ? "a video" : "an image");
  }
  await page.getByRole("button", { name: "From the web" }).click();
  await page.getByLabel("Kind of source").selectOption("playlist");
  await check("adding from the web");
  await page
    .getByRole("button", { name: /^Delete / })
    .first()
    .click();
  await page.getByRole("dialog").waitFor();
  await check("asking before a deletion");
  await page.getByRole("button", { name: "Cancel" }).click();
}

/** Opens the index, or reloads it if it is open already. */
async function openIndex(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/#/${INDEX}`);
  await page.reload();
  await page.locator(".card.asset").first().waitFor();
}

async function visitSearch(page: Page, check: Check): Promise<void> {
  await submit(page, "lantern festival");
  await page.locator(".card.moment").first().waitFor();
  await check("search, hits");
  await page.locator(".rest > summary").click();
  await page.locator(".card.moment button.over").first().click();
  await page.locator(".stage dd").first().waitFor();
  await check("search, a hit");
  await page.getByText("Boxes", { exact: true }).click();
  await submit(page, "boat");
  await page.locator(".image-frame svg").first().waitFor();
  await check("search, boxes");
  await submit(page, "x".repeat(400));
  await page.getByRole("heading", { name: /^No (likely )?results/ }).waitFor();
  await check("search, nothing likely");
}

async function visitAnswers(page: Page, check: Check): Promise<void> {
  await page.getByText("Ask", { exact: true }).click();
  await submit(page, "Where is the lantern festival?");
  await page.locator(".cite").first().waitFor();
  await page.locator(".cite").first().click();
  await page.locator(".stage").waitFor();
  await check("an answer and its source");
  await submit(page, "Who won the chess championship of 1986?");
  await page.getByText("No answer in this index").waitFor();
  await check("no answer");
}

async function submit(page: Page, text: string): Promise<void> {
  await page.locator("#text").fill(text);
  await page.locator("#text").press("Enter");
}

async function visitErrors({ url }: Service, page: Page, check: Check): Promise<void> {
  await page.goto(`${url}/#/missing-${"W".repeat(56)}`);
  await page.getByRole("button", { name: "Try again" }).first().waitFor();
  await check("an index that doesn't exist");
  const api = /\/index(\/|\?)/;
  await page.route(api, (route) => route.abort());
  await page.goto(`${url}/#/`);
  await page.getByText("can't be reached").waitFor();
  await check("no connection");
  await page.unroute(api);
}

async function visitReference({ url, key }: Service, page: Page, check: Check): Promise<void> {
  await page.goto(`${url}/docs`);
  await page.locator(".opblock").first().waitFor();
  await check("API reference, filled in");
  await page.getByRole("button", { name: "Forget the key" }).click();
  await page.getByLabel("API key").fill("not-a-key");
  await page.getByRole("button", { name: "Fill in" }).click();
  await page.getByRole("alert").getByText(/./).waitFor();
  await check("API reference, wrong key");
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Fill in" }).click();
  await page.getByText("are filled in for the index").waitFor();
  await page.getByRole("tab", { name: "Python" }).first().click();
  for (const path of ["video", "search"]) {
    const operation = `[data-path="/index/{index_name}/${path}"]`;
    await page.locator(`.opblock-post:has(${operation}) .opblock-summary-control`).click();
  }
  await page.locator(".opblock-post .execute").last().click();
  await page.locator(".live-responses-table").waitFor();
  await check("API reference, operations");
}
