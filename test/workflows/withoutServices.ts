import { onTestFinished } from "vitest";
import { countEvents } from "../countEvents.ts";
import { startProcess } from "../faults/processes.ts";
import { startPlatform, testDeployment, type Deployment, type Platform } from "../platform.ts";
import { openTenant, type Tenant } from "./harness.ts";

interface WithoutServices<T> {
  deployment: Deployment;
  platform: Platform;
  home: Tenant;
  /** What `prepare` returned. */
  prepared: T;
  /** The number of events of a type in the log. */
  count(type: string): Promise<number>;
  /** Does the work with a process that dies at a point, and then with another one, which ends with the test. */
  replaceAt<R>(point: string, work: () => Promise<R>): Promise<R>;
}

/** A platform without a `services` process, for tests that start and kill them; `prepare` runs while there is one. */
export async function startWithoutServices<T>(prepare: (home: Tenant) => Promise<T>): Promise<WithoutServices<T>> {
  const deployment = await testDeployment();
  const platform = await startPlatform({ roles: ["http", "projections"], deployment });
  const first = await startProcess("services", deployment);
  const home = await openTenant(platform.url, await platform.organization("Home"));
  const prepared = await prepare(home);
  first.kill();
  await first.ended;
  const count = (type: string) => countEvents(platform.resources.db, type);
  async function replaceAt<R>(point: string, work: () => Promise<R>): Promise<R> {
    const dying = await startProcess("services", deployment, { FAIL_AT: point });
    onTestFinished(() => void dying.kill());
    const working = work();
    await dying.ended;
    const next = await startProcess("services", deployment);
    onTestFinished(async () => {
      next.kill();
      await next.ended;
    });
    return working;
  }
  return { deployment, platform, home, prepared, count, replaceAt };
}
