import { atEnd, type Lifetime } from "./cleanUp.ts";
import { startOpenai } from "./doubles/openai.ts";
import { startSearchProxy } from "./knowledge/searchProxy.ts";
import { startPlatform, testDeployment } from "./platform.ts";
import { openStepSite } from "./workflows/stepSite.ts";

/*
 * The platform that the test files of one worker share, each with organizations of its own: to start one takes as much processor time
 * as a dozen tests, and even an idle one takes 2 % of a core. A file that looks at the whole deployment, or changes all of it, starts
 * its own with `ALONE`.
 */

type Env = Record<string, string>;

/** Settings for a platform that no other file uses. */
export const ALONE: Env = {};

/** A platform whose search server can fail, whose scripts may fetch from a site, and whose `openai/…` models are a double's. */
async function start(env: Env, lifetime: Lifetime) {
  const { addresses, ...rest } = await testDeployment(lifetime);
  const index = await startSearchProxy(addresses.meili_url, lifetime);
  const site = await openStepSite(lifetime);
  const provider = await startOpenai();
  atEnd(lifetime, () => provider.close());
  const deployment = { ...rest, addresses: { ...addresses, meili_url: index.url } };
  const settings = {
    OPENAI_API_KEY: "sk-deployment",
    OPENAI_BASE_URL: provider.url,
    PRIVATE_FETCH_HOSTS: site.host,
    PRIVATE_PROVIDER_HOSTS: new URL(provider.url).host,
    ...env,
  };
  return { platform: await startPlatform({ deployment, env: settings, lifetime }), index, site, provider };
}

let shared: ReturnType<typeof start> | undefined;

/** The platform of the worker, or one with the given settings for this file. */
export async function openPlatform(env?: Env) {
  if (env) return start(env, "file");
  const opened = await (shared ??= start({}, "run"));
  opened.site.clear();
  opened.index.set("open");
  opened.provider.requests.length = 0;
  opened.provider.script(() => undefined);
  // failed logins of earlier files must not throttle the next one
  await opened.platform.resources.db.query("delete from ops.login_attempts");
  return opened;
}
