import type { Locator, Page, Request } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  createIndex,
  newAccountKey,
  newReadKey,
  openConsole,
  openOptions,
  openSample,
  submit,
  SERVICE_URL,
} from "./console-page.ts";
import { manyJudgments } from "./replaced-responses.ts";
import { SAMPLE_INDEX, samplePath } from "./sample-files.ts";

describe("the thumbs of a search", () => {
  it("refine it at once, and the address restores that after a reload and on the way back", async () => {
    const { page, takeErrors } = await openSample("?q=carpenter");
    await page.locator(".moment").first().waitFor();
    const [judgment] = await Promise.all([nextJudgment(page), thumb(page, "Relevant").click()]);
    const id = judgment.segment_id as string;
    expect(judgment).toEqual({ query: "carpenter", segment_id: id, relevant: true });
    await refinedBy(page, "1 relevant moment").waitFor();
    await page.waitForURL(new RegExp(`refined=${id}$`));
    expect(await isPressed(card(page, id), "Relevant")).toBe(true);

    await page.locator("summary", { hasText: "Less likely results" }).click();
    const other = await page.locator(".moment:visible").last().getAttribute("data-segment");
    const searched = page.waitForRequest(/\/search$/);
    await thumb(card(page, other!), "Not relevant").click();
    expect((await searched).postDataJSON()).toMatchObject({ more_like: [id], less_like: [other] });
    await refinedBy(page, "1 relevant and 1 not relevant moments").waitFor();
    expect(await card(page, other!).count()).toBe(0);
    expect(await page.locator("details.rest").getAttribute("open")).toBe("");
    expect(await isPressed(card(page, id), "Relevant")).toBe(true);

    await page.reload();
    await refinedBy(page, "1 relevant and 1 not relevant moments").waitFor();
    await page.goBack();
    await refinedBy(page, "1 relevant moment").waitFor();
    await page.goForward();
    await refinedBy(page, "1 relevant and 1 not relevant moments").waitFor();
    const [undone] = await Promise.all([
      nextJudgment(page),
      page.getByRole("button", { name: "Undo" }).click(),
    ]);
    expect(undone).toMatchObject({ segment_id: other, relevant: null });
    await refinedBy(page, "1 relevant moment").waitFor();
    await page.getByRole("link", { name: "Show the original results" }).click();
    await page.locator(".refined").waitFor({ state: "detached" });
    expect(page.url()).not.toContain("refined");
    expect(await isPressed(card(page, id), "Relevant")).toBe(true);
    expect(takeErrors()).toEqual([]);
  });

  it("come with “New results only”, which leaves out the others on the page until the way back", async () => {
    const { page, takeErrors } = await openSample("?q=carpenter");
    await page.locator(".moment").first().waitFor();
    const [{ segment_id: id }] = await Promise.all([
      nextJudgment(page),
      thumb(page, "Relevant").click(),
    ]);
    await refinedBy(page, "1 relevant moment").waitFor();
    await page.locator("summary", { hasText: "Less likely results" }).click();
    const other = await page.locator(".moment:visible").last().getAttribute("data-segment");
    expect(other).not.toBe(id);
    const searched = page.waitForRequest(/\/search$/);
    await page.getByRole("button", { name: "New results only" }).click();
    const { more_like, skipped } = (await searched).postDataJSON();
    expect(more_like).toEqual([id]);
    expect(skipped).toContain(other);
    expect(skipped).not.toContain(id);
    await page.getByText(/^Refined by 1 relevant moment, without \d+ shown before$/).waitFor();
    expect(await card(page, other!).count()).toBe(0);
    await page.goBack();
    await refinedBy(page, "1 relevant moment").waitFor();
    await card(page, other!).waitFor({ state: "attached" });
    expect(takeErrors()).toEqual([]);
  });

  it("are pressed by + and −, pressed again to take a judgment back, and the focus stays", async () => {
    const { page } = await openSample("?q=carpenter");
    await page.locator(".moment button.over").first().focus();
    const [judgment] = await Promise.all([nextJudgment(page), page.keyboard.press("+")]);
    const id = judgment.segment_id as string;
    await refinedBy(page, "1 relevant moment").waitFor();
    expect(await focusedSegment(page)).toBe(id);
    const [takenBack] = await Promise.all([nextJudgment(page), page.keyboard.press("+")]);
    expect(takenBack).toMatchObject({ segment_id: id, relevant: null });
    await page.locator(".refined").waitFor({ state: "detached" });
    expect(await focusedSegment(page)).toBe(id);
    expect(await isPressed(card(page, id), "Relevant")).toBe(false);
    const [negative] = await Promise.all([nextJudgment(page), page.keyboard.press("-")]);
    expect(negative).toMatchObject({ segment_id: id, relevant: false });
    await refinedBy(page, "1 not relevant moment").waitFor();
    expect(await focusedSegment(page)).not.toBe(id);
    expect(await focusedSegment(page)).toMatch(/^seg_/);
    await page.getByRole("button", { name: "Undo" }).press("Enter");
    await card(page, id).waitFor();
  });

  it("are as before after a failed request, and the card says why", async () => {
    const { page } = await openSample("?q=carpenter");
    const json = { detail: "An index has at most 10000 judgments; remove some first." };
    await page.route(/\/judgments$/, (route) => route.fulfill({ status: 409, json }));
    await thumb(page, "Relevant").click();
    const notice = page.locator(".moment").first().getByRole("alert");
    await notice.getByText(/wasn't changed\. An index has at most 10000 judgments/).waitFor();
    expect(await thumb(page, "Relevant").getAttribute("aria-pressed")).toBe("false");
    expect(page.url()).not.toContain("refined");
  });

  it("store a further judgment, but say that 20 of a kind refine a search", async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `seg_${i}`);
    const { page } = await openSample();
    await page.route(/\/search$/, (route) => {
      const { more_like: _, ...body } = route.request().postDataJSON();
      return route.continue({ postData: JSON.stringify(body) });
    });
    await page.goto(`${SERVICE_URL}/#/${SAMPLE_INDEX}?q=carpenter&refined=${ids.join(",")}`);
    await refinedBy(page, "20 relevant moments").waitFor();
    await thumb(page, "Relevant").click();
    await page.getByRole("alert").getByText("at most 20 relevant").waitFor();
    expect(await thumb(page, "Relevant").getAttribute("aria-pressed")).toBe("true");
    await Promise.all([nextJudgment(page), thumb(page, "Relevant").click()]);
  });

  it("refine it also with other options, but not a search for other words", async () => {
    const { page } = await openSample("?q=carpenter");
    await thumb(page, "Relevant").click();
    await refinedBy(page, "1 relevant moment").waitFor();
    await openOptions(page);
    await page.getByText("Near-duplicates").click();
    await page.waitForURL(/duplicates=1&refined=seg_\w+$/);
    await refinedBy(page, "1 relevant moment").waitFor();
    await submit(page, "glacier");
    await page.getByRole("heading", { name: "for “glacier”" }).waitFor();
    expect(page.url()).not.toContain("refined");
    expect(await page.locator(".refined").count()).toBe(0);
  });

  it("of a search by a moment judge a queued one, which is refined, too", async () => {
    const { page } = await openSample("?q=carpenter");
    await page
      .getByRole("button", { name: /^More like this/ })
      .first()
      .click();
    await page.getByRole("heading", { name: /like “story\.mp4”/ }).waitFor();
    const [judgment] = await Promise.all([nextJudgment(page), thumb(page, "Relevant").click()]);
    expect(judgment).toMatchObject({ search_id: expect.stringMatching(/^job_/), relevant: true });
    await refinedBy(page, "1 relevant moment").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator(".refined").waitFor({ state: "detached" });
  });

  it("of a search by a clip store judgments, which don't refine it", async () => {
    const { page } = await openSample();
    await page.getByRole("button", { name: "More like this: story.mp4" }).click();
    await page.waitForURL(/similar=vid_/);
    const [, id] = /similar=(\w+)/.exec(page.url())!;
    await page.goto(`${SERVICE_URL}/#/${SAMPLE_INDEX}?range=${id}&name=story.mp4&from=12&to=14`);
    await page.locator("h2.found", { hasText: /moments? like “story\.mp4”/ }).waitFor();
    const [judgment] = await Promise.all([nextJudgment(page), thumb(page, "Relevant").click()]);
    expect(judgment).toMatchObject({ search_id: expect.stringMatching(/^job_/) });
    await page.getByRole("alert").getByText("isn't refined by judgments").waitFor();
    expect(page.url()).not.toContain("refined");
    const [takenBack] = await Promise.all([nextJudgment(page), thumb(page, "Relevant").click()]);
    expect(takenBack).toEqual({ ...judgment, relevant: null });
  });

  it("are absent with a key that may not write, and in a search by an image", async () => {
    const reading = await openConsole(await newReadKey(), `#/${SAMPLE_INDEX}?q=carpenter`);
    await reading.page.locator(".moment").first().waitFor();
    expect(await reading.page.locator(".thumb").count()).toBe(0);
    const { page } = await openSample();
    await page.getByLabel(/^Search by image or clip/).setInputFiles(await samplePath("alps.jpg"));
    await page.locator(".moment").first().waitFor();
    expect(await page.locator(".thumb").count()).toBe(0);
  });
});

