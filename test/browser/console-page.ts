import type { Browser, BrowserContext, Page } from "playwright-core";
import { inject, onTestFinished } from "vitest";
import { launchBrowser } from "../../tools/browser.ts";
import { createKey } from "../../tools/stack/api-key.ts";
import type { ConsoleService } from "../setup/browser.ts";
import { WATCHDOG_MS } from "../support/watchdog.ts";
import { SAMPLE_INDEX } from "./sample-files.ts";

const service = await readService(inject("consoleServiceUrl"));
export const SERVICE_URL = service.url;
/** Key of the account with the index `AWKWARD_INDEX`. */
export const INDEX_KEY = service.key;
export const WEBHOOKS_ORIGIN = service.webhooksOrigin;

/** A page of a new browser profile, and what it logs. */
export interface ConsolePage {
  page: Page;
  context: BrowserContext;
  /** Returns errors that the page logged since the last call, also violations of the CSP. */
  takeErrors: () => string[];
}

async function readService(url: string): Promise<ConsoleService> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as ConsoleService;
}

/** Serves all files that this process tests, and ends with it. */
let browserOfProcess: Promise<Browser> | undefined;

/** Opens a page of a new profile, which is closed with the test. */
export async function openPage(): Promise<ConsolePage> {
  const browser = await (browserOfProcess ??= launchBrowser());
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  onTestFinished(async () => {
    await page.unrouteAll({ behavior: "ignoreErrors" }); // a test may end during a request
    await context.close();
  });
  page.setDefaultTimeout(WATCHDOG_MS);
  return { page, context, takeErrors: collectErrors(page) };
}

/** Opens a page that is signed in with a key and is at a hash of the console, as `#/holidays`. */
export async function openConsole(key = INDEX_KEY, hash = "#/"): Promise<ConsolePage> {
  const opened = await openPage();
  await opened.page.goto(SERVICE_URL + "/" + hash);
  await signIn(opened.page, key);
  return opened;
}

/** Opens the index `SAMPLE_INDEX`; `rest` continues the hash, as `?q=boat` or `/health`. */
export function openSample(rest = ""): Promise<ConsolePage> {
  return openConsole(service.sampleKey, `#/${SAMPLE_INDEX}${rest}`);
}

/** Signs in on the page that asks for a key. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Account" }).waitFor();
}

/** Signs out by the menu of the account. */
export async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
}

/** Creates a key that only reads, of the account with the index `SAMPLE_INDEX`. */
export function newReadKey(): Promise<string> {
  return createKey(service.keySecrets, { account: "sample", scopes: ["read"] });
}

/** Creates a key of a new account. */
export function newAccountKey(expiresAt: number | null = null): Promise<string> {
  return createKey(service.keySecrets, { account: crypto.randomUUID(), expiresAt });
}

/** Creates an index by the API. */
export async function createIndex(key: string, name: string, settings = {}): Promise<void> {
  const headers = { "X-API-Key": key, "Content-Type": "application/json" };
  const body = JSON.stringify({ index_name: name, settings });
  const response = await fetch(`${SERVICE_URL}/index`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`The index isn't created: ${await response.text()}`);
}

/** Searches or asks, as the switch of the form is set. */
export async function submit(page: Page, text: string): Promise<void> {
  await page.locator("#text").fill(text);
  await page.locator("#text").press("Enter");
}

/** Unfolds the options of a search. */
export async function openOptions(page: Page): Promise<void> {
  const toggle = page.getByRole("button", { name: "Options" });
  if ((await toggle.getAttribute("aria-expanded")) === "false") await toggle.click();
}

/** Returns the position of the open player in seconds; 0 if none is open. */
export function playedSeconds(page: Page): Promise<number> {
  return page.evaluate("document.querySelector('video')?.currentTime ?? 0");
}

/** The browser logs each response of the API with an error status, which pages show in words. */
const FAILED_REQUEST = /^Failed to load resource/;
const API_PATH = /^\/index(\/|\?|$)/;

function collectErrors(page: Page): () => string[] {
  let errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    const { url } = message.location();
    const isApiError = FAILED_REQUEST.test(message.text()) && API_PATH.test(pathOf(url));
    if (!isApiError) errors.push(`${message.text()} (${pathOf(url)})`);
  });
  return () => {
    const taken = errors;
    errors = [];
    return taken;
  };
}

function pathOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? parsed.pathname + parsed.search : url;
}
