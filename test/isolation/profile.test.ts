import { expect, test } from "vitest";
import { nameSlowest } from "./profile.ts";

const frame = (functionName: string) => ({
  functionName,
  scriptId: "1",
  url: new URL("../../http/a.ts", import.meta.url).href,
  lineNumber: 4,
  columnNumber: 0,
});
/** A callback with 60 ms of processor time, and samples of one function at these distances (microseconds). */
const callback = (timeDeltas: number[]) =>
  nameSlowest(
    { kind: "TCPWRAP", user_ms: 60, system_ms: 0, from_us: 1_000, to_us: 1_000_000 },
    {
      nodes: [{ id: 1, callFrame: frame("count") }],
      startTime: 0,
      endTime: 1_000_000,
      samples: timeDeltas.map(() => 1),
      timeDeltas,
    },
  );

test("a callback with samples over its whole time costs its processor time", () => {
  expect(callback(Array.from({ length: 80 }, () => 1_000))).toMatchObject({
    own_ms: 60,
    places: ["100 % count http/a.ts:5"],
  });
});

test("a pause of the machine during a callback does not count as the callback's cost", () => {
  expect(callback([1_500, 58_000, 1_000]).own_ms).toBe(12);
});

test("another process that used the processor for a while changes nothing", () => {
  expect(callback([...Array.from({ length: 70 }, () => 1_000), 200_000]).own_ms).toBe(60);
});
