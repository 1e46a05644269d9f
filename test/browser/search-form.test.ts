import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { AWKWARD_INDEX, awkwardFiles, type FormFile } from "./awkward-files.ts";
import { newAccountKey, openConsole, openOptions, submit, SERVICE_URL } from "./console-page.ts";

const HASH = `#/${AWKWARD_INDEX}`;
const SOUND: FormFile = { name: "birds.mp4", mimeType: "video/mp4", buffer: Buffer.from("sound") };

describe("the form for searches", () => {
  it("sends a filter with an example image, and moves the slider without another upload", async () => {
    const { page } = await openLibrary();
    const uploads: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/search_image")) uploads.push(request.url());
    });
    await chooseExample(page, (await awkwardFiles())[2]!);
    await resultHeading(page).waitFor();
    await openOptions(page);
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByLabel("Field of the metadata").fill("duration_seconds");
    await page.getByLabel("Comparison").selectOption("$gt");
    await page.getByLabel("Value", { exact: true }).fill("0");
    const sent = page.waitForRequest(/search_image.*filter=/);
    await page.getByLabel("Value", { exact: true }).press("Tab");
    const filter = new URL((await sent).url()).searchParams.get("filter");
    expect(filter).toBe('{"duration_seconds":{"$gt":0}}');
    await page.locator(".card.moment .tag").first().waitFor();
    expect(uploads).toHaveLength(2);

    const entries = await historyLength(page);
    await page.getByRole("slider", { name: "Results" }).focus();
    for (let presses = 0; presses < 6; presses++) await page.keyboard.press("ArrowRight");
    await page.waitForURL(/least=0\.3/);
    await resultHeading(page).waitFor();
    await page.getByRole("slider", { name: "Results" }).press("ArrowLeft");
    await page.waitForURL(/least=0\.25/);
    expect(await historyLength(page)).toBe(entries);
    expect(uploads).toHaveLength(2);
  });

  it("keeps an empty filter row with the focus when results come, and removes it without", async () => {
    const { page } = await openLibrary();
    await page.locator("#text").fill("boat");
    await page.locator("#text").press("Enter");
    await openOptions(page);
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.locator(".card.moment").first().waitFor();
    await page.evaluate("history.back()");
    await page.locator(".card.asset").first().waitFor();
    const field = page.getByLabel("Field of the metadata");
    expect(await field.evaluate((input) => input === input.ownerDocument.activeElement)).toBe(true);
    await page.goForward();
    await page.locator(".card.moment").first().waitFor();
    expect(await field.count()).toBe(1);
    await page.locator("#text").focus();
    await field.waitFor({ state: "detached" });
  });

  it("doesn't keep an empty filter row when the view changes", async () => {
    const { page } = await openLibrary();
    await openOptions(page);
    await page.getByRole("button", { name: "Add a filter" }).click();
    expect(await page.locator(".rules li").count()).toBe(1);
    await page.getByRole("link", { name: "Health" }).click();
    await page.getByRole("link", { name: "Library" }).click();
    await page.locator(".card.asset").first().waitFor();
    expect(await page.locator(".rules li").count()).toBe(0);
  });

  it("proposes folders for a filter, takes a part of a path, and says what a filter alone is for", async () => {
    const { page } = await openLibrary();
    const folders = ["Trip/Day 1", "Trip/Day 2", "Garden"];
    await page.route(/\/aggregate$/, (route) => {
      const groups = folders.map((key) => ({ key, title: null, count: 1 }));
      return route.fulfill({ json: { groups } });
    });
    await openOptions(page);
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByLabel("Field of the metadata").fill("folder");
    const value = page.getByLabel("Value", { exact: true });
    await expect.poll(() => page.locator("#filter-folders option").count()).toBe(folders.length);
    expect(await value.getAttribute("list")).toBe("filter-folders");
    await value.fill("day 2");
    await value.press("Enter");
    await page.getByRole("alert").getByText("Filters narrow a search").waitFor();
    expect(await value.inputValue()).toBe("Trip/Day 2");
    const sent = page.waitForRequest(/\/search$/);
    await submit(page, "lantern");
    expect((await sent).postDataJSON()).toMatchObject({
      filter: { folder: { $eq: "Trip/Day 2" } },
    });
  });

  it("keeps the results and the filters when Escape clears the words", async () => {
    const { page } = await openLibrary();
    await page.goto(`${SERVICE_URL}/${HASH}?q=lantern&modes=image`);
    await resultHeading(page).waitFor();
    await page.locator("#text").press("Escape");
    expect(await page.locator("#text").inputValue()).toBe("");
    expect(page.url()).toContain("?q=lantern&modes=image");
    await resultHeading(page).waitFor();
  });

  it("offers no other try for a clip that can't be read", async () => {
    const { page } = await openLibrary();
    await chooseExample(page, SOUND);
    const notice = page.locator("[data-part=results] .notice.bad");
    await notice.waitFor();
    expect(await notice.getByRole("button").count()).toBe(0);
  });

  it("takes a pasted image wherever the focus is, but for other text fields", async () => {
    const { page } = await openLibrary();
    await page.getByLabel("Words of the title").focus();
    await paste(page);
    expect(page.url()).not.toContain("image=");
    await page.getByRole("link", { name: "Library" }).focus();
    await paste(page);
    await page.waitForURL(/image=1/);
    await page.locator(".example", { hasText: "pasted.png" }).waitFor();
  });

  it("asks for the best moment of each video and for near-duplicates, which a reload keeps", async () => {
    const { page } = await openLibrary();
    await page.goto(`${SERVICE_URL}/${HASH}?q=lantern`);
    await resultHeading(page).waitFor();
    await openOptions(page);
    await page.getByText("Best of each video").click();
    await page.waitForURL(/grouped=1/);
    const sent = page.waitForRequest((request) => {
      return request.url().endsWith("/search") && request.postDataJSON().collapse === false;
    });
    await page.getByText("Near-duplicates").click();
    expect((await sent).postDataJSON()).toMatchObject({ group_by: "asset" });
    await page.reload();
    await resultHeading(page).waitFor();
    expect(await page.getByLabel("Best of each video").isChecked()).toBe(true);
  });
});

