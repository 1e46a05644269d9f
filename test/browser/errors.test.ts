import type { Page, Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import { AWKWARD_INDEX } from "./awkward-files.ts";
import { newAccountKey, openConsole, openSample, submit, SERVICE_URL } from "./console-page.ts";

/** Requests of the API, but not the console's own files. */
const API = /\/index(\/|\?|$)/;

/** Responses that no healthy service gives, with the sentence that the console must have. */
const FAILURES: Record<string, { fail: (route: Route) => Promise<void>; sentence: RegExp }> = {
  "an unreachable service": {
    fail: (route) => route.abort("connectionrefused"),
    sentence: /^The service can't be reached\. Is it running\?$/,
  },
  "an internal error": {
    fail: (route) =>
      fulfill(
        route,
        500,
        "Something went wrong on our side. Request id: 01JD0000000000000000000000.",
      ),
    sentence: /^Something went wrong on our side\. Request id: /,
  },
  "an error page of a proxy": {
    fail: (route) => route.fulfill({ status: 503, contentType: "text/html", body: "<h1>503</h1>" }),
    sentence: /^The service is busy\. Try again in a moment\.$/,
  },
  "a rate limit": {
    fail: (route) =>
      fulfill(
        route,
        429,
        "Too many requests with this API key: at most 600 a minute. Retry in 12 seconds.",
      ),
    sentence: /Retry in 12 seconds\.$/,
  },
};

function fulfill(route: Route, status: number, detail: string): Promise<void> {
  const headers = { "Retry-After": "12" };
  return route.fulfill({ status, headers, json: { detail } });
}

describe.for(Object.entries(FAILURES))("%s", ([, { fail, sentence }]) => {
  it("is told in a sentence on the list of indices, which loads on the next try", async () => {
    const { page } = await openConsole();
    await page.locator(".card.index").first().waitFor();
    await page.route(API, fail);
    await page.reload();
    await tryAgain(page, sentence);
    await page.locator(".card.index").first().waitFor();
  });

  it("is told in a sentence in an index, which loads on the next try", async () => {
    const { page } = await openConsole();
    await page.route(API, fail);
    await page.goto(`${SERVICE_URL}/#/${AWKWARD_INDEX}`);
    await tryAgain(page, sentence, "last");
    await page.locator(".card.asset").first().waitFor();
  });

  it("is told in a sentence after a search and a question, which work on the next try", async () => {
    const { page } = await openConsole();
    await page.goto(`${SERVICE_URL}/#/${AWKWARD_INDEX}`);
    await page.locator(".card.asset").first().waitFor();
    await page.route(API, fail);
    await submit(page, "lantern festival");
    await tryAgain(page, sentence);
    await page.locator(".card.moment").first().waitFor();
    await page.route(API, fail);
    await page.getByText("Ask", { exact: true }).click();
    await submit(page, "Where is the lantern festival?");
    await tryAgain(page, sentence);
    await page.locator(".cite").first().waitFor();
  });
});

/** Waits for the sentence, ends the failures, and presses the button beside the sentence. */
async function tryAgain(page: Page, sentence: RegExp, which: "first" | "last" = "first") {
  const notice = page.locator(".notice.bad")[which]();
  await notice.getByText(sentence).waitFor();
  await page.unroute(API);
  await notice.getByRole("button", { name: "Try again" }).click();
}

it("a player and a deletion say that the service isn't reached, and work when it is", async () => {
  const { page } = await openSample();
  const offline = "The service can't be reached. Is it running?";
  await page.locator(".card.asset").first().waitFor();
  await page.route(/^http/, (route) => route.abort("connectionrefused"));
  await page.getByRole("button", { name: "Delete story.mp4" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  const notice = page.locator(".notices .notice").getByText(offline);
  await expect.poll(() => notice.isVisible()).toBe(true);
  await page.unroute(/^http/);
  await page.getByRole("button", { name: "Play story.mp4" }).click();
  await page.locator(".stage video").waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();

  await page.route(/^http/, (route) => route.abort("connectionrefused"));
  await page.getByRole("button", { name: "Play story.mp4" }).click();
  await page.locator(".stage .screen").getByText(offline).waitFor();
  await page.unroute(/^http/);
  await page.locator(".stage .screen").getByRole("button", { name: "Try again" }).click();
  const duration = () => page.evaluate("document.querySelector('.stage video')?.duration ?? 0");
  await expect.poll(duration).toBeGreaterThan(0);
});

describe("an expired key", () => {
  it("leads to the form for the key, with a sentence that says so", async () => {
    const expired = await newAccountKey(Date.now() - 1000);
    const { page } = await openConsole(await newAccountKey());
    await page.getByText("No index yet").waitFor();
    await page.evaluate(`sessionStorage.setItem("sightline-key", ${JSON.stringify(expired)})`);
    await page.reload();
    await page
      .getByRole("alert")
      .getByText(/expired/)
      .waitFor();
    await page.getByLabel("API key").fill(await newAccountKey());
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("No index yet").waitFor();
    expect(await page.getByRole("alert").getByText(/./).count()).toBe(0);
  });
});
