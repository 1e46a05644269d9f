import { describe, expect, it } from "vitest";
import { findZone, parseTime, parseZone } from "../../../../src/media/exif/capture-facts.ts";

describe("a time as files write it", () => {
  it.each<[string, string | null, number | null]>([
    ["2024:06:01 12:30:00", "2024-06-01T12:30:00.000Z", null],
    ["2024-06-01T12:30:00", "2024-06-01T12:30:00.000Z", null],
    ["2024-06-01T12:30Z", "2024-06-01T12:30:00.000Z", 0],
    ["2024-06-01T12:30-05:00", "2024-06-01T12:30:00.000Z", -300],
    ["2024:06:01 12:30:00.25+05:45", "2024-06-01T12:30:00.250Z", 345],
    ["2024:06:01 12:30:00,123456-0330", "2024-06-01T12:30:00.123Z", -210],
    ["20240601T123000+0200", "2024-06-01T12:30:00.000Z", 120],
    ["2024-06-01T12-30-00", "2024-06-01T12:30:00.000Z", null],
    ["1700:01:01 00:00:00", null, null],
    ["2024:02:31 12:30:00", null, null],
    ["2024:06:01 25:00:00", null, null],
    ["    :  :     :  :  ", null, null],
    ["1950", null, null],
  ])("%s is %s", (text, local, zone) => {
    const time = parseTime(text);
    expect(time && new Date(time.localMs).toISOString()).toBe(local);
    expect(time?.zone ?? null).toBe(zone);
  });

  it("may be a day", () => {
    expect(parseTime("2024:06:01")).toMatchObject({ isDay: true });
    expect(parseTime("2024:06:01 00:00:00")).toMatchObject({ isDay: false });
  });

  it.each([
    ["+02:00", 120],
    ["-0930", -570],
    ["+2", 120],
    ["Z", 0],
    ["+99:00", null],
    ["CEST", null],
    ["", null],
  ])("has the zone %j of %s minutes", (text, minutes) => {
    expect(parseZone(text)).toBe(minutes);
  });

  it.each([
    ["to the second", 120, 120],
    ["20 minutes after the last signal", 140, 120],
    ["two seconds before it", 119.97, 120],
    ["in Nepal", 345, 345],
    ["at the date line", 840, 840],
    ["a day after it", 1500, null],
  ])("has a zone by the time of satellites: %s", (_, minutes, zone) => {
    expect(findZone(minutes * 60_000, 0)).toBe(zone);
  });
});
