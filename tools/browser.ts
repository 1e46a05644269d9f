import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./chromium.ts";

const FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const MISSING_LIBRARY = /error while loading shared libraries: (.*)/;

/** Starts Chromium without a window. Throws an error of one line if it can't start. */
export async function launchBrowser(): Promise<Browser> {
  const { executablePath, env, libraries } = await findChromium();
  const launch = (more: Record<string, string>) => {
    const variables = { ...definedVariables(), ...env, ...more };
    return chromium.launch({ executablePath, args: FLAGS, env: variables });
  };
  try {
    return await launch({}).catch((error: unknown) => {
      if (libraries === null || !MISSING_LIBRARY.test(String(error))) throw error;
      return launch({ LD_LIBRARY_PATH: libraries });
    });
  } catch (error) {
    throw new Error(`${executablePath} can't start: ${reasonOf(error)}`, { cause: error });
  }
}

function definedVariables(): Record<string, string> {
  const entries = Object.entries(process.env);
  return Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

function reasonOf(error: unknown): string {
  const text = String(error);
  return MISSING_LIBRARY.exec(text)?.[1] ?? text.split("\n", 1)[0]!;
}
