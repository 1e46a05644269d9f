import { expect, it } from "vitest";
import { newAccountKey, openConsole, SERVICE_URL } from "./console-page.ts";

it("any name makes an index: the API's name is a similar one, and the typed one describes it", async () => {
  const { page } = await openConsole(await newAccountKey());
  for (const name of ["Familienarchiv-2022", "Familienarchiv-2022-2"]) {
    await page.goto(`${SERVICE_URL}/#/`);
    await page.getByLabel("Name of a new index").fill("Familienarchiv 2022");
    await page.getByRole("button", { name: "Create index" }).click();
    await page.getByRole("heading", { name, exact: true }).waitFor();
    expect(page.url()).toBe(`${SERVICE_URL}/#/${name}`);
  }
  await page.goto(`${SERVICE_URL}/#/`);
  const descriptions = page
    .locator(".card.index")
    .getByText("Familienarchiv 2022", { exact: true });
  await expect.poll(() => descriptions.count()).toBe(2);
});
