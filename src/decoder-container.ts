/**
 * The decoder as a container of the deployment. Setup writes it: `npm run setup -- --decoder`. An
 * instance converts two parts at a time, and stores the files that it converts.
 */
export const DECODER_CONTAINER = {
  instances: 4, // unless DECODER_INSTANCES says otherwise
  /** Least memory for two processors. `standard-3`, with 8 GiB, costs a quarter more. */
  instanceType: { vcpu: 2, memory_mib: 6144, disk_mb: 16_000 },
  port: 8080,
  sleepAfter: "2m",
} as const;

/** Returns the number of containers that `DECODER_INSTANCES` sets. */
export function containerCount(setting: string | undefined): number {
  const count = Math.floor(Number(setting));
  return count >= 1 ? count : DECODER_CONTAINER.instances;
}