describe("the quality of an index", () => {
  it("is linked from its health, and says how to judge if there are too few judgments", async () => {
    const { page } = await openConsole(await newIndexKey("empty"), "#/empty/health");
    await page.getByRole("link", { name: "Quality" }).click();
    await page.getByText("Nothing is judged yet").waitFor();
    await page.getByText("sightline judge FILE.csv").waitFor();
    expect(await page.title()).toBe("Quality · empty · Sightline");
    await page.getByRole("link", { name: "Search this index" }).click();
    await page.locator("#text").waitFor();
  });

  it("has a row for each tenth of the score", async () => {
    const { page } = await openConsole(await newIndexKey("judged"));
    await manyJudgments(page, "judged");
    await page.goto(`${SERVICE_URL}/#/judged/quality`);
    const table = page.getByRole("table", { name: "Judgments by score" });
    await table.getByRole("row", { name: "50–60 % 1,160 673 58 %" }).waitFor();
    await table.getByRole("row", { name: "90–100 % 0 0 –" }).waitFor();
    await page.getByText("12 judgments left out").waitFor();
  });
});

/** Creates an index in a new account, and returns the account's key. */
async function newIndexKey(name: string): Promise<string> {
  const key = await newAccountKey();
  await createIndex(key, name);
  return key;
}

/** Waits for the next judgment that is sent and stored, and returns its body. */
async function nextJudgment(page: Page): Promise<Record<string, unknown>> {
  const response = await page.waitForResponse(/\/judgments$/);
  expect(response.ok()).toBe(true);
  const request: Request = response.request();
  return request.postDataJSON() as Record<string, unknown>;
}

function thumb(within: Page | Locator, name: "Relevant" | "Not relevant"): Locator {
  return within.getByRole("button", { name: new RegExp(`^${name}: `) }).first();
}

async function isPressed(within: Locator, name: "Relevant" | "Not relevant"): Promise<boolean> {
  return (await thumb(within, name).getAttribute("aria-pressed")) === "true";
}

function card(page: Page, segmentId: string): Locator {
  return page.locator(`.moment[data-segment="${segmentId}"]`);
}

function refinedBy(page: Page, text: string): Locator {
  return page.getByText(`Refined by ${text}`, { exact: true });
}

/** Returns the segment of the card with the focus; null if none has it. */
function focusedSegment(page: Page): Promise<string | null> {
  return page.evaluate("document.activeElement.closest('.moment')?.dataset.segment ?? null");
}
