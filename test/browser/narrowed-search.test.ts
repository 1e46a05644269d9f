import { expect, it } from "vitest";
import { facetCounts, nextSearch, searchesAcross } from "./composed-responses.ts";
import { createIndex, newAccountKey, openConsole, openSample } from "./console-page.ts";
import { SAMPLE_INDEX } from "./sample-files.ts";

it("all indices or some are chosen by keyboard, and address and reload keep the choice", async () => {
  const { page } = await openSample("?q=boat");
  await searchesAcross(page, SAMPLE_INDEX);
  await page.locator(".card.moment").first().waitFor();
  const choice = page.getByRole("button", { name: "In this index" });
  await choice.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("checkbox", { name: /^All indices/ }).focus();
  const sent = nextSearch(page, (body) => body.index_names !== undefined);
  await page.keyboard.press("Space");
  expect(await sent).toMatchObject({ query: "boat", index_names: "*" });
  await page.getByRole("heading", { name: "for “boat” in all indices" }).waitFor();
  await page.getByText("The index did not answer within 10 s.").waitFor();
  await page.locator(".card.moment").first().getByRole("link", { name: SAMPLE_INDEX }).waitFor();
  expect(await page.getByRole("button", { name: /^Relevant/ }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Watch this" }).count()).toBe(0);

  await page.reload();
  await page.getByRole("heading", { name: "for “boat” in all indices" }).waitFor();
  await page.getByRole("button", { name: "In all indices" }).click();
  await page.getByRole("checkbox", { name: /^All indices/ }).uncheck();
  await page.getByRole("button", { name: "In this index" }).waitFor();
  await page.waitForURL((url) => !url.hash.includes("across"));
});

it("a question is asked of the chosen indices", async () => {
  const { page } = await openConsole(await newAccountKey(), "#/");
  await page.getByLabel("Name of a new index").fill("first");
  await page.getByRole("button", { name: "Create index" }).click();
  await page.getByRole("button", { name: "In this index" }).click();
  await page.getByText("This is your only index.").waitFor();
  await page.getByRole("checkbox", { name: /^All indices/ }).check();
  await page.getByText("Ask", { exact: true }).click();
  expect(await page.getByText("From the images, too").isVisible()).toBe(false);
  await page.locator("#text").fill("Who built the cabin?");
  const asked = page.waitForRequest((request) => new URL(request.url()).pathname === "/answer");
  await page.locator("#text").press("Enter");
  const { searchParams } = new URL((await asked).url());
  expect(searchParams.getAll("index_names")).toEqual(["*"]);
  expect(page.url()).toContain("across=*");
});

it("a choice of indices begins with the open one and those that are ticked", async () => {
  const key = await newAccountKey();
  for (const name of ["first", "second", "third"]) await createIndex(key, name); // in this order
  const { page } = await openConsole(key, "#/first?q=boat");
  await searchesAcross(page, "first");
  await page.getByRole("button", { name: "In this index" }).click();
  const sent = nextSearch(page, (body) => body.index_names !== undefined);
  await page.getByLabel("third").check();
  expect(await sent).toMatchObject({ index_names: ["first", "third"] });
  await page.getByRole("button", { name: "In 2 indices" }).waitFor();
  const single = nextSearch(page, (body) => String(body.index_names) === "third");
  await page.getByLabel("first").uncheck();
  await single;
  await page.getByRole("heading", { name: "for “boat” in “third”" }).waitFor();
});

it("a click on a value of a facet filters the search, and a second one takes it back", async () => {
  const { page } = await openSample("?q=boat");
  await facetCounts(page, { label: { boat: 4 }, "metadata.year": { 1865: 3, 1870: 1 } });
  await page.locator(".card.moment").first().waitFor();
  const counted = nextSearch(page, ({ facets }) => facets !== undefined);
  await page.getByText("Narrow down").click();
  expect(await counted).toMatchObject({ top_p: 0.5 }); // less likely hits are folded
  const year = page.getByRole("group", { name: "year" }).getByRole("button", { name: /^1870/ });
  const filtered = nextSearch(page, ({ filter }) => filter !== undefined);
  await year.click();
  expect(await filtered).toMatchObject({ filter: { year: { $eq: 1870 } } });
  await page.waitForURL(/filter=/);
  await page.locator("[aria-pressed=true]", { hasText: "1870" }).waitFor();
  expect(await page.getByLabel("Field of the metadata").inputValue()).toBe("year");
  const whole = nextSearch(page, ({ filter }) => filter === undefined);
  await year.press("Enter");
  await whole;
  const label = page.getByRole("group", { name: "Labels" }).getByRole("button", { name: /^boat/ });
  const labelled = nextSearch(page, ({ all }) => all !== undefined);
  await label.click();
  expect(await labelled).toMatchObject({ query: "boat", all: ["boat"] });
  await page.waitForLoadState("networkidle");
});
