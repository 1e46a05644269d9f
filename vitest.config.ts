import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const migrations = await readD1Migrations("./migrations");

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [
          cloudflareTest(({ inject }) => ({
            wrangler: { configPath: "./local/wrangler.toml" },
            verbose: false, // else every refusal of a stand-in is printed as an uncaught exception
            miniflare: {
              bindings: {
                ENGINE_URL: inject("engineUrl"),
                ENGINE_TOKEN: inject("engineToken"),
                PICTURE_EMBEDDINGS_URL: inject("pictureEmbeddingsUrl"),
                PICTURE_EMBEDDINGS_KEY: inject("engineToken"),
                KEY_SECRETS: inject("keySecrets"),
                FETCH_ALLOW: inject("filesHost"),
                TEST_MIGRATIONS: migrations,
              },
            },
          })),
        ],
        test: {
          name: "worker",
          testTimeout: 30_000,
          include: ["test/**/*.test.ts"],
          exclude: ["test/{engine,scripts,unit}/**"],
          globalSetup: ["./test/setup/global.ts"],
          setupFiles: ["./test/migrate.ts"],
          deps: { optimizer: { ssr: { enabled: true, include: ["mediabunny"] } } },
        },
      },
      {
        test: {
          name: "node",
          testTimeout: 30_000,
          include: ["test/{engine,scripts,unit}/**/*.test.ts"],
        },
      },
    ],
  },
});
