import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, of each project. The others run beside them. */
const LONGEST = new Set([
  "test/unit/tools/hostile-text.test.ts",
  "test/unit/tools/hostile-searches.test.ts",
  "test/unit/tools/deployment-calibration.test.ts",
  "test/unit/search/watch-scores.test.ts",
  "test/unit/client/examples.test.ts",
  "test/unit/media/container/moov-slice.test.ts",
  "test/scripts/package.test.ts",
  "test/scripts/rehearse.test.ts",
  "test/scripts/deploy.test.ts",
  "test/scripts/calibrate.test.ts",
  "test/scripts/hostile-service.test.ts",
  "test/scripts/isolate-memory.test.ts",
  "test/scripts/smoke-run.test.ts",
  "test/scripts/deploy-migrations.test.ts",
  "test/scripts/command-line.test.ts",
  "test/engine/speech.test.ts",
  "test/scripts/tutorial.test.ts",
]);

/** Projects in their order. The service of the console's tests starts beside those of Node. */
const PROJECTS = ["node", "lag", "browser", "worker", "unit"];

/** Starts the longest files of a project first, so that none is left alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification) =>
      2 * PROJECTS.indexOf(project.name) +
      (LONGEST.has(relative(project.config.root, moduleId)) ? 0 : 1);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
