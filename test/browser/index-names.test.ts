import { expect, it } from "vitest";
import { createIndex, newAccountKey, openConsole, SERVICE_URL } from "./console-page.ts";

it("any name makes an index, which is shown under it and says its similar name in the API", async () => {
  const { page } = await openConsole(await newAccountKey());
  const title = "Familienarchiv Köln 2022";
  const names = ["Familienarchiv-Koeln-2022", "Familienarchiv-Koeln-2022-2"];
  for (const name of names) {
    await page.goto(`${SERVICE_URL}/#/`);
    await page.getByLabel("Name of a new index").fill(title);
    await page.getByRole("button", { name: "Create index" }).click();
    await page.getByText(`Name in the API: ${name}`).waitFor();
    await page.getByRole("heading", { name: title, exact: true }).waitFor();
    expect(page.url()).toBe(`${SERVICE_URL}/#/${name}`);
  }
  await page.goto(`${SERVICE_URL}/#/`);
  const cards = page.locator(".card.index", { hasText: title });
  await expect.poll(() => cards.count()).toBe(2);
  for (const name of names)
    await cards.getByText(`API: ${name}`, { exact: false }).first().waitFor();
});

it("the page of an index that isn't there says so, and leads to those that are", async () => {
  const key = await newAccountKey();
  const { page } = await openConsole(key, "#/no-such-index?q=boat");
  await page.getByRole("heading", { name: "There is no index named “no-such-index”" }).waitFor();
  await createIndex(key, "no-such-index");
  await page.getByRole("main").getByRole("link", { name: "All indices" }).click();
  await page.getByRole("link", { name: "no-such-index" }).click();
  await page.getByText("Drop files or folders").waitFor();
});

it("the name and the description of an index are changed one without the other", async () => {
  const { page } = await openConsole(await newAccountKey());
  await page.getByLabel("Name of a new index").fill("Köln 2022");
  await page.getByRole("button", { name: "Create index" }).click();
  await page.getByRole("heading", { name: "Köln 2022", exact: true }).waitFor();
  const save = async (label: string, text: string) => {
    await page.goto(`${SERVICE_URL}/#/Koeln-2022/settings`);
    await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByRole("button", { name: "Save", exact: true }).first().click();
    await page.locator("form").getByText("Saved.").waitFor();
    await page.reload();
  };
  await save("Description", "Films of a summer");
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Köln 2022");
  await save("Name", "Köln im Sommer");
  expect(await page.getByLabel("Description").inputValue()).toBe("Films of a summer");
  await page.getByRole("heading", { name: "Köln im Sommer", exact: true }).waitFor();
});
