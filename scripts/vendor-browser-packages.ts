import { copyFileSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Copies packages that pages load in the browser to the static assets: Swagger UI for GET /docs,
 * tus-js-client for the console's large uploads. Run by `npm ci`.
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
    folder: "tus-js-client",
    url: import.meta.resolve("tus-js-client/package.json"),
    files: ["dist/tus.min.js", "LICENSE"],
  },
];

for (const { folder, url, files } of PACKAGES) {
  const target = join(import.meta.dirname, "../console/console", folder);
  mkdirSync(target, { recursive: true });
  for (const file of files) {
    copyFileSync(join(dirname(fileURLToPath(url)), file), join(target, basename(file)));
  }
}
