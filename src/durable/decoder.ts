import { Container } from "@cloudflare/containers";
import { DECODER_CONTAINER } from "../decoder-container.ts";
import { traceOf } from "../errors.ts";
import { log } from "../log.ts";

/**
 * One container of the decoder, which starts with its first request. It reaches nothing outside,
 * and only the Worker reaches it, so that it needs no key.
 */
export class Decoder extends Container {
  override defaultPort = DECODER_CONTAINER.port;
  override sleepAfter = DECODER_CONTAINER.sleepAfter;
  override enableInternet = false;
  override envVars = {
    ENGINE_HOST: "0.0.0.0",
    ENGINE_PORT: String(DECODER_CONTAINER.port),
    ENGINE_OPEN: "true",
  };

  /** Gets what ended the container, or kept it from starting. Requests fail, and are sent again. */
  override onError(error: unknown): never {
    const [, code] = /\bcode: (\d+)/.exec(String(error)) ?? [];
    const exitCode = code === undefined ? null : Number(code);
    log("error", "decoder.container_failed", { exit_code: exitCode, cause: traceOf(error) });
    throw error;
  }
}
