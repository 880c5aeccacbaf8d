import { expect, test } from "vitest";
import { startMute } from "../doubles/muteServer.ts";
import { failedChecks, openCommandLine } from "./svc.ts";

test("a NATS server that accepts connections but never answers makes tools fail within seconds and a role after 30 s", async () => {
  const cli = await openCommandLine();
  const mute = await startMute();
  const NATS_URL = `nats://${mute.host}`;
  const next = "check that it runs and that NATS_URL is correct";
  const detail = `NATS at ${mute.host} does not answer`;
  try {
    const role = cli.svcWith({ NATS_URL }, "projections");
    const began = Date.now();
    const ran = await cli.svcWith({ NATS_URL }, "doctor", "--json");
    expect(ran.code).toBe(1);
    expect(failedChecks(ran)).toContainEqual({ check: "NATS", status: "failed", detail, next });
    const listed = await cli.svcWith({ NATS_URL }, "dead", "list");
    expect(listed).toMatchObject({ code: 1, stderr: `${detail}: ${next}.\n` });
    expect(Date.now() - began).toBeLessThan(20_000);
    expect(await role).toMatchObject({ code: 1, stderr: expect.stringContaining("No NATS server answers") });
  } finally {
    mute.close();
  }
});
