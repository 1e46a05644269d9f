import type { ReliabilityBin } from "../tools/reliability.ts";

const SIDE = 320;
const MARGIN = 48;
const MAX_RADIUS = 14;

/**
 * Draws a reliability diagram as SVG: predicted probability on the x axis, observed share on the y
 * axis. The radius of a circle grows with the logarithm of its forecast count.
 */
export function drawReliability(bins: readonly ReliabilityBin[]): string {
  const x = (share: number) => round(MARGIN + share * SIDE);
  const y = (share: number) => round(MARGIN / 2 + (1 - share) * SIDE);
  const maxLogCount = Math.max(...bins.map(({ count }) => Math.log(count + 1)));
  const size = MARGIN * 1.5 + SIDE;
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const line = bins.map(({ predicted, observed }) => `${x(predicted)},${y(observed)}`);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" ` +
      `font-family="sans-serif" font-size="11">`,
    `<rect width="${size}" height="${size}" fill="#fff"/>`,
    ...ticks.flatMap((tick) => [
      `<path d="M${x(tick)} ${y(0)}V${y(1)}M${x(0)} ${y(tick)}H${x(1)}" stroke="#ddd"/>`,
      `<text x="${x(tick)}" y="${y(0) + 16}" text-anchor="middle">${tick}</text>`,
      `<text x="${x(0) - 6}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
    ]),
    `<path d="M${x(0)} ${y(0)}L${x(1)} ${y(1)}" stroke="#888" stroke-dasharray="4 3"/>`,
    `<polyline points="${line.join(" ")}" fill="none" stroke="#23395b"/>`,
    ...bins.map(({ count, predicted, observed }) => {
      const radius = round(2 + (MAX_RADIUS * Math.log(count + 1)) / maxLogCount / 2);
      const title = `<title>${count} hits, predicted ${predicted}, relevant ${observed}</title>`;
      const centre = `cx="${x(predicted)}" cy="${y(observed)}"`;
      return `<circle ${centre} r="${radius}" fill="#23395b">${title}</circle>`;
    }),
    `<text x="${x(0.5)}" y="${y(0) + 34}" text-anchor="middle">score</text>`,
    `<text transform="translate(14 ${y(0.5)}) rotate(-90)" text-anchor="middle">` +
      "share of relevant hits</text>",
    "</svg>",
  ];
  return `${lines.join("\n")}\n`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
