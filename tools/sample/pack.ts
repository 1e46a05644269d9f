import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PROJECT } from "../stack/local-state.ts";
import { writeFolderOnce } from "../write-folder.ts";
import { writeSampleImages } from "./images.ts";
import { writeSlides, writeStory } from "./sample-video.ts";

export interface SampleFile {
  path: string;
  kind: "video" | "image";
  /** Path of an SRT file. */
  transcript?: string;
  metadata?: Record<string, string | number>;
}

interface SampleSearch {
  query: string;
  /** Name of the file that must rank first. */
  expectedFile: string;
  /** The only kind of evidence for the query in the pack. */
  evidence: "speech" | "text" | "visual";
}

export interface SamplePack {
  folder: string;
  files: SampleFile[];
  searches: SampleSearch[];
  questions: string[];
}

const SEARCHES: SampleSearch[] = [
  { query: "glacier", expectedFile: "story.mp4", evidence: "speech" },
  { query: "carpenter", expectedFile: "story.mp4", evidence: "speech" },
  { query: "lantern", expectedFile: "poster.jpg", evidence: "text" },
  { query: "sourdough", expectedFile: "receipt.jpg", evidence: "text" },
  { query: "Saturn", expectedFile: "slides.mp4", evidence: "text" },
  { query: "boat", expectedFile: "nagasaki.jpg", evidence: "visual" },
  { query: "clock", expectedFile: "story.mp4", evidence: "visual" },
];

/** Two in other words than what is said, and one that nothing answers. */
const QUESTIONS = [
  "Who constructed the cabin?",
  "Which insects arrive at dawn?",
  "What colour is the cabin?",
];

/**
 * Returns videos, images and searches for them. Writes them to a folder in `parent` the first time,
 * later reuses them.
 */
export async function buildSamplePack(parent = join(PROJECT, ".wrangler")): Promise<SamplePack> {
  const folder = join(parent, `sample-pack-${await hashSources()}`);
  await writeFolderOnce(folder, writePack);
  const files: SampleFile[] = JSON.parse(await readFile(join(folder, "files.json"), "utf8"));
  for (const file of files) {
    file.path = join(folder, file.path);
    if (file.transcript) file.transcript = join(folder, file.transcript);
  }
  return { folder, files, searches: SEARCHES, questions: QUESTIONS };
}

/** Writes the pack; paths in `files.json` are relative to it. */
async function writePack(folder: string): Promise<void> {
  const [images] = await Promise.all([
    writeSampleImages(folder),
    writeStory(folder),
    writeSlides(folder),
  ]);
  const files: SampleFile[] = [
    { path: "story.mp4", kind: "video", transcript: "story.srt" },
    { path: "slides.mp4", kind: "video" },
  ];
  for (const { file, metadata } of images) {
    files.push({ path: file, kind: "image", ...(metadata && { metadata }) });
  }
  await writeFile(join(folder, "files.json"), JSON.stringify(files));
}

/** Hashes the sources in this folder: another pack is written when they change. */
async function hashSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (await readdir(import.meta.dirname)).sort()) {
    hash.update(await readFile(join(import.meta.dirname, name)));
  }
  return hash.digest("hex").slice(0, 16);
}
