import { parentPort } from "node:worker_threads";
import cv from "@techstark/opencv-js";
import type { Box } from "./objects.ts";

/** 8-bit RGB pixels and the boxes to segment. */
export interface MaskJob {
  pixels: Uint8Array;
  width: number;
  height: number;
  boxes: Box[];
}

/** GrabCut iterations; more barely move the border (measured on photos). */
const ITERATIONS = 3;
/** Share of the shorter side. */
const MARGIN = 0.02;
/** Aperture of the median filter in pixels, which removes specks. */
const MEDIAN_APERTURE = 5;
/** Share of a box below which its foreground counts as missed. */
const MIN_FOUND_SHARE = 0.1;
/** Share of a box cut off on each side to get its centre. */
const CENTER_INSET = 0.3;

/** A rectangle in pixels; right and bottom are exclusive. */
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
 * Segments the foreground: one byte per pixel, 255 for foreground, else 0. One run covers all
 * boxes; pixels outside every box are background. Boxes in which almost nothing was found get a
 * second run in which their centres are set to foreground. If the boxes cover the whole image, its
 * margin is set to background.
 *
 * GrabCut: Rother, Kolmogorov and Blake, "Interactive foreground extraction using iterated graph
 * cuts", 2004.
 */
function findForeground({ pixels, width, height, boxes }: MaskJob): Uint8Array {
  const areas = boxes.map((box) => toPixels(box, width, height));
  const labels = new Uint8Array(width * height).fill(cv.GC_BGD);
  for (const area of areas) fill(labels, width, area, cv.GC_PR_FGD);
  if (!labels.includes(cv.GC_BGD)) {
    clearMargin(labels, width, height);
    return labels.includes(cv.GC_PR_FGD) ? runGrabCut(pixels, labels, width, height) : labels;
  }
  const mask = runGrabCut(pixels, labels, width, height);
  const missed = areas.filter((area) => shareOf(mask, width, area) < MIN_FOUND_SHARE);
  if (!missed.length) return mask;
  for (const area of missed) fill(labels, width, centerOf(area), cv.GC_FGD);
  return runGrabCut(pixels, labels, width, height);
}

function runGrabCut(
  pixels: Uint8Array,
  labels: Uint8Array,
  width: number,
  height: number,
): Uint8Array {
  const image = cv.matFromArray(height, width, cv.CV_8UC3, addNoise(pixels));
  const mask = cv.matFromArray(height, width, cv.CV_8UC1, labels);
  const [background, foreground] = [new cv.Mat(), new cv.Mat()];
  try {
    cv.setRNGSeed(0);
    const rect = new cv.Rect(0, 0, width, height);
    const mode = cv.GC_INIT_WITH_MASK;
    cv.grabCut(image, mask, rect, background, foreground, ITERATIONS, mode);
    mask.data.set(Uint8Array.from(mask.data, (label: number) => (label & 1 ? 255 : 0)));
    cv.medianBlur(mask, mask, MEDIAN_APERTURE);
    return Uint8Array.from(mask.data);
  } catch (error) {
    const reason = typeof error === "number" ? cv.exceptionFromPtr(error).msg : error;
    throw new Error(`OpenCV failed: ${String(reason)}`, { cause: error });
  } finally {
    for (const mat of [image, mask, background, foreground]) mat.delete();
  }
}

/**
 * Adds invisible noise. Among equal pixels the minimum cut takes seconds or minutes to find, with
 * noise milliseconds.
 */
function addNoise(pixels: Uint8Array): Uint8Array {
  let random = 1;
  return pixels.map((value) => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0; // Numerical Recipes' generator
    return Math.min(255, Math.max(0, value + (random >>> 30) - 1));
  });
}

/** Returns the pixels that a box touches. */
function toPixels([left, top, right, bottom]: Box, width: number, height: number): Area {
  return {
    left: Math.floor(left * width),
    top: Math.floor(top * height),
    right: Math.ceil(right * width),
    bottom: Math.ceil(bottom * height),
  };
}

function centerOf({ left, top, right, bottom }: Area): Area {
  const [x, y] = [(right - left) * CENTER_INSET, (bottom - top) * CENTER_INSET].map(Math.floor);
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
