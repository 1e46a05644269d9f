import { parentPort } from "node:worker_threads";
import cv from "@techstark/opencv-js";
import type { Box } from "./objects.ts";

/** 8-bit RGB pixels, and where in them the foreground is. */
export interface MaskJob {
  pixels: Uint8Array;
  width: number;
  height: number;
  boxes: Box[];
}

/** More hardly move the border (measured on photos). */
const ITERATIONS = 3;
/** A share of the shorter side. */
const MARGIN = 0.02;
/** Pixels: removes specks and frays, keeps what is wider. */
const SMOOTHED = 5;
/** Less of a box than this is next to nothing. */
const MIN_SHARE = 0.1;
/** What of a box is not its middle, on each side. */
const MIDDLE = 0.3;

/** In pixels; right and bottom are the first ones outside. */
interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

if (!parentPort) throw new Error("This file is a thread of the engine.");
const port = parentPort;
if (!("Mat" in cv)) {
  await new Promise<void>((resolve) => Object.assign(cv, { onRuntimeInitialized: resolve }));
}
port.on("message", (job: MaskJob) => port.postMessage(findForeground(job)));
port.postMessage("ready");

/**
 * A byte a pixel: 255 where the foreground is, else 0. One run for all boxes: what is in none of
 * them is background. Of boxes in which next to nothing was found, the middle is then taken for
 * granted, in a second run. Boxes that leave no background lose a margin to it.
 * GrabCut: Rother, Kolmogorov and Blake, "Interactive foreground extraction using iterated graph
 * cuts", 2004.
 */
function findForeground({ pixels, width, height, boxes }: MaskJob): Uint8Array {
  const areas = boxes.map((box) => toPixels(box, width, height));
  const labels = new Uint8Array(width * height).fill(cv.GC_BGD);
  for (const area of areas) fill(labels, width, area, cv.GC_PR_FGD);
  if (!labels.includes(cv.GC_BGD)) {
    clearMargin(labels, width, height);
    return labels.includes(cv.GC_PR_FGD) ? cut(pixels, labels, width, height) : labels;
  }
  const found = cut(pixels, labels, width, height);
  const missed = areas.filter((area) => shareOf(found, width, area) < MIN_SHARE);
  if (!missed.length) return found;
  for (const area of missed) fill(labels, width, middleOf(area), cv.GC_FGD);
  return cut(pixels, labels, width, height);
}

function cut(pixels: Uint8Array, labels: Uint8Array, width: number, height: number): Uint8Array {
  const picture = cv.matFromArray(height, width, cv.CV_8UC3, addNoise(pixels));
  const mask = cv.matFromArray(height, width, cv.CV_8UC1, labels);
  const [background, foreground] = [new cv.Mat(), new cv.Mat()];
  try {
    cv.setRNGSeed(0);
    const rect = new cv.Rect(0, 0, width, height);
    const mode = cv.GC_INIT_WITH_MASK;
    cv.grabCut(picture, mask, rect, background, foreground, ITERATIONS, mode);
    mask.data.set(Uint8Array.from(mask.data, (label: number) => (label & 1 ? 255 : 0)));
    cv.medianBlur(mask, mask, SMOOTHED);
    return Uint8Array.from(mask.data);
  } catch (error) {
    const why = typeof error === "number" ? cv.exceptionFromPtr(error).msg : error;
    throw new Error(`OpenCV failed: ${String(why)}`, { cause: error });
  } finally {
    for (const each of [picture, mask, background, foreground]) each.delete();
  }
}

/**
 * Among equal pixels the search for the cut takes seconds, or minutes; with noise that nobody sees,
 * milliseconds.
 */
function addNoise(pixels: Uint8Array): Uint8Array {
  let random = 1;
  return pixels.map((value) => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0; // Numerical Recipes' generator
    return Math.min(255, Math.max(0, value + (random >>> 30) - 1));
  });
}

/** Every pixel that a box touches. */
function toPixels([left, top, right, bottom]: Box, width: number, height: number): Area {
  return {
    left: Math.floor(left * width),
    top: Math.floor(top * height),
    right: Math.ceil(right * width),
    bottom: Math.ceil(bottom * height),
  };
}

function middleOf({ left, top, right, bottom }: Area): Area {
  const [x, y] = [(right - left) * MIDDLE, (bottom - top) * MIDDLE].map(Math.floor);
  return { left: left + x!, top: top + y!, right: right - x!, bottom: bottom - y! };
}

function fill(labels: Uint8Array, width: number, area: Area, label: number): void {
  for (let y = area.top; y < area.bottom; y += 1) {
    labels.fill(label, y * width + area.left, y * width + area.right);
  }
}

function shareOf(found: Uint8Array, width: number, area: Area): number {
  let count = 0;
  for (let y = area.top; y < area.bottom; y += 1) {
    const row = found.subarray(y * width + area.left, y * width + area.right);
    for (const value of row) count += value / 255;
  }
  return count / ((area.right - area.left) * (area.bottom - area.top));
}

function clearMargin(labels: Uint8Array, width: number, height: number): void {
  const margin = Math.ceil(Math.min(width, height) * MARGIN);
  fill(labels, width, { left: 0, top: 0, right: width, bottom: margin }, cv.GC_BGD);
  fill(labels, width, { left: 0, top: height - margin, right: width, bottom: height }, cv.GC_BGD);
  fill(labels, width, { left: 0, top: 0, right: margin, bottom: height }, cv.GC_BGD);
  fill(labels, width, { left: width - margin, top: 0, right: width, bottom: height }, cv.GC_BGD);
}