describe("a search and a question about one video", () => {
  it("start at the open video, and end where the chip beside the field is removed", async () => {
    const { page } = await openLibrary();
    await openVideo(page);
    await page.getByRole("button", { name: /^Search or ask in this video/ }).click();
    await page.locator(".example", { hasText: "Only in IMG_" }).waitFor();
    const searched = page.waitForRequest(/\/search$/);
    await page.keyboard.type("cabin"); // the field has the focus
    await page.keyboard.press("Enter");
    expect((await searched).postDataJSON()).toMatchObject({
      asset_ids: [expect.stringMatching(/^vid_/)],
    });
    await resultHeading(page).getByText("in “IMG_").waitFor();

    await page.getByText("Ask", { exact: true }).click();
    await page.locator("#text").fill("Who built the cabin?");
    await page.getByLabel("Start of the part in seconds").fill("2");
    await page.getByLabel("End of the part in seconds").fill("6");
    const asked = page.waitForRequest(/answer_vqa/);
    await page.locator("#text").press("Enter");
    const { pathname, searchParams } = new URL((await asked).url());
    expect(pathname).toMatch(/\/vid_\w+\/answer_vqa$/);
    expect(Object.fromEntries(searchParams)).toMatchObject({ start_time: "2", end_time: "6" });
    await page.locator(".answer:not(.waiting)").waitFor();
    await page.reload();
    await page.locator(".answer:not(.waiting)").waitFor();

    const wide = page.waitForRequest(/\/answer\?/);
    await page.getByRole("button", { name: "Search the whole index again" }).click();
    expect(new URL((await wide).url()).searchParams.get("query")).toBe("Who built the cabin?");
    expect(await page.locator(".example").count()).toBe(0);
  });

  it("are joined by the list of its moments, which play", async () => {
    const { page } = await openLibrary();
    await openVideo(page);
    const moments = page.getByRole("list", { name: "Moments" });
    await moments.getByRole("button").nth(1).click();
    await expect
      .poll(() => page.evaluate("document.querySelector('video').currentTime"))
      .toBeGreaterThan(0);
    await page.locator(".moments").getByText("composed of what detectors found").waitFor();
  });
});

