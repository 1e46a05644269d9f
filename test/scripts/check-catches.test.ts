import { expect, it } from "vitest";
import { findSilentCatches } from "../../scripts/check-catches.ts";

const find = (text: string) => findSilentCatches(new Map([["src/a.ts", text]]));

it.each([
  "await work().catch(() => undefined);",
  "work().catch(() => {});",
  "const entry = await stat(path).catch((error) => null);",
  "await read(path)\n  .catch(\n    () => [],\n  );",
  "try {\n  work();\n} catch {}",
  "try {\n  work();\n} catch (error) {\n}",
])("an error that is ignored without a name or a reason is reported: %j", (text) => {
  const [problem] = find(text);
  expect(problem).toContain("ignores an error");
});

it.each([
  "work().catch(ignoreUntilAwaited);",
  "work().catch((error) => report(error));",
  "schema.catch(null);",
  "try {\n  work();\n} catch {\n  // `first` is set.\n}",
])("a named or handled error is allowed: %j", (text) => {
  expect(find(text)).toEqual([]);
});
