import { readSettings } from "#infra/config.ts";
import { createOrganization, planOrganization } from "../cli/organization.ts";
import { roles as allRoles, runRoles, type Role } from "../roles/runRoles.ts";
import { atEnd, type Lifetime } from "./cleanUp.ts";
import { testBus, testDatabase, testFolder, testSearch } from "./harness.ts";

const MASTER_KEY = Buffer.alloc(32, 3).toString("base64");

/** The stores of a new deployment, which several platforms may share. */
export async function testDeployment(lifetime: Lifetime = "file") {
  const [{ url: database_url }, bus, folder, search] = [
    await testDatabase("ready", lifetime),
    testBus(lifetime),
    await testFolder(lifetime),
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

/** The environment of a child process on a deployment. */
export const processEnv = ({ addresses, prefix, folder }: Deployment, port: number): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "",
  PORT: String(port),
  DATA_DIR: folder,
  DATABASE_URL: addresses.database_url,
  NATS_URL: addresses.nats_url,
  MEILI_URL: addresses.meili_url,
  MEILI_MASTER_KEY: addresses.meili_master_key,
  MASTER_KEY: addresses.master_key,
  BUS_PREFIX: prefix,
  LOG_LEVEL: "silent",
});

interface PlatformOptions {
  roles?: readonly Role[];
  deployment?: Deployment;
  env?: Record<string, string>;
  lifetime?: Lifetime;
}
export type Platform = Awaited<ReturnType<typeof startPlatform>>;

/** Starts the platform, or some of its roles, in this process, on real servers and with a real port. */
export async function startPlatform({
  roles = allRoles,
  deployment,
  env = {},
  lifetime = "file",
}: PlatformOptions = {}) {
  const { addresses, prefix, folder } = deployment ?? (await testDeployment(lifetime));
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
  atEnd(lifetime, stop);

  /** A new organization, ready to be used. */
  const organization = async (name = "Test") => {
    const { db, bus, log, keyring } = running.resources;
    const plan = planOrganization(settings);
    await createOrganization({ sender: bus.sender(log), hints: bus.hints, db, keyring }, settings, {
      name,
      plan,
      patience_ms: 30_000,
    });
    return plan.credentials;
  };
  const { startCodes } = running;
  return { url: running.address ?? "", startCodes, settings, resources: running.resources, organization, stop };
}
