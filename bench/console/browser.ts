import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type BrowserContext, chromium, type Page } from "playwright-core";

const FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A page of a new browser profile, and what it logs. */
export interface ConsolePage {
  page: Page;
  context: BrowserContext;
  /** Returns errors that the page logged since the last call, also violations of the CSP. */
  takeErrors: () => string[];
}

/**
 * Runs `work` with a page of Chromium, which is closed in every case. The path of the browser is
 * the environment variable CHROMIUM, `/usr/bin/chromium` by default. Throws a readable error if
 * there is none.
 */
export async function withBrowser<T>(
  signal: AbortSignal,
  work: (page: ConsolePage) => Promise<T>,
): Promise<T> {
  const executablePath = process.env["CHROMIUM"] || "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(
      `There is no browser at ${executablePath}. Install Debian's package chromium, or set the ` +
        "environment variable CHROMIUM to the path of Chromium or Chrome.",
    );
  }
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const close = () => void browser.close();
  signal.addEventListener("abort", close);
  try {
    const context = await browser.newContext({ reducedMotion: "reduce" });
    // Injected by the browser, not by the page, so that the page's CSP stays as it is.
    await context.addInitScript({ content: await readAxe() });
    const page = await context.newPage();
    return await work({ page, context, takeErrors: collectErrors(page) });
  } finally {
    signal.removeEventListener("abort", close);
    await browser.close();
  }
}

function readAxe(): Promise<string> {
  return readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
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
