import { expect, test } from "vitest";
import { startPlatform, testDeployment } from "../platform.ts";
import { expectSound, startLoad } from "./load.ts";
import { startProcess } from "./processes.ts";

test("with two processes per role, the second takes over when the first dies under load", async () => {
  const deployment = await testDeployment();
  const looker = await startPlatform({ roles: [], deployment });
  const roles = ["projections", "services", "http"] as const;
  const startAll = () => Promise.all(roles.map((role) => startProcess(role, deployment)));
  const [first, second] = await Promise.all([startAll(), startAll()]);
  const { api_key } = await looker.organization();
  const load = startLoad([first[2]!.url, second[2]!.url], api_key);
  for (const process of first) {
    await load.more(40);
    process.kill();
  }
  await load.more(40);
  const asked = await load.stop();
  const taken = await looker.resources.db.query("select data from log.events where type = 'TurnTakenOver'", []);
  expect(taken.length).toBeGreaterThan(0);
  await expectSound(looker.resources, asked);
});
