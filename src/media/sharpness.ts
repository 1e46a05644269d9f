/**
 * How sharp a square grey picture is: the energy of its gradient, in levels² (Pertuz, Puig and Garcia,
 * "Analysis of focus measure operators", 2013). Of pictures of the same thing the sharpest has the most.
 */
export function sharpnessOf(grey: Uint8Array): number {
  const side = Math.sqrt(grey.length);
  let energy = 0;
  for (let y = 0; y + 1 < side; y++) {
    for (let x = 0; x + 1 < side; x++) {
      const at = y * side + x;
      energy += (grey[at + 1]! - grey[at]!) ** 2 + (grey[at + side]! - grey[at]!) ** 2;
    }
  }
  return energy / grey.length;
}
