import { AWKWARD_INDEX } from "./awkward-files.ts";
import { composedSearches, facetCounts, searchesAcross } from "./composed-responses.ts";
import { type ConsolePage, openConsole, SERVICE_URL } from "./console-page.ts";

const LONG = "W".repeat(200);

/** Searches with steps, conditions, several indices and facets. */
export const COMPOSED_VIEWS: Record<string, () => Promise<ConsolePage>> = {
  async "a search for a sequence"() {
    const view = await openConsole();
    await composedSearches(view.page, "lantern festival");
    await visit(view, `?q=boat&then=${LONG}&then=a+lighthouse&within=30`);
    await view.page.locator(".steps").first().waitFor();
    return view;
  },
  async "a search with conditions"() {
    const view = await openConsole();
    await composedSearches(view.page, "lantern festival");
    await visit(view, `?q=boat&all=a+dog&none=${LONG}&none=people&around=5`);
    await view.page.locator(".conditions").first().waitFor();
    return view;
  },
  async "a search in all indices, with one that is missing"() {
    const view = await openConsole();
    await searchesAcross(view.page, AWKWARD_INDEX);
    await visit(view, "?q=lantern+festival&across=*");
    await view.page.getByRole("button", { name: "In all indices" }).click();
    await view.page.getByRole("checkbox", { name: /^All indices/ }).waitFor();
    await view.page.locator(".card.moment").first().waitFor();
    return view;
  },
  async "a dense grid of results, of which one is open"() {
    const view = await openConsole();
    await visit(view, "?q=boat&modes=video&layout=dense");
    await view.page.locator("summary", { hasText: /results$/ }).waitFor();
    await view.page
      .getByRole("button", { name: /^Play / })
      .first()
      .click();
    await view.page.locator(".neighbours [aria-current]").waitFor();
    return view;
  },
  async "a row of results for each video"() {
    const view = await openConsole();
    await visit(view, "?q=boat&layout=rows");
    await view.page.locator(".asset-row").first().waitFor();
    return view;
  },
  async "the keys of the console"() {
    const view = await openConsole();
    await view.page.locator(".card.index").first().waitFor();
    await view.page.keyboard.press("?");
    await view.page.getByRole("dialog").waitFor();
    return view;
  },
  async "the facets of a search"() {
    const view = await openConsole();
    const label = { [LONG]: 1200, boat: 3 };
    await facetCounts(view.page, { label, asset_type: { image: 3 }, "taken_at.year": { 1870: 1 } });
    await visit(view, "?q=lantern+festival&modes=image");
    await view.page.locator(".card.moment").first().waitFor();
    await view.page.getByText("Narrow down").click();
    await view.page.getByRole("button", { name: /^boat/ }).waitFor();
    return view;
  },
};

async function visit({ page }: ConsolePage, rest: string): Promise<void> {
  await page.goto(`${SERVICE_URL}/#/${AWKWARD_INDEX}${rest}`);
}
