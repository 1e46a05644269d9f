import { join } from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { clearSettings, shareWork } from "./test/setup/environment.ts";
import { LongestFirst } from "./test/setup/longest-first.ts";
import { filesOf } from "./test/setup/tiers.ts";
import { WATCHDOG_MS } from "./test/support/watchdog.ts";
import { hasChromium } from "./tools/chromium.ts";
import { wasmModule } from "./tools/platform-classes.ts";

clearSettings();
shareWork();

const migrations = await readD1Migrations("./migrations");

/** How long a test waits for something that never comes. Waits end when it comes. */
const WAITS = {
  testTimeout: WATCHDOG_MS,
  hookTimeout: WATCHDOG_MS,
  expect: { poll: { timeout: WATCHDOG_MS } },
};

/** Writes of Vectorize show after up to a second and a half, which in production are minutes. */
const LAG = { VECTORIZE_LAG_MS: "1500", VECTOR_LAG_SECONDS: "2" };

/** What the objects' classes extend, for tests in Node. */
const PLATFORM_CLASSES = join(import.meta.dirname, "tools/platform-classes.ts");

/** Tests in the Worker, on the stand-ins. */
function workerProject(
  name: string,
  files: { include: string[]; exclude: string[] },
  settings: Record<string, string> = {},
): TestProjectConfiguration {
  return {
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
            PLAYBACK_COPIES: "on_request", // a test asks for what it tests
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
            INSTAGRAM_API_URL: [inject("platformsOrigin"), "instagram"].join("/"),
            INSTAGRAM_USER_ID: "1",
            INSTAGRAM_TOKEN: "instagram-token",
            USAGE_WRITE_SECONDS: "0", // a test would wait for it
            TEST_MIGRATIONS: migrations,
            ...settings,
          },
        },
      })),
    ],
    test: {
      name,
      ...WAITS,
      ...files,
      isolate: false, // `setupFiles` begin anew
      globalSetup: ["./test/setup/global.ts"],
      setupFiles: ["./test/support/fresh-state.ts"],
      deps: {
        optimizer: { ssr: { enabled: true, include: ["mediabunny", "@cloudflare/containers"] } },
      },
    },
  };
}

/** `npm test` has the mode `quick`; `npm run test:all` runs everything. */
export default defineConfig(({ mode }) => ({
  test: {
    maxWorkers: 4, // much of a test is waiting
    sequence: { sequencer: LongestFirst },
    projects: [
      workerProject(
        "worker",
        filesOf(mode, "worker", {
          include: ["test/**/*.test.ts"],
          exclude: ["test/{browser,engine,lag,scripts,unit}/**"],
        }),
      ),
      workerProject("lag", filesOf(mode, "lag", { include: ["test/lag/*.test.ts"] }), LAG),
      {
        resolve: { alias: { "cloudflare:workers": PLATFORM_CLASSES } },
        plugins: [
          {
            name: "wasm",
            enforce: "pre",
            load: (path) => (path.endsWith(".wasm") ? wasmModule(path) : null),
          },
        ],
        test: {
          name: "unit",
          ...WAITS,
          isolate: false,
          ...filesOf(mode, "unit", { include: ["test/unit/**/*.test.ts"] }),
          server: { deps: { inline: [/@jsquash/] } }, // imports a WebAssembly module
        },
      },
      {
        test: {
          name: "node",
          ...WAITS,
          isolate: false,
          unstubEnvs: true,
          ...filesOf(mode, "node", { include: ["test/{engine,scripts}/**/*.test.ts"] }),
          globalSetup: hasChromium() ? [] : ["./test/setup/no-browser.ts"],
        },
      },
      // The console in a browser, if there is one: on Linux x64, `npm ci` brings it.
      ...(hasChromium()
        ? [
            {
              test: {
                name: "browser",
                ...WAITS,
                isolate: false,
                ...filesOf(mode, "browser", { include: ["test/browser/*.test.ts"] }),
                globalSetup: ["./test/setup/browser.ts"],
              },
            },
          ]
        : []),
    ],
  },
}));
