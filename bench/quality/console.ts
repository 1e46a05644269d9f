import { mkdir } from "node:fs/promises";
import { withBrowser } from "../console/browser.ts";
import { checkState, type StateCheck } from "../console/page-check.ts";
import { checkLargeUpload, countProblems } from "../console/large-upload.ts";
import { visitConsole } from "../console/visit.ts";
import { withService } from "../../tools/service.ts";
import type { Suite } from "../../tools/suite.ts";

export const suite: Suite = {
  summary: "the console in Chromium: accessibility, overflow, errors, uploads in parts",
  async run(options) {
    const { log, screenshots, signal } = options;
    if (screenshots !== null) await mkdir(screenshots, { recursive: true });
    return withBrowser(signal, (browser) =>
      withService(options, async (service) => {
        const checks: StateCheck[] = [];
        const check = async (state: string) => {
          const result = await checkState(browser, state, screenshots);
          checks.push(result);
          log([state, ...problemsOf(result)].join("\n  "));
        };
        await visitConsole(service, browser, check);
        const upload = await checkLargeUpload(service, browser, check);
        const problems = checks.flatMap(problemsOf).length + countProblems(upload);
        log(`${upload.megabytes} MB in parts: ${JSON.stringify(upload)}`);
        return {
          table: checks.map(toRow),
          json: { states: checks.length, problems, upload },
          problems,
        };
      }),
    );
  },
};

function toRow({ state, axe, overflows, errors }: StateCheck) {
  return {
    state,
    "axe-core, serious": axe.length,
    "scrolls sideways at, px": overflows.join(", ") || "–",
    errors: errors.length,
  };
}

function problemsOf({ axe, overflows, errors }: StateCheck): string[] {
  return [
    ...axe,
    ...overflows.map((width) => `scrolls sideways at ${width} px`),
    ...errors.map((error) => `logs: ${error}`),
  ];
}
