import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import {
  createIndex,
  newAccountKey,
  openConsole,
  openSample,
  SERVICE_URL,
} from "./console-page.ts";
import { samplePath } from "./sample-files.ts";

it("“Watch this” fills in the form, and a preview answers for other probabilities without a new job", async () => {
  const { page, takeErrors } = await openSample("?q=carpenter&modes=speech,video");
  const main = page.getByRole("main");
  let previews = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/watches/preview")) previews++;
  });
  await page.getByRole("link", { name: "Watch this" }).click();
  await page.getByText("only videos · only by speech").waitFor();
  expect(await page.getByLabel("What to watch for").inputValue()).toBe("carpenter");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("list", { name: "Nearest to 90 %" }).locator(".card").first().waitFor();
  await main.getByText(/^From 90 %, .* of this index would have matched/).waitFor();
  await page.getByRole("button", { name: "50 % as lowest probability" }).click();
  await main.getByText(/^From 50 %, .* of this index would have matched/).waitFor();
  expect(await slider(page).inputValue()).toBe("50");
  await slider(page).fill("83");
  await main.getByText("83 % wasn't previewed.").waitFor();
  expect(previews).toBe(1);
  await page.getByRole("button", { name: "Preview from 83 %" }).click();
  await main.getByText(/^From 83 %, /).waitFor();
  expect(previews).toBe(2);
  await page.getByLabel("What to watch for").fill("a carpenter's house");
  await page.getByText("has changed since this preview").waitFor();
  await page.reload();
  expect(await page.getByLabel("What to watch for").inputValue()).toBe("a carpenter's house");
  expect(await slider(page).inputValue()).toBe("83");
  expect(takeErrors()).toEqual([]);
});

it("matches appear on the page of a watch while it is open, and it is paused, edited and deleted", async () => {
  const key = await newAccountKey();
  await createIndex(key, "gate");
  const { page, takeErrors } = await openConsole(key, "#/gate");
  await page.getByRole("link", { name: "Watches" }).click();
  await page.getByText("No watches yet.").waitFor();
  await page.getByRole("link", { name: "New watch" }).click();
  await page.getByRole("button", { name: "Create watch" }).click();
  await page.getByRole("alert").getByText("Say what to watch for").waitFor();
  await page.getByLabel("What to watch for").fill("boat");
  await slider(page).fill("10");
  await page.getByRole("button", { name: "Create watch" }).click();
  await page.getByRole("heading", { name: "boat", exact: true }).waitFor();
  await page.getByText("No matches yet.").waitFor();

  await addImage(key, "gate", "nagasaki.jpg");
  const matches = page.getByRole("list", { name: "Matches" });
  await matches.getByRole("heading", { name: "nagasaki.jpg" }).waitFor();
  await page.getByText("1 new match.").waitFor({ state: "attached" });
  await page.getByText(/· 1 match$/).waitFor();
  expect(await page.getByText("No matches yet.").count()).toBe(0);

  await page.getByRole("button", { name: "Pause boat" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await page.getByRole("link", { name: "All watches" }).click();
  await page.getByRole("button", { name: "Resume boat" }).click();
  await page.getByRole("button", { name: "Edit boat" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Boats");
  await page.getByRole("dialog").getByLabel("What to watch for").fill("a boat");
  await page.getByRole("dialog").getByRole("slider").fill("80");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("“a boat” · from 80 % · 1 match").waitFor();
  await page.getByRole("link", { name: "Boats" }).click();
  await page.getByRole("button", { name: "Preview" }).click();
  const main = page.getByRole("main");
  await main.getByText(/^From 80 %, .* this index would have matched/).waitFor();
  await page.getByRole("button", { name: "50 % as lowest probability" }).click();
  await page.getByRole("button", { name: "Match from 50 % from now on" }).click();
  await page.getByText("“a boat” · from 50 % · 1 match").waitFor();
  await page.getByRole("link", { name: "All watches" }).click();
  await page.getByRole("button", { name: "Delete Boats" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No watches yet.").waitFor();
  expect(takeErrors()).toEqual([]);
});

it("an image is watched for once its preview as a paused watch is confirmed, and a reload asks for it", async () => {
  const key = await newAccountKey();
  await createIndex(key, "gate");
  const { page } = await openConsole(key, "#/gate");
  const image = await samplePath("nagasaki.jpg");
  await page.getByLabel(/^Search by image or clip/).setInputFiles(image);
  await page.getByRole("link", { name: "Watch this" }).click();
  await page.locator(".watch-example").getByText("Image: nagasaki.jpg").waitFor();
  await page.reload();
  await page.getByText("only known until the page is reloaded").waitFor();
  await page.getByLabel("Choose another image…").setInputFiles(image);
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("main").getByText("nothing in this index would have matched").waitFor();
  await page.getByRole("button", { name: "Create watch" }).click();
  await page.getByRole("heading", { name: "Like nagasaki.jpg" }).waitFor();
  expect(await page.getByText("Paused", { exact: true }).count()).toBe(0);
  await page.getByRole("link", { name: "All watches" }).click();
  const items = page.getByRole("list", { name: "Watches" }).locator("li");
  await items.getByText("like an image · from 90 % · 0 matches").waitFor();
  expect(await items.count()).toBe(1);
});

function slider(page: Page) {
  return page.getByRole("slider", { name: "Lowest probability" });
}

async function addImage(key: string, index: string, name: string): Promise<void> {
  const form = new FormData();
  form.append("image_file", new File([await readFile(await samplePath(name))], name));
  const options = { method: "POST", headers: { "X-API-Key": key }, body: form };
  const response = await fetch(`${SERVICE_URL}/index/${index}/image`, options);
  if (!response.ok) throw new Error(`The image isn't added: ${await response.text()}`);
}
