import type { Page } from "playwright-core";
import { AWKWARD_INDEX } from "./awkward-files.ts";
import {
  type ConsolePage,
  createIndex,
  INDEX_KEY,
  newAccountKey,
  openConsole,
  openPage,
  SERVICE_URL,
  WEBHOOKS_ORIGIN,
} from "./console-page.ts";
import { manyJudgments } from "./replaced-responses.ts";

/** Pages of an index and of the account, and the API reference. */
export const PAGE_VIEWS: Record<string, () => Promise<ConsolePage>> = {
  async "the health of an index"() {
    const view = await openConsole(INDEX_KEY, `#/${AWKWARD_INDEX}/health`);
    await view.page.getByText(/with findings\.$/).waitFor();
    return view;
  },
  async "the quality of an index"() {
    const view = await openConsole(INDEX_KEY, `#/${AWKWARD_INDEX}/quality`);
    await view.page.locator(".quality > .stack:not([aria-busy])").waitFor();
    return view;
  },
  async "the quality of an index with many judgments"() {
    const view = await openConsole();
    await manyJudgments(view.page, AWKWARD_INDEX);
    await view.page.goto(`${SERVICE_URL}/#/${AWKWARD_INDEX}/quality`);
    await view.page.getByRole("table", { name: "Judgments by score" }).waitFor();
    return view;
  },
  async "the settings of an index"() {
    const view = await openConsole(INDEX_KEY, `#/${AWKWARD_INDEX}/settings`);
    await view.page.getByRole("heading", { name: "Settings" }).waitFor();
    return view;
  },
  async "the statistics"() {
    const view = await openConsole(INDEX_KEY, "#/stats");
    await view.page.locator("svg[role=img]").first().waitFor();
    return view;
  },
  async "the API keys"() {
    const view = await openConsole(INDEX_KEY, "#/keys");
    await view.page.getByRole("heading", { name: "API keys", exact: true }).waitFor();
    return view;
  },
  async "the jobs"() {
    const view = await openConsole(INDEX_KEY, "#/jobs");
    await view.page.locator("li.record a").first().waitFor();
    return view;
  },
  async "the menu of the account"() {
    const view = await openConsole();
    await view.page.getByRole("button", { name: "Account" }).click();
    return view;
  },
  async "a webhook with deliveries"() {
    const key = await newAccountKey();
    const url = `${WEBHOOKS_ORIGIN}/${"W".repeat(200)}`;
    await createIndex(key, AWKWARD_INDEX, { webhook_url: url });
    const view = await openConsole(key, `#/${AWKWARD_INDEX}/settings`);
    await view.page.getByRole("button", { name: "Send a test event" }).click();
    await view.page.getByRole("listitem").getByText("Payload").first().click();
    return view;
  },
  async "a new API key"() {
    const view = await openConsole(await newAccountKey(), "#/keys");
    await view.page.getByRole("textbox", { name: "Name" }).fill("W".repeat(100));
    await view.page.getByRole("button", { name: "Create API key" }).click();
    await view.page.getByRole("button", { name: "I have stored it" }).waitFor();
    return view;
  },
  async "the API reference without a key"() {
    const view = await openPage();
    await openReference(view.page);
    return view;
  },
  async "the API reference after a wrong key"() {
    const view = await openPage();
    await openReference(view.page);
    await view.page.getByLabel("API key").fill("not-a-key");
    await view.page.getByRole("button", { name: "Fill in" }).click();
    await view.page.getByRole("alert").getByText(/./).waitFor();
    return view;
  },
  async "the API reference after a request"() {
    const view = await openConsole();
    await openReference(view.page);
    await view.page.getByText("are filled in for the index").waitFor();
    await view.page.getByRole("tab", { name: "Python" }).first().click();
    const operation = '[data-path="/index/{index_name}/search"]';
    await view.page.locator(`.opblock-post:has(${operation}) .opblock-summary-control`).click();
    await view.page.locator(".opblock-post .execute").last().click();
    await view.page.locator(".live-responses-table").waitFor();
    return view;
  },
};

async function openReference(page: Page): Promise<void> {
  await page.goto(`${SERVICE_URL}/docs`);
  await page.locator(".opblock").first().waitFor();
}
