import sharp from "sharp";

const WIDTH = 960;
const HEIGHT = 720;

/** Draws a round wall clock at ten past ten, without letters or digits. JPEG, 960 × 720. */
export function drawClock(): Promise<Buffer> {
  const ticks = Array.from({ length: 60 }, (_, minute) => {
    const hour = minute % 5 === 0;
    return hand(minute * 6, hour ? 180 : 200, 212, hour ? 10 : 3);
  });
  return render(
    `<rect width="960" height="720" fill="#cfc6b6"/>
    <circle cx="490" cy="375" r="245" opacity=".25"/>
    <circle cx="480" cy="360" r="245" fill="#3a2d24"/>
    <circle cx="480" cy="360" r="222" fill="#fbfaf5"/>
    ${ticks.join("")}${hand(305, 0, 122, 16)}${hand(60, 0, 160, 10)}
    <circle cx="480" cy="360" r="14"/>`,
  );
}

/** Draws a kite in a blue sky. JPEG, 960 × 720. */
export function drawKite(): Promise<Buffer> {
  return render(
    `<linearGradient id="sky" x2="0" y2="1">
      <stop offset="0" stop-color="#5b8fd0"/><stop offset="1" stop-color="#cfe3f5"/>
    </linearGradient>
    <rect width="960" height="720" fill="url(#sky)"/>
    <path d="M560 80 L720 260 L520 480 L440 220Z" fill="#e23b3b"/>
    <path d="M560 80 L520 480 L440 220Z" fill="#f4c02e"/>
    <path d="M520 480C480 560 560 600 500 660S480 720 470 720" fill="none"
      stroke="#444" stroke-width="5"/>`,
  );
}

/** Draws a hand or tick of the clock, `degrees` clockwise from twelve. */
function hand(degrees: number, from: number, to: number, width: number): string {
  const transform = `translate(480 360) rotate(${degrees})`;
  const stroke = `stroke="#161616" stroke-width="${width}" stroke-linecap="round"`;
  return `<line transform="${transform}" y1="${-from}" y2="${-to}" ${stroke}/>`;
}

function render(shapes: string): Promise<Buffer> {
  const size = `width="${WIDTH}" height="${HEIGHT}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${shapes}</svg>`;
  return sharp(Buffer.from(svg)).flatten().jpeg({ quality: 90 }).toBuffer();
}
