import { afterAll } from "vitest";
import { readSettings } from "#infra/config.ts";
import { makeOrganization } from "../cli/organization.ts";
import { roles as allRoles, runRoles, type Role } from "../roles/run.ts";
import { testBus, testDatabase, testFolder, testSearch } from "./harness.ts";

// A hook that is registered within another is not run, so the one that stops the platforms stands here.
const started: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of started.reverse()) await stop();
});

const MASTER_KEY = Buffer.alloc(32, 3).toString("base64");

/** Where a deployment of a test's own keeps its things: several platforms may share one. */
export async function testDeployment() {
  const [{ url: database_url }, bus, folder, search] = [
    await testDatabase(),
    testBus(),
    await testFolder(),
    testSearch(),
  ];
  const addresses = {
    database_url,
    nats_url: bus.url,
    meili_url: search.url,
    meili_master_key: search.master_key,
    master_key: MASTER_KEY,
  };
  return { addresses, prefix: bus.prefix, folder };
}
export type Deployment = Awaited<ReturnType<typeof testDeployment>>;

interface PlatformOptions {
  roles?: readonly Role[];
  deployment?: Deployment;
  env?: Record<string, string>;
}

/** The whole platform, or some of its roles, in this process: on real services, behind a real port. */
export async function startPlatform({ roles = allRoles, deployment, env = {} }: PlatformOptions = {}) {
  const { addresses, prefix, folder } = deployment ?? (await testDeployment());
  const settings = readSettings({
    PORT: "0",
    DATA_DIR: folder,
    BUS_PREFIX: prefix,
    LOG_LEVEL: "silent",
    TURN_SECONDS: "60",
    ...env,
  });
  const running = await runRoles(roles, { settings, addresses });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= running.stop());
  started.push(stop);

  /** A new organization, ready to be used. */
  const organization = async (name = "Test") => {
    const { db, bus, log, keyring } = running.opened;
    return (await makeOrganization({ sender: bus.sender(log), hints: bus.hints, db, keyring }, settings, name))
      .credentials;
  };
  return { url: running.address ?? "", settings, opened: running.opened, organization, stop };
}
