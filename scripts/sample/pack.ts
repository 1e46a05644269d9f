import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeSlides, makeStory } from "./sample-film.ts";
import { makePictures } from "./pictures.ts";

interface SampleFile {
  path: string;
  kind: "video" | "image";
  /** An SRT file. */
  transcript?: string;
  metadata?: Record<string, string | number>;
}

export interface SampleSearch {
  query: string;
  /** Name of the file that must come first. */
  expect: string;
  /** The one kind of evidence that the pack holds for it. */
  why: "spoken" | "written" | "seen";
}

export interface SamplePack {
  files: SampleFile[];
  searches: SampleSearch[];
  questions: string[];
}

const SEARCHES: SampleSearch[] = [
  { query: "glacier", expect: "story.mp4", why: "spoken" },
  { query: "carpenter", expect: "story.mp4", why: "spoken" },
  { query: "lantern", expect: "poster.jpg", why: "written" },
  { query: "sourdough", expect: "receipt.jpg", why: "written" },
  { query: "Saturn", expect: "slides.mp4", why: "written" },
  { query: "boat", expect: "nagasaki.jpg", why: "seen" },
  { query: "clock", expect: "story.mp4", why: "seen" },
];

const QUESTIONS = [
  "Why did the carpenter leave the cabin?",
  "What do the bees come for?",
  "Where is the lantern festival?",
];

/**
 * Films, pictures, and what to look for in them, made in `folder` the first time and reused after.
 * A pack appears there whole or not at all, also when two processes make it at once.
 */
export async function buildSamplePack(folder: string): Promise<SamplePack> {
  const version = await hashSources();
  if (!(await isCurrent(folder, version))) await replaceFolder(folder, version);
  const files: SampleFile[] = JSON.parse(await readFile(join(folder, "files.json"), "utf8"));
  for (const file of files) {
    file.path = join(folder, file.path);
    if (file.transcript) file.transcript = join(folder, file.transcript);
  }
  return { files, searches: SEARCHES, questions: QUESTIONS };
}

async function replaceFolder(folder: string, version: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const partial = await mkdtemp(`${folder}.`);
  try {
    await makeFiles(partial);
    await writeFile(join(partial, "version"), version);
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
  } catch (error) {
    // Someone else may have put the same pack there in the meantime.
    if (!(await isCurrent(folder, version))) throw error;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Paths in `files.json` are relative to the pack. */
async function makeFiles(folder: string): Promise<void> {
  const [pictures] = await Promise.all([
    makePictures(folder),
    makeStory(folder),
    makeSlides(folder),
  ]);
  const files: SampleFile[] = [
    { path: "story.mp4", kind: "video", transcript: "story.srt" },
    { path: "slides.mp4", kind: "video" },
  ];
  for (const { file, metadata } of pictures) {
    files.push({ path: file, kind: "image", ...(metadata && { metadata }) });
  }
  await writeFile(join(folder, "files.json"), JSON.stringify(files));
}

async function isCurrent(folder: string, version: string): Promise<boolean> {
  return (await readFile(join(folder, "version"), "utf8").catch(() => "")) === version;
}

/** Of what the pack is made by, this folder: when it changes, the pack is made anew. */
async function hashSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (await readdir(import.meta.dirname)).sort()) {
    hash.update(await readFile(join(import.meta.dirname, name)));
  }
  return hash.digest("hex");
}
