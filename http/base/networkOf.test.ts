import { expect, test } from "vitest";
import { networkOf } from "./networkOf.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["192.0.2.1:50000", "192.0.2.1"],
  ["::ffff:192.0.2.1", "::ffff:192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["[2001:db8::1]:50000", "2001:db8:0:0"],
  ["[2001:db8::1]", "2001:db8:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["unknown", "unknown"],
])("the client %s counts as %s, whatever its port", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
