import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { hasChromium } from "./tools/chromium.ts";

const migrations = await readD1Migrations("./migrations");

/** Tests of the console in a browser, if there is one: on Linux x64, `npm ci` brings it. */
const browserTests = {
  test: {
    name: "browser",
    testTimeout: 120_000, // a search by a file takes half a minute on a busy machine
    hookTimeout: 60_000,
    expect: { poll: { timeout: 40_000 } },
    include: ["test/browser/*.test.ts"],
    globalSetup: ["./test/setup/browser.ts"],
  },
};

export default defineConfig({
  test: {
    maxWorkers: 3, // much of a test is waiting
    projects: [
      {
        plugins: [
          cloudflareTest(({ inject }) => ({
            wrangler: { configPath: "./local/wrangler.toml" },
            verbose: false, // else every refusal of a stand-in is printed as an uncaught exception
            miniflare: {
              ratelimits: {
                THREE_A_MINUTE: { namespace_id: "1003", simple: { limit: 3, period: 60 } },
              },
              bindings: {
                ENGINE_URL: inject("engineUrl"),
                ENGINE_TOKEN: inject("engineToken"),
                IMAGE_EMBEDDINGS_URL: inject("imageEmbeddingsUrl"),
                IMAGE_EMBEDDINGS_KEY: inject("engineToken"),
                DECODER_URL: inject("engineUrl"),
                DECODER_KEY: inject("engineToken"),
                KEY_SECRETS: inject("keySecrets"),
                FETCH_ALLOW: [
                  inject("filesHost"),
                  inject("webhooksHost"),
                  inject("malformedHost"),
                  inject("platformHosts"),
                ].join(","),
                PEERTUBE_URL: inject("platformsOrigin"),
                YOUTUBE_API_URL: [inject("platformsOrigin"), "youtube"].join("/"),
                YOUTUBE_API_KEY: "youtube-key",
                COBALT_URL: [inject("platformsOrigin"), "cobalt/"].join("/"),
                COBALT_KEY: "cobalt-key",
                FLICKR_API_URL: [inject("platformsOrigin"), "flickr"].join("/"),
                FLICKR_API_KEY: "flickr-key",
                INSTAGRAM_API_URL: [inject("platformsOrigin"), "instagram"].join("/"),
                INSTAGRAM_USER_ID: "1",
                INSTAGRAM_TOKEN: "instagram-token",
                USAGE_WRITE_SECONDS: "0", // a test would wait for it
                TEST_MIGRATIONS: migrations,
              },
            },
          })),
        ],
        test: {
          name: "worker",
          testTimeout: 30_000,
          include: ["test/**/*.test.ts"],
          exclude: ["test/{browser,engine,scripts,unit}/**"],
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
          globalSetup: hasChromium() ? [] : ["./test/setup/no-browser.ts"],
        },
      },
      ...(hasChromium() ? [browserTests] : []),
    ],
  },
});
