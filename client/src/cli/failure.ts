import {
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  SightlineError,
  ValidationError,
} from "../index.ts";
import { UsageError } from "./command-arguments.ts";
import { sanitizeLine } from "./sanitize.ts";

/** Exit codes of every command. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  authentication: 4,
  interrupted: 130,
} as const;

/** A key is missing. */
export class NoKeyError extends Error {
  override readonly name = "NoKeyError";
}

/** Something that a command line names isn't there. */
export class MissingError extends Error {
  override readonly name = "MissingError";
}

export interface Failure {
  /** A sentence, and what to do next. */
  message: string;
  exitCode: number;
}

/** Says in one line what went wrong and what to do next. */
export function describeFailure(error: unknown): Failure {
  const text = sanitizeLine(sentenceOf(error));
  const message = [text, nextStep(error), requestNote(error)].filter(Boolean).join(" ");
  return { message, exitCode: exitCodeOf(error) };
}

/** Returns the message, or a sentence of the invalid fields of a request. */
function sentenceOf(error: unknown): string {
  if (error instanceof ValidationError && error.issues.length > 0) {
    const issues = error.issues.map(({ loc, msg }) => {
      return `${loc.slice(1).join(".")}: ${msg}`;
    });
    return issues.join("; ").replace(/\.?$/, ".");
  }
  return error instanceof Error ? error.message : String(error);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof ValidationError) return EXIT.usage;
  if (error instanceof NotFoundError || error instanceof MissingError) return EXIT.notFound;
  const isKey = error instanceof AuthenticationError || error instanceof PermissionError;
  return isKey || error instanceof NoKeyError ? EXIT.authentication : EXIT.failed;
}

function nextStep(error: unknown): string {
  if (error instanceof AuthenticationError) return "Run `sightline login` with another key.";
  if (error instanceof PermissionError) return "Use a key with more scopes.";
  if (error instanceof ConnectionError) return "Is the service running, and is --url right?";
  if (error instanceof RateLimitError && error.retryAfter !== undefined) {
    return `Try again in ${Math.ceil(error.retryAfter)} s.`;
  }
  return error instanceof ServerError ? "Try again later." : "";
}

function requestNote(error: unknown): string {
  const id = error instanceof SightlineError ? error.requestId : undefined;
  return id ? `(request ${sanitizeLine(id)})` : "";
}
