import { expect, onTestFinished, test } from "vitest";
import { startProcess } from "../faults/processes.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { SOON } from "../workflows/tenant.ts";
import { belongings, openTwoTenants } from "./tenants.ts";

/* A rolling update: a services process that does not know the kinds of an erasure runs beside a newer one. */

const UNKNOWN_TO_OLD = "EraseOwner";

test("a process of an older release leaves an erasure of selected kinds to a process of the newer release", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment, roles: ["http", "projections"] });
  await startProcess("services", deployment);
  const { home } = await openTwoTenants(platform);
  const { say, upload } = belongings(home);
  const taken: string[] = [];
  const old = await platform.resources.bus.source().consume(async ({ type, stream }) => {
    if (stream.startsWith("erasure-")) taken.push(type);
    // it would start StartErasure without the kinds
    throw new Error(type === UNKNOWN_TO_OLD ? `no erasure understands ${type}` : `${type} is for the other process`);
  });
  onTestFinished(() => old.stop());
  for (let n = 0; n < 10 && !taken.includes(UNKNOWN_TO_OLD); n++) {
    const user = `user-${n}`;
    await say(home.key, "Stays", { user });
    await upload(home.key, "Goes", user);
    const { id } = await home.made(home.owner("POST", "/erasures", { owner: `user:${user}`, kinds: ["files"] }));
    const read = () => home.made(home.owner("GET", `/erasures/${id}`));
    await expect.poll(read, SOON).toMatchObject({ status: "completed", files_deleted: 1, threads_deleted: 0 });
  }
  expect(new Set(taken.filter((type) => /Start|Erase/.test(type)))).toEqual(new Set([UNKNOWN_TO_OLD]));
});
