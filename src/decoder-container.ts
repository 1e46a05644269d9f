/**
 * The decoder as a container of the deployment. Setup writes it: `npm run setup -- --decoder`. An
 * instance converts two parts at a time, and stores the files that it converts.
 */
export const DECODER_CONTAINER = {
  instances: 4, // unless DECODER_INSTANCES says otherwise
  instanceType: "standard-3", // 2 vCPU, 8 GiB of memory, 16 GB of disk
  port: 8080,
  sleepAfter: "2m",
} as const;

/** Returns the number of containers that `DECODER_INSTANCES` sets. */
export function containerCount(setting: string | undefined): number {
  const count = Math.floor(Number(setting));
  return count >= 1 ? count : DECODER_CONTAINER.instances;
}
