import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Copies packages that pages load in a browser to the static assets: Swagger UI for GET /docs, and
 * what the client needs for the console. The client's build, which compiles its modules there, runs
 * this.
 */
const PACKAGES = [
  {
    folder: "swagger-ui",
    url: import.meta.resolve("swagger-ui-dist/package.json"),
    files: [
      "swagger-ui-bundle.js",
      "swagger-ui-bundle.js.LICENSE.txt",
      "swagger-ui.css",
      "LICENSE",
      "NOTICE",
    ],
  },
  {
    folder: "eventsource-parser",
    url: import.meta.resolve("eventsource-parser/package.json"),
    files: ["dist/index.js", "dist/parse.js", "dist/errors.js", "LICENSE"],
  },
];
const TARGET = join(import.meta.dirname, "../console/console/packages");

/** Modules of the packages that the client imports by name, which a browser can't resolve. */
const MODULES = { "eventsource-parser": "eventsource-parser/index.js" };

for (const { folder, url, files } of PACKAGES) {
  mkdirSync(join(TARGET, folder), { recursive: true });
  for (const file of files) {
    cpSync(join(dirname(fileURLToPath(url)), file), join(TARGET, folder, basename(file)));
  }
}
for (const file of globSync("sightline/**/*.js", { cwd: TARGET })) {
  const path = join(TARGET, file);
  const folder = dirname(file);
  const text = readFileSync(path, "utf8").replace(/(?<=from ")[a-z][\w-]*(?=")/g, (name) => {
    return relative(folder, MODULES[name as keyof typeof MODULES]);
  });
  writeFileSync(path, text);
}
