import { join } from "node:path";
import type { Page } from "playwright-core";
import type { ConsolePage } from "./browser.ts";

/** Widths of a phone, a tablet and a large screen in CSS pixels. */
const WIDTHS = [360, 768, 1600];
const HEIGHT = 900;
const SCHEMES = ["light", "dark"] as const;
const FAILING_IMPACTS = new Set(["serious", "critical"]);

/** What is wrong with a page in one state. */
export interface StateCheck {
  state: string;
  /** Rules of axe-core that the page breaks seriously or critically, with the first element. */
  axe: string[];
  /** Widths in pixels at which the page or a part of it scrolls sideways. */
  overflows: number[];
  errors: string[];
}

interface AxeViolation {
  id: string;
  impact: string;
  nodes: { target: string[]; failureSummary: string }[];
}

/**
 * Checks the page as it is at every width and in both colour schemes, and writes screenshots to
 * `folder` if it isn't null.
 */
export async function checkState(
  { page, takeErrors }: ConsolePage,
  state: string,
  folder: string | null,
): Promise<StateCheck> {
  const axe = new Set<string>();
  const overflows = new Set<number>();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await settle(page);
      for (const violation of await findViolations(page)) axe.add(`${violation} (${colorScheme})`);
      if (await scrollsSideways(page)) overflows.add(width);
      if (folder === null) continue;
      const name = `${state.replaceAll(/\W+/g, "-")}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: join(folder, name), fullPage: true });
    }
  }
  return { state, axe: [...axe], overflows: [...overflows], errors: takeErrors() };
}

/** Waits until the styles of a new size or scheme are drawn. */
async function settle(page: Page): Promise<void> {
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
}

async function findViolations(page: Page): Promise<string[]> {
  const violations = await page.evaluate<AxeViolation[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return violations
    .filter(({ impact }) => FAILING_IMPACTS.has(impact))
    .map(({ id, impact, nodes }) => {
      const [{ target, failureSummary } = { target: [], failureSummary: "" }] = nodes;
      return `${id}, ${impact}, ${nodes.length} × ${target.join(" ")}: ${oneLine(failureSummary)}`;
    });
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").slice(0, 300);
}

/** Returns whether the page scrolls sideways, or a part of it that isn't code. */
function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(`
    document.scrollingElement.scrollWidth > innerWidth ||
    [...document.body.querySelectorAll("*:not(pre)")].some((element) =>
      ["auto", "scroll"].includes(getComputedStyle(element).overflowX) &&
      element.scrollWidth > element.clientWidth)`);
}
