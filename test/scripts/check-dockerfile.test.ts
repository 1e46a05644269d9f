import { describe, expect, it } from "vitest";
import { findDockerfileProblems } from "../../scripts/check-dockerfile.ts";

describe("findDockerfileProblems", () => {
  const VALID = ["FROM node:24.1.0-slim", "COPY src/ ./", "EXPOSE 8080", "USER node"];
  const find = (lines: string[]) =>
    findDockerfileProblems("Dockerfile", lines.join("\n"), {
      nodeVersion: "24.1.0",
      port: 8080,
      exists: (path) => path === "src/",
    });
  const replaced = (line: number, text: string) => VALID.with(line, text);

  it("allows a pinned image with a user, files that exist and the Worker's port", () => {
    expect(find(VALID)).toEqual([]);
    expect(find(["FROM node:24.1.0-slim AS one", "USER root", ...VALID])).toEqual([]);
  });

  it.each([
    [replaced(0, "FROM node:latest"), "Dockerfile:1 FROM must be node:24.1.0-…"],
    [replaced(0, "FROM node:24.1.01-slim"), "Dockerfile:1 FROM must be node:24.1.0-…"],
    [replaced(1, "COPY lib/ ./"), "Dockerfile:2 The build context has no lib/."],
    [replaced(1, "ADD src/ ./"), "Dockerfile:2 ADD may fetch and unpack"],
    [replaced(1, "ENV ENGINE_TOKEN=secret"), "Dockerfile:2 ENGINE_TOKEN=secret would be"],
    [replaced(1, "COPYY src/ ./"), "Dockerfile:2 Unknown instruction"],
    [replaced(2, "EXPOSE 80"), "Dockerfile:4 The image must EXPOSE 8080"],
    [replaced(2, "WORKDIR /app"), "Dockerfile:4 The image must EXPOSE 8080"],
    [replaced(3, "USER root"), "Dockerfile:4 The last stage runs as root"],
    [replaced(3, "USER 0:0"), "Dockerfile:4 The last stage runs as root"],
    [["FROM node:24.1.0-slim", "USER node", ...VALID.slice(0, 3)], "Dockerfile:5 The last stage"],
  ])("reports in %j: %s", (lines, problem) => {
    expect(find(lines)).toEqual([expect.stringContaining(problem)]);
  });
});
