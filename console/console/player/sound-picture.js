import { el, shape } from "../shared/element.js";
import { waveformShape } from "../shared/waveform.js";

/**
 * Renders the waveform of sound above its player: a line shows what is played, and a click seeks
 * there. The player itself is what keyboards and screen readers use.
 */
export function soundPicture({ waveform, seconds }, player, range) {
  const svg = waveformShape({ waveform, seconds }, range);
  const line = shape("line", { y1: 0, y2: 100 });
  svg.append(line);
  const update = () => {
    const x = (player.currentTime / seconds) * waveform.length;
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
  };
  for (const name of ["timeupdate", "seeking", "loadedmetadata"]) {
    player.addEventListener(name, update);
  }
  const onclick = ({ clientX }) => {
    const { left, width } = svg.getBoundingClientRect();
    player.currentTime = ((clientX - left) / width) * seconds;
  };
  return el("div.sound-picture", { onclick }, svg);
}
