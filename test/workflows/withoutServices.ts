import { startProcess } from "../faults/processes.ts";
import { startPlatform, testDeployment, type Deployment, type Platform } from "../platform.ts";
import { openTenant, type Tenant } from "./harness.ts";

export interface WithoutServices {
  deployment: Deployment;
  platform: Platform;
  home: Tenant;
  /** The number of events of a type in the log. */
  count(type: string): Promise<number>;
}

/** A platform without a `services` process, for tests that start and kill them; `prepare` runs while there is one. */
export async function startWithoutServices(prepare: (home: Tenant) => Promise<void>): Promise<WithoutServices> {
  const deployment = await testDeployment();
  const platform = await startPlatform({ roles: ["http", "projections"], deployment });
  const first = await startProcess("services", deployment);
  const home = await openTenant(platform.url, await platform.organization("Home"));
  await prepare(home);
  first.kill();
  await first.ended;
  const count = async (type: string): Promise<number> => {
    const sql = "select count(*)::integer as n from log.events where type = $1";
    return (await platform.resources.db.query<{ n: number }>(sql, [type]))[0]!.n;
  };
  return { deployment, platform, home, count };
}
