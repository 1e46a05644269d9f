import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { AWKWARD_INDEX } from "./awkward-files.ts";
import { newAccountKey, openConsole, SERVICE_URL } from "./console-page.ts";
import { awkwardSources } from "./replaced-responses.ts";

const HASH = `#/${AWKWARD_INDEX}`;
const FAILED = /^A part of IMG_/;

it("a check reads all pages of an index, can be stopped and continued, and links its findings", async () => {
  const { page } = await openConsole();
  const held = Promise.withResolvers<void>();
  let pages = 0;
  await page.route(/\/traverse\?/, async (route) => {
    if (++pages === 2) await held.promise;
    await route.continue({ url: route.request().url().replace("limit=50", "limit=2") });
  });
  await page.goto(`${SERVICE_URL}/${HASH}/health`);
  await page.getByText(/^2 of 6 videos and images checked/).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  held.resolve();
  await page.getByText(/^4 of 6 videos and images checked/).waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText(/^6 of 6 videos and images checked, \d with findings\.$/).waitFor();

  await page.getByRole("link", { name: FAILED }).click();
  await page.locator(".stage").getByText(FAILED).waitFor();
  await page.locator(".stage .notice.bad").waitFor();
  await page.getByRole("link", { name: "All videos and images" }).click();
  await expect.poll(() => page.locator(".card.asset:visible").count()).toBe(6);
});

it("the report of a repair replaces the findings, and names what is left by its title", async () => {
  const { page } = await openConsole();
  await page.goto(`${SERVICE_URL}/${HASH}/health`);
  await page.getByText(/^6 of 6 videos and images checked, \d with findings\.$/).waitFor();
  await page.getByRole("button", { name: "Repair" }).click();
  await page.getByText("Ingest failed: 1 found, 0 repaired.").waitFor();
  expect(await page.getByText("with findings").count()).toBe(0);
  await page.locator(".panel").getByRole("link", { name: FAILED }).waitFor();
  await page.getByRole("button", { name: "Check again" }).click();
  await page.getByText(/^6 of 6 videos and images checked, \d with findings\.$/).waitFor();

  await page.goto(`${SERVICE_URL}/#/jobs`);
  const failed = page.locator("li.record").filter({ hasText: "Adding a video or an image" });
  await failed.getByRole("link", { name: AWKWARD_INDEX }).first().waitFor();
  await failed.getByRole("link", { name: FAILED }).first().click();
  await page.locator(".stage .notice.bad").waitFor();
});

it("the card of a failed video opens by keyboard, with its whole name and what went wrong", async () => {
  const { page } = await openConsole();
  await page.goto(`${SERVICE_URL}/${HASH}`);
  const card = page.locator(".card.asset").filter({ hasText: "Failed" });
  expect((await card.locator("h3").textContent())!.length).toBeLessThan(60);
  await card.locator("button.over").focus();
  await page.keyboard.press("Enter");
  const stage = page.locator(".stage");
  expect(await stage.locator("h3").textContent()).toMatch(/^A part of IMG_(20261123){25}\.mp4$/);
  await stage.locator(".notice.bad").waitFor();
});

it("a failed source is imported again, and one that was imported once is listed and followed", async () => {
  const { page } = await openConsole();
  await awkwardSources(page, AWKWARD_INDEX);
  const bodies: unknown[] = [];
  await page.route(/\/(videonet|photonet)\//, async (route) => {
    bodies.push(route.request().postDataJSON());
    await route.fulfill({ json: { job_id: "job_1", state: "queued", source_id: "src_3" } });
  });
  await page.goto(`${SERVICE_URL}/${HASH}`);
  const failed = page.locator(".source").filter({ hasText: "answered with 503" });
  await failed.getByRole("button", { name: /^Import now/ }).click();
  await expect.poll(() => bodies).toEqual([expect.objectContaining({ follow: true })]);
  await page.getByText("Imported once: 1 source").click();
  await page.getByRole("button", { name: "Follow sea otters" }).click();
  const body = { query: "sea otters", platform: "peertube", limit: 10, follow: true };
  await expect.poll(() => bodies[1]).toMatchObject(body);
});

it("the counts of a webhook follow a test event", async () => {
  const { page } = await openConsole(await newAccountKey());
  await createIndex(page, "hooks");
  await page.goto(`${SERVICE_URL}/#/hooks/settings`);
  await page.getByLabel("Webhook URL").fill("https://127.0.0.1:9/x");
  await page.getByRole("button", { name: "Save" }).click();
  await page
    .getByText("The URL names port 9, which another protocol uses; give a public one.", {
      exact: true,
    })
    .waitFor();
  await page.getByLabel("Webhook URL").fill("https://receiver.invalid.example.com/hook");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("0 pending, 0 delivered, 0 failed").waitFor();
  await page.getByRole("button", { name: "Send a test event" }).click();
  await page.getByText("1 pending, 0 delivered, 0 failed").waitFor();
});

it("the lists of indices and of an index say that they load", async () => {
  const { page } = await openConsole();
  await page.locator(".card.index").first().waitFor();
  const held = Promise.withResolvers<void>();
  await page.route(/\/index(\/\w+)?\?/, async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.reload();
  await page.getByText("Loading…").first().waitFor();
  await page.goto(`${SERVICE_URL}/${HASH}`);
  await page.getByText("Loading…").first().waitFor();
  held.resolve();
  await page.locator(".card.asset").first().waitFor();
  expect(await page.getByText("Loading…").count()).toBe(0);
});

it("the statistics say that costs are an estimate, and that an own computer is charged nothing", async () => {
  const { page } = await openConsole();
  await page.goto(`${SERVICE_URL}/#/stats`);
  await page
    .getByText(/estimate of what this usage costs on Cloudflare.*charged nothing/)
    .waitFor();
});

async function createIndex(page: Page, name: string): Promise<void> {
  await page.getByLabel("Name of a new index").fill(name);
  await page.getByRole("button", { name: "Create index" }).click();
  await page.getByRole("heading", { name }).waitFor();
}
