import { atEnd, type Lifetime } from "./cleanUp.ts";
import { startOpenai } from "./doubles/openai.ts";
import { startSearchProxy } from "./knowledge/searchProxy.ts";
import { startPlatform, testDeployment, type Platform } from "./platform.ts";
import { openStepSite } from "./workflows/stepSite.ts";

/*
 * Platforms that the test files of one worker share, each with organizations of its own: to start one takes as much processor time as
 * a dozen tests. A file that looks at the whole deployment, or changes all of it, starts its own with `ALONE`.
 */

type Env = Record<string, string>;

/** Settings for a platform that no other file uses. */
export const ALONE: Env = {};

/** A platform whose search server can fail, and whose scripts may fetch from a site. */
async function startCommon(env: Env, lifetime: Lifetime) {
  const { addresses, ...rest } = await testDeployment(lifetime);
  const index = await startSearchProxy(addresses.meili_url, lifetime);
  const site = await openStepSite(lifetime);
  const deployment = { ...rest, addresses: { ...addresses, meili_url: index.url } };
  const platform = await startPlatform({ deployment, env: { PRIVATE_FETCH_HOSTS: site.host, ...env }, lifetime });
  return { platform, index, site };
}

/** A platform whose `openai/…` models are a double's. */
async function startWithProvider(env: Env, lifetime: Lifetime) {
  const provider = await startOpenai();
  atEnd(lifetime, () => provider.close());
  const settings = {
    OPENAI_API_KEY: "sk-deployment",
    OPENAI_BASE_URL: provider.url,
    PRIVATE_PROVIDER_HOSTS: "127.0.0.1",
    ...env,
  };
  return { provider, platform: await startPlatform({ env: settings, lifetime }) };
}

/** Failed logins of earlier files must not throttle the next one. */
const forgetLogins = ({ resources }: Platform) => resources.db.query("delete from ops.login_attempts");

let common: ReturnType<typeof startCommon> | undefined;
let withProvider: ReturnType<typeof startWithProvider> | undefined;

/** The platform of `startCommon`: the worker's, or one with the given settings for this file. */
export async function openCommonPlatform(env?: Env) {
  if (env) return startCommon(env, "file");
  const opened = await (common ??= startCommon({}, "run"));
  opened.site.clear();
  opened.index.set("open");
  await forgetLogins(opened.platform);
  return opened;
}

/** The platform of `startWithProvider`: the worker's, or one with the given settings for this file. */
export async function openPlatformWithProvider(env?: Env) {
  if (env) return startWithProvider(env, "file");
  const opened = await (withProvider ??= startWithProvider({}, "run"));
  opened.provider.requests.length = 0;
  opened.provider.script(() => undefined);
  await forgetLogins(opened.platform);
  return opened;
}