describe("an answer", () => {
  it("from the images is asked for by a tick, which a reload keeps", async () => {
    const { page } = await openLibrary();
    await captionsBy(page, "@cf/google/gemma-4-26b-a4b-it");
    await page.getByText("Ask", { exact: true }).click();
    await page.getByText("From the images, too").click();
    const asked = page.waitForRequest(/\/answer_vqa\?/);
    await submit(page, "Where is the lantern festival?");
    await asked;
    await page.locator(".answer .text").waitFor();
    const again = page.waitForRequest(/\/answer_vqa\?/);
    await page.reload();
    await again;
  });

  it("from the images can't be asked for without a model that sees images, which is said", async () => {
    const { page } = await openLibrary();
    await captionsBy(page, "template");
    await page.getByText("Ask", { exact: true }).click();
    await page.getByText("needs a model that sees images").waitFor();
    expect(await page.getByLabel("From the images, too").isDisabled()).toBe(true);
  });

  it("that isn't there says of the closest moments how well they match the search", async () => {
    const { page } = await openLibrary();
    await page.goto(`${SERVICE_URL}/${HASH}?ask=When+does+the+lantern+festival+end%3F`);
    const answer = page.locator(".answer:not(.waiting)");
    await answer.waitFor();
    expect(await answer.textContent()).toContain("No answer found in this index");
    const closest = page.getByRole("list", { name: "Closest moments" });
    await closest
      .getByText(/^Matches the search to \d+ %/)
      .first()
      .waitFor();
    expect(await closest.getByText(/ikely match/).count()).toBe(0);
  });

  it("without a language model says so, and names what makes answers better", async () => {
    const { page } = await openLibrary();
    await page.goto(`${SERVICE_URL}/${HASH}?ask=Where+is+the+lantern+festival%3F`);
    await page.locator(".answer").getByText("LOCAL_LLM_URL").waitFor();
  });

  it("of an empty index is that it is empty", async () => {
    const { page } = await openConsole(await newAccountKey());
    await page.getByLabel("Name of a new index").fill("empty");
    await page.getByRole("button", { name: "Create index" }).click();
    await page.getByRole("heading", { name: "empty" }).waitFor();
    await page.goto(`${SERVICE_URL}/#/empty?ask=Who+built+the+cabin%3F`);
    await page.getByText("Nothing in this index is ready yet").waitFor();
  });
});

async function openLibrary() {
  const opened = await openConsole();
  await opened.page.goto(`${SERVICE_URL}/${HASH}`);
  await opened.page.locator(".card.asset").first().waitFor();
  return opened;
}

async function openVideo(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Play IMG/ }).click();
  await page.locator(".stage dd").first().waitFor();
}

async function chooseExample(page: Page, file: FormFile): Promise<void> {
  await page.getByLabel("Search by image or clip…").setInputFiles([file]);
}

/** Says that a model wrote the captions of videos. */
async function captionsBy(page: Page, model: string): Promise<void> {
  await page.route(/\/segments\?/, (route) =>
    route.fulfill({ json: { segments: [{ caption_model: model }], total: 1, next_cursor: null } }),
  );
}

function resultHeading(page: Page): Locator {
  return page.locator("h2.found", { hasText: /moment|results/ });
}

function historyLength(page: Page): Promise<number> {
  return page.evaluate("history.length");
}

/** Pastes an image of one pixel where the focus is. */
async function paste(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const blob = await new Promise((resolve) => canvas.toBlob(resolve));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([blob], "pasted.png", { type: "image/png" }));
    const options = { clipboardData, bubbles: true, cancelable: true };
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", options));
  })()`);
}
