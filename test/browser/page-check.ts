import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import type { ConsolePage } from "./console-page.ts";

/** Widths of a laptop and of a phone. */
const WIDTHS = [1280, 360];
const HEIGHT = 900;
/** Options of axe-core. The rule is experimental, and off by default. */
const ALL_RULES = { rules: { "label-content-name-mismatch": { enabled: true } } };
/** Between light and dark only colours change. */
const COLOUR_RULES = { runOnly: ["color-contrast"] };

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

interface AxeViolation {
  id: string;
  impact: string;
  nodes: { target: string[]; failureSummary: string }[];
}

/**
 * Returns a sentence for each thing that is wrong with the page as it is: findings of
 * axe-core, what sticks out of its card or of the page, and logged errors.
 */
export async function findProblems({ page, takeErrors }: ConsolePage): Promise<string[]> {
  const problems: string[] = [];
  await page.evaluate(AXE); // by the browser, so that the page's CSP stays as it is
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme: "light" });
    await settle(page);
    const found = [...(await findViolations(page, ALL_RULES)), ...(await findOverflows(page))];
    await page.emulateMedia({ colorScheme: "dark" });
    await settle(page);
    const foundInDark = await findViolations(page, COLOUR_RULES);
    problems.push(...found.map((problem) => `${width} px: ${problem}`));
    problems.push(...foundInDark.map((problem) => `${width} px, dark: ${problem}`));
  }
  return [...problems, ...takeErrors().map((error) => `logs: ${error}`)];
}

/**
 * Waits until a page has drawn a new size or scheme. Its listeners for the scheme may run a frame
 * later than its styles, and a transition that ends may start those of the elements below.
 */
async function settle(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const nextFrame = () => new Promise((done) => requestAnimationFrame(done));
    const listRunning = () => document.getAnimations().filter(({ playState, effect }) =>
      playState === "running" && effect.getComputedTiming().endTime !== Infinity);
    for (let frames = 0; frames < 2; frames++) await nextFrame();
    for (let running = listRunning(); running.length > 0; running = listRunning()) {
      await Promise.allSettled(running.map(({ finished }) => finished));
      await nextFrame();
    }
  })()`);
}

async function findViolations(page: Page, rules: object): Promise<string[]> {
  const options = JSON.stringify({ resultTypes: ["violations"], ...rules });
  const violations = await page.evaluate<AxeViolation[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return violations.map(({ id, impact, nodes }) => {
    const [{ target, failureSummary } = { target: [], failureSummary: "" }] = nodes;
    return `${id}, ${impact}, ${nodes.length} × ${target.join(" ")}: ${oneLine(failureSummary)}`;
  });
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").slice(0, 300);
}

/**
 * Lists what sticks out of its card, also text, and whether the page or a part of it scrolls
 * sideways, but for code.
 */
function findOverflows(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const problems = [];
    const name = (element) => element.tagName.toLowerCase() + "." + element.className;
    if (document.scrollingElement.scrollWidth > innerWidth) problems.push("the page scrolls sideways");
    for (const element of document.body.querySelectorAll("*:not(pre)")) {
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
      if (scrolls && element.scrollWidth > element.clientWidth) problems.push(name(element) + " scrolls sideways");
    }
    const isClipped = (element, card) => {
      for (let at = element; at !== card; at = at.parentElement) {
        if (getComputedStyle(at).overflow !== "visible") return true;
      }
      return false;
    };
    for (const card of document.querySelectorAll(".card, .stage, .answer, .notice, .drop, .source, .empty, .panel, dialog[open]")) {
      const outer = card.getBoundingClientRect();
      if (outer.width === 0) continue;
      const walker = document.createTreeWalker(card, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = walker.currentNode;
        const isText = node.nodeType === Node.TEXT_NODE;
        const element = isText ? node.parentElement : node;
        const isHidden = !element.checkVisibility(); // such as in a closed <details>
        if (isHidden || isClipped(node.parentElement, card)) continue;
        const range = document.createRange();
        range.selectNode(node);
        const box = isText ? range.getBoundingClientRect() : node.getBoundingClientRect();
        if (box.width === 0) continue;
        const isInside = box.left >= outer.left - 1 && box.right <= outer.right + 1 &&
          box.top >= outer.top - 1 && box.bottom <= outer.bottom + 1;
        if (!isInside) problems.push(name(isText ? node.parentElement : node) + " sticks out of " + name(card));
      }
    }
    return [...new Set(problems)];
  })()`);
}
