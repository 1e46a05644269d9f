import { NO_CHROMIUM } from "../../tools/chromium.ts";

/** Says once in a run that there is no browser for tests. */
export default function warn(): void {
  console.warn(`Left out: the tests of the console, test/browser. ${NO_CHROMIUM}`);
}
