import type { Page } from "playwright-core";
import { AWKWARD_INDEX, awkwardFiles, unreadable } from "./awkward-files.ts";
import { COMPOSED_VIEWS } from "./composed-views.ts";
import {
  type ConsolePage,
  INDEX_KEY,
  newAccountKey,
  openConsole,
  openOptions,
  openPage,
  openSample,
  submit,
  SERVICE_URL,
} from "./console-page.ts";
import { PAGE_VIEWS } from "./page-views.ts";
import { awkwardSources, unfinishedAssets } from "./replaced-responses.ts";
import { WATCH_VIEWS } from "./watch-views.ts";

const HASH = `#/${AWKWARD_INDEX}`;

/** Every view of the console, in every state that a user can bring it into, by its name. */
export const VIEWS: Record<string, () => Promise<ConsolePage>> = {
  async "the form for the key"() {
    const view = await openPage();
    await view.page.goto(SERVICE_URL);
    await view.page.getByLabel("API key").waitFor();
    return view;
  },
  async "the form for the key, after a wrong key"() {
    const view = await openPage();
    await view.page.goto(SERVICE_URL);
    await view.page.getByLabel("API key").fill("not-a-key");
    await view.page.getByRole("button", { name: "Sign in" }).click();
    await view.page.getByRole("alert").getByText(/./).waitFor();
    return view;
  },
  async "an empty list of indices"() {
    const view = await openConsole(await newAccountKey());
    await view.page.getByText("No index yet").waitFor();
    return view;
  },
  async "a list of indices"() {
    const view = await openConsole();
    await view.page.locator(".card.index").first().waitFor();
    return view;
  },
  async "an empty index"() {
    const view = await openConsole(await newAccountKey());
    await submitIndex(view.page);
    return view;
  },
  async "an index during uploads"() {
    const view = await openConsole(await newAccountKey());
    await submitIndex(view.page);
    await view.page.route(/\/index\/[^/]+\/(video|image)$/, () => {}); // waits for ever
    await view.page.getByLabel("Choose files").setInputFiles(await awkwardFiles());
    await view.page
      .getByText(/Uploading|Checking the file/)
      .first()
      .waitFor();
    return view;
  },
  async "an index with a refused upload"() {
    const view = await openConsole(await newAccountKey());
    await submitIndex(view.page);
    const [file] = await awkwardFiles();
    await view.page.getByLabel("Choose files").setInputFiles([unreadable(file!)]);
    await view.page.getByText("Not added").waitFor();
    return view;
  },
  async "an index with assets in progress"() {
    const view = await openConsole();
    await unfinishedAssets(view.page, AWKWARD_INDEX);
    await view.page.goto(`${SERVICE_URL}/${HASH}`);
    await view.page.getByText("Recognising speech").first().waitFor();
    return view;
  },
  async "an index with a failed video and import sources"() {
    const view = await openConsole();
    await awkwardSources(view.page, AWKWARD_INDEX);
    await view.page.goto(`${SERVICE_URL}/${HASH}`);
    await view.page.locator(".source").first().waitFor();
    await view.page.locator(".card.asset .state", { hasText: "Failed" }).first().waitFor();
    return view;
  },
  async "an open video"() {
    const view = await openLibrary();
    await view.page.getByRole("button", { name: /^Play IMG/ }).click();
    await view.page.locator(".stage dd").first().waitFor();
    return view;
  },
  async "an open image"() {
    const view = await openLibrary();
    await view.page
      .getByRole("button", { name: /^Show .*jpg$/ })
      .first()
      .click();
    await view.page.locator(".stage dd").first().waitFor();
    return view;
  },
  async "an open transcript with a wrong time"() {
    const view = await openLibrary();
    await view.page.getByRole("button", { name: /^Play IMG/ }).click();
    await view.page.getByRole("button", { name: "Write one" }).click();
    await view.page.getByRole("button", { name: "Add a line" }).click();
    await view.page.getByLabel("Text of line 1").fill("W".repeat(200));
    await view.page.getByLabel("End of line 1").fill("soon");
    await view.page.getByRole("button", { name: "Save transcript" }).click();
    await view.page.getByRole("alert").getByText("is not a time").waitFor();
    return view;
  },
  async "the page of a failed video"() {
    const view = await openConsole(INDEX_KEY, `${HASH}/health`);
    await view.page.getByRole("link", { name: /^A part of/ }).click();
    await view.page.locator(".stage .notice.bad").waitFor();
    return view;
  },
  async "the form that adds from the web"() {
    const view = await openLibrary();
    await view.page.getByRole("button", { name: "From the web" }).click();
    await view.page.getByLabel("Kind of source").selectOption("playlist");
    return view;
  },
  async "the question before a deletion"() {
    const view = await openLibrary();
    await view.page
      .getByRole("button", { name: /^Delete / })
      .first()
      .click();
    await view.page.getByRole("dialog").waitFor();
    return view;
  },
  async "search results with boxes"() {
    const view = await openConsole(INDEX_KEY, `${HASH}?q=boat&boxes=1`);
    await view.page.locator(".image-frame svg").first().waitFor();
    return view;
  },
  async "a refined search"() {
    const view = await openConsole(INDEX_KEY, `${HASH}?q=lantern+festival`);
    await view.page
      .getByRole("button", { name: /^Relevant: / })
      .first()
      .click();
    await view.page.locator(".refined").waitFor();
    return view;
  },
  async "a judgment that isn't stored"() {
    const view = await openConsole(INDEX_KEY, `${HASH}?q=lantern+festival`);
    await view.page.route(/\/judgments$/, (route) => route.fulfill({ status: 503, body: "" }));
    await view.page
      .getByRole("button", { name: /^Relevant: / })
      .first()
      .click();
    await view.page.getByText("The judgment wasn't changed.").waitFor();
    return view;
  },
  async "an open search result"() {
    const view = await openConsole(INDEX_KEY, `${HASH}?q=lantern+festival`);
    await view.page.locator(".card.moment button.over").first().click();
    await view.page.locator(".stage dd").first().waitFor();
    return view;
  },
  async "a search without likely results"() {
    const view = await openConsole(INDEX_KEY, `${HASH}?q=${"x".repeat(400)}`);
    await view.page.getByRole("heading", { name: /^No (likely )?results/ }).waitFor();
    return view;
  },
  async "an answer with an open source"() {
    const view = await openConsole(INDEX_KEY, `${HASH}?ask=Where+is+the+lantern+festival%3F`);
    await view.page.locator(".cite").first().click();
    await view.page.locator(".stage dd").first().waitFor();
    return view;
  },
  async "a question without an answer"() {
    const view = await openLibrary();
    await view.page.getByText("Ask", { exact: true }).click();
    await submit(view.page, "Who won the chess championship of 1986?");
    await view.page.getByText("No answer found in this index").waitFor();
    return view;
  },
  async "a question about a part of one video"() {
    const view = await openLibrary();
    await view.page.getByRole("button", { name: /^Play IMG/ }).click();
    await view.page.getByRole("button", { name: /^Search or ask in this video/ }).click();
    await view.page.getByText("Ask", { exact: true }).click();
    await view.page.getByLabel("End of the part in seconds").fill("9");
    await submit(view.page, "Where is the lantern festival?");
    await view.page.locator(".answer:not(.waiting)").waitFor();
    return view;
  },
  async "a search by an image, with a filter"() {
    const view = await openLibrary();
    const [, , image] = await awkwardFiles();
    await view.page.getByLabel("Search by image or clip…").setInputFiles([image!]);
    await view.page.locator(".card.moment").first().waitFor();
    await openOptions(view.page);
    await view.page.getByRole("button", { name: "Add a filter" }).click();
    return view;
  },
  async "notices about files that can't be added"() {
    const view = await openLibrary();
    const names = ["a.txt", "b.doc", `${"c".repeat(200)}.doc`, "d.zip"];
    const files = names.map((name) => ({ name, mimeType: "", buffer: Buffer.from("x") }));
    await view.page.getByLabel("Choose files").setInputFiles(files);
    await view.page.getByRole("button", { name: "Dismiss all" }).waitFor();
    return view;
  },
  async "an open cut list"() {
    const view = await openConsole(INDEX_KEY, `${HASH}?q=boat&masks=1`);
    await view.page
      .getByRole("button", { name: /^Add .*to cut list/i })
      .first()
      .click();
    await view.page.getByRole("button", { name: "Cut list (1)" }).click();
    await view.page.locator("li.cut").waitFor();
    return view;
  },
  async "a search by a clip"() {
    const view = await openLibrary();
    const [video] = await awkwardFiles();
    await view.page.getByLabel(/^Search by image or clip/).setInputFiles(video!);
    await view.page.locator(".card.moment").first().waitFor();
    return view;
  },
  async "a search with filters"() {
    const view = await openConsole(INDEX_KEY, `${HASH}?q=boat`);
    // A row that is added before the first results are shown may be removed with empty rows.
    await view.page.getByRole("heading", { name: "for “boat”" }).waitFor();
    for (const value of ["2024", "W".repeat(200)]) {
      await openOptions(view.page);
      await view.page.getByRole("button", { name: "Add a filter" }).click();
      await view.page.getByLabel("Field of the metadata").last().fill("year");
      await view.page.getByLabel("Value", { exact: true }).last().fill(value);
    }
    await view.page.getByLabel("Value", { exact: true }).last().press("Enter");
    await view.page.getByRole("heading", { name: /^No (likely )?results/ }).waitFor();
    return view;
  },
  async "the editor of a transcript"() {
    const view = await openSample();
    await view.page.getByRole("button", { name: "Play story.mp4" }).click();
    await view.page.getByRole("button", { name: "Edit transcript" }).click();
    await view.page.getByLabel("Text of line 1").fill("W".repeat(200));
    return view;
  },
  async "the editor of an image"() {
    const view = await openSample();
    await view.page.getByRole("button", { name: "Edit nagasaki.jpg" }).click();
    await view.page.getByRole("dialog").getByRole("button", { name: "Add a field" }).click();
    return view;
  },
  async "an index that doesn't exist"() {
    const view = await openConsole(INDEX_KEY, `#/missing-${"W".repeat(56)}`);
    await view.page.getByRole("heading", { name: "There is no index named" }).waitFor();
    return view;
  },
  ...COMPOSED_VIEWS,
  ...PAGE_VIEWS,
  ...WATCH_VIEWS,
};

async function submitIndex(page: Page): Promise<void> {
  await page.getByLabel("Name of a new index").fill(AWKWARD_INDEX);
  await page.getByRole("button", { name: "Create index" }).click();
  await page.locator("ul.grid:not([aria-busy])").waitFor({ state: "attached" });
}

async function openLibrary(): Promise<ConsolePage> {
  const view = await openConsole(INDEX_KEY, HASH);
  await view.page.locator(".card.asset").first().waitFor();
  return view;
}
