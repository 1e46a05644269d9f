import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import {
  createIndex,
  newAccountKey,
  openConsole,
  openSample,
  SERVICE_URL,
  signOut,
  WEBHOOKS_ORIGIN,
} from "./console-page.ts";
import { awkwardSources } from "./replaced-responses.ts";

const INDEX = "notices";

it("a new API key is shown once, works, and is revoked", async () => {
  const { page } = await openConsole(await newAccountKey(), "#/keys");
  await page.getByRole("textbox", { name: "Name" }).fill("Web site");
  await page.getByRole("button", { name: "Create API key" }).click();
  const shown = page.getByLabel("API key Web site");
  const key = await shown.inputValue();
  expect(key).toMatch(/^sl_/);
  const headers = { "X-API-Key": key };
  expect((await fetch(`${SERVICE_URL}/index`, { headers })).status).toBe(200);
  expect((await fetch(`${SERVICE_URL}/index`, { method: "POST", headers })).status).toBe(403);
  await page.getByRole("button", { name: "I have stored it" }).click();
  await shown.waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("button", { name: "Revoke Web site" }).click();
  expect(await page.content()).not.toContain(key);
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page
    .getByRole("listitem")
    .filter({ hasText: "Web site" })
    .getByText(/Revoked/i)
    .waitFor();
});

it("signing out asks before it discards a cut list", async () => {
  const { page } = await openSample("?q=carpenter");
  await page.getByRole("button", { name: "Add to cut list: story.mp4" }).first().click();
  await signOut(page);
  await page.getByRole("dialog").getByText("Discard the cut list?").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Cut list (1)" }).waitFor();
  await signOut(page);
  await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API key").fill(`${SERVICE_URL}/#key=${await newAccountKey()}/keys`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Account" }).waitFor();
});

it("a webhook that is saved gets a test event, and a failed delivery says why", async () => {
  const { page } = await openSettings();
  const receiver = `${WEBHOOKS_ORIGIN}/${crypto.randomUUID()}`;
  await page.getByLabel("Webhook URL").fill("http://127.0.0.1:9/");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page
    .getByRole("alert")
    .getByText(/public/)
    .waitFor();
  await page.getByLabel("Webhook URL").fill(receiver);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await sendTestEvent(page, /delivered.*status 204/i);
  const received = (await (await fetch(receiver)).json()) as { body: string }[];
  expect(received.map(({ body }) => JSON.parse(body).type)).toEqual(["webhook.test"]);

  await fetch(receiver, { method: "PUT", body: JSON.stringify([{ status: 500 }]) });
  await sendTestEvent(page, /pending.*1 attempt.*status 500.*next attempt/i);
});

it("a check lists what is missing, and a repair says when it ran", async () => {
  const { page } = await openSample("/health");
  await page.getByText("3 of 3 videos and images checked, without findings.").waitFor();
  await page.getByText("All is well").waitFor();
  await page.getByRole("button", { name: "Repair" }).click();
  await page.getByText(/^Last repair: /).waitFor();
});

it("a check of an index with a failed video names it and what is wrong", async () => {
  const { page } = await openConsole();
  await page.locator(".card.index").getByRole("link").click();
  await page.getByRole("link", { name: "Health" }).click();
  const findings = page.getByRole("list", { name: "Findings" });
  await findings.getByText(/^A part of IMG/).waitFor();
});

it("a source that no platform has fails with a sentence, which a late list leaves", async () => {
  const { page } = await openSettings();
  const isShown = Promise.withResolvers<void>();
  await awkwardSources(page, INDEX, isShown.promise);
  await page.getByRole("link", { name: "Library" }).click();
  await page.getByRole("button", { name: "From the web" }).click();
  await page.getByLabel("Kind of source").selectOption("a playlist, channel or account");
  await page.getByLabel("URL or search text").fill("https://example.com/a-channel");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const sources = page.getByRole("list", { name: "Import sources" });
  const failure = sources.getByText(/platform/);
  await failure.waitFor();
  isShown.resolve();
  await sources.locator(".source").first().waitFor();
  expect(await failure.isVisible()).toBe(true);
});

/** Creates an index in a new account and opens its settings. */
async function openSettings() {
  const key = await newAccountKey();
  await createIndex(key, INDEX);
  return openConsole(key, `#/${INDEX}/settings`);
}

/** Sends a test event, and reloads the deliveries until the newest one reads as it should. */
async function sendTestEvent(page: Page, expected: RegExp): Promise<void> {
  await page.getByRole("button", { name: "Send a test event" }).click();
  const newest = page.getByRole("listitem").filter({ hasText: "webhook.test" }).first();
  await expect
    .poll(async () => {
      await page.getByRole("button", { name: "Reload deliveries" }).click();
      return newest.textContent();
    })
    .toMatch(expected);
}
